"""Lane: a thread that takes batches to one worker, one after the other."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

from llm_sandbox.evaluation.engines.base import WorkerLostError

__all__ = ["Lane"]


class Lane:
    """Thread that takes batches to one worker, whose calls block, one after the other.

    Args:
        name: Name of the worker.
        call: Takes a batch there and returns the answer; an exception means that the worker is
            lost, and ends the lane.
    """

    def __init__(self, name: str, call: Callable[[bytes], bytes]) -> None:
        self.name = name
        """Name of the worker."""
        self._call = call
        self._batches: SimpleQueue[tuple[bytes, Future[bytes]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_open = True
        self._thread = threading.Thread(target=self._run, name=f"llm-sandbox {name}", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether the worker is there, as far as is known."""
        return self._is_open

    def submit(self, batch: bytes) -> Future[bytes]:
        """Return the answer to a batch; an error if the worker is lost before that."""
        future: Future[bytes] = Future()
        with self._lock:
            if self._is_open:
                self._batches.put((batch, future))
                return future
        future.set_exception(WorkerLostError(f"worker {self.name} is gone"))
        return future

    def _run(self) -> None:
        while (item := self._batches.get()) is not None:
            batch, answer = item
            if not answer.set_running_or_notify_cancel():
                continue
            if not self._is_open:
                answer.set_exception(WorkerLostError(f"worker {self.name} is gone"))
                continue
            try:
                answer.set_result(self._call(batch))
            except BaseException as error:  # noqa: BLE001 - raised by who waits for the answer
                self.close()
                answer.set_exception(error)

    def close(self) -> None:
        """Take no more batches; those that wait fail. No effect if repeated."""
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._batches.put(None)

    def join(self, timeout: float) -> None:
        """Wait for the end of the thread.

        Args:
            timeout: Seconds to wait.
        """
        self._thread.join(timeout)
