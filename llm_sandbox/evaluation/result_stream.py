"""Stream of results of samples that are evaluated in threads."""

import threading
from collections.abc import Callable, Iterator
from queue import Empty, Queue
from typing import Any

from llm_sandbox.evaluation.results import SampleResult

__all__ = ["ResultStream"]

_AHEAD = 4
_PAUSE_S = 0.1


class ResultStream:
    """Threads that evaluate samples, and what they have done.

    At most a few samples are taken ahead of the results that were consumed.

    Args:
        samples: The samples.
        run: Evaluates one sample.
        workers: Number of threads.
        ordered: Whether results come in the order of samples.
    """

    def __init__(
        self,
        samples: Iterator[Any],
        run: Callable[[Any], SampleResult],
        workers: int,
        *,
        ordered: bool,
    ) -> None:
        self._samples = enumerate(samples)
        self._run = run
        self._is_ordered = ordered
        self._taking = threading.Lock()
        self._window = threading.Semaphore(_AHEAD * workers)
        self._done: Queue[tuple[int, SampleResult | BaseException | None]] = Queue()
        self._is_stopped = threading.Event()
        self._running, self._following = workers, 0
        self._waiting: dict[int, SampleResult] = {}
        self._threads = [
            threading.Thread(target=self._work, name="llm-sandbox-evaluate", daemon=True)
            for _ in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while not self._is_stopped.is_set():
            if not self._window.acquire(timeout=_PAUSE_S):
                continue
            try:
                with self._taking:
                    index, sample = next(self._samples)
            except StopIteration:
                break
            except BaseException as error:  # noqa: BLE001 - raised by the consumer
                self._done.put((-1, error))
                break
            try:
                self._done.put((index, self._run(sample)))
            except BaseException as error:  # noqa: BLE001 - raised by the consumer
                self._done.put((index, error))
                break
        self._done.put((-1, None))

    def next(self, timeout_s: float | None = None) -> SampleResult | None:
        """Return the next result; None after the last.

        Args:
            timeout_s: Seconds to wait; None without an end.

        Raises:
            TimeoutError: There is none yet.
            BaseException: What a sample or the iterator of samples raised.
        """
        while True:
            if self._following in self._waiting:
                result = self._waiting.pop(self._following)
                self._following += 1
                self._window.release()
                return result
            if not self._running:
                return None
            try:
                index, found = self._done.get(timeout=timeout_s)
            except Empty:
                raise TimeoutError from None
            if found is None:
                self._running -= 1
            elif isinstance(found, BaseException):
                raise found
            elif self._is_ordered:
                self._waiting[index] = found
            else:
                self._window.release()
                return found

    def stop(self) -> None:
        """End the threads, each after the sample that it evaluates."""
        self._is_stopped.set()
        for thread in self._threads:
            thread.join()
