"""Distribution of samples among the workers of an engine."""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias

from llm_sandbox.evaluation.breaker import Breaker, EvaluationStoppedError
from llm_sandbox.evaluation.engines.flights import MOST_IN_FLIGHT, Flight, Flights
from llm_sandbox.evaluation.engines.messages import write_sample
from llm_sandbox.evaluation.engines.tested_workers import TestedWorkers
from llm_sandbox.evaluation.engines.travelling_sample import TravellingSample
from llm_sandbox.evaluation.preparation import Prepared
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import ValidationError

__all__ = ["distribute"]

_POLL_S = 0.25
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 10.0
_AHEAD = 4096
_BATCH_S = 0.5
_LEAST_BATCH, _MOST_BATCH = 8, 64
_LATEST_WEIGHT = 0.5

_Found: TypeAlias = tuple[TravellingSample, SampleResult]


def distribute(
    samples: Iterable[Prepared],
    workers: TestedWorkers,
    *,
    ordered: bool = False,
    retries: int = 3,
    batch_timeout: float | None = None,
) -> Iterator[SampleResult]:
    """Evaluate samples on workers, and yield results as they come, each once.

    A worker has at most two batches at a time, and samples are taken from their iterator only as
    workers can have them. The samples of a worker that is lost, or does not answer, go one by one
    to workers that did not fail with them. Closing the iterator stops the evaluation.

    Args:
        samples: The samples.
        workers: The workers, which stay open.
        ordered: Whether results come in the order of samples.
        retries: Number of further workers for a sample whose worker or sandbox failed; after that
            its verdict is ``IE``. A failure of the program is never repeated.
        batch_timeout: Seconds after which a worker with a batch is taken to hang; None for what the
            limits of the samples allow, and five minutes more.

    Raises:
        BackendUnavailableError: No worker is left.
        EvaluationStoppedError: Workers and sandboxes fail too often.
        ValidationError: A sample is not valid, or cannot be sent to another process.
    """
    run = _Distribution(samples, workers, retries, batch_timeout, _AHEAD if ordered else None)
    if not ordered:
        yield from (result for _, result in run.results())
        return
    waiting: dict[int, SampleResult] = {}
    following = 0
    for index, result in run.results():
        waiting[index] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1
            run.finished = following


class _Distribution:
    def __init__(
        self,
        samples: Iterable[Prepared],
        workers: TestedWorkers,
        retries: int,
        batch_timeout: float | None,
        ahead: int | None,
    ) -> None:
        self._samples = enumerate(samples)
        self._workers = workers
        self._retries = retries
        self._flights = Flights(workers, batch_timeout)
        self._ahead = ahead
        self.finished = 0
        """Number of results that the consumer of an ordered run has had."""
        self._taken = 0
        self._again: deque[TravellingSample] = deque()
        self._sizes = _BatchSizes()
        self._breaker = Breaker()
        self._failures: Counter[str] = Counter()
        self._paused: dict[str, float] = {}
        self._is_exhausted = False

    def results(self) -> Iterator[tuple[int, SampleResult]]:
        try:
            yield from self._results()
        finally:
            self._flights.cancel()

    def _results(self) -> Iterator[tuple[int, SampleResult]]:
        while True:
            self._fill()
            if self._flights:
                for flight in self._flights.landed(_POLL_S):
                    yield from self._noted(self._land(flight))
                for flight in self._flights.expired():
                    error = f"worker {flight.worker} did not answer"
                    yield from self._noted(self._fail(flight, error))
            elif self._is_exhausted and not self._again:
                return
            else:
                self._workers.require()
                time.sleep(_POLL_S)

    def _noted(self, found: Iterable[_Found]) -> Iterator[tuple[int, SampleResult]]:
        for sample, result in found:
            yield sample.index, result
            if result.attempts:  # otherwise its task was left out, and nothing has failed
                self._breaker.note(result.verdict is Verdict.INFRA_ERROR, result.error)

    # --- to the workers

    def _fill(self) -> None:
        usable = self._workers.update()
        now = time.monotonic()
        ready = [name for name in usable if self._paused.get(name, 0.0) <= now]
        busy = self._flights.busy()
        for level in range(MOST_IN_FLIGHT):
            for worker in ready:
                if busy[worker] == level and (batch := self._take(worker, usable, level == 0)):
                    busy[worker] += self._flights.send(worker, batch).weight

    def _take(self, worker: str, usable: list[str], is_idle: bool) -> list[TravellingSample]:
        if self._again and not is_idle:
            return []  # so that the worker becomes idle
        for sample in self._again:
            if worker not in sample.avoided or sample.avoided.issuperset(usable):
                self._again.remove(sample)
                # Alone, so that a sample that ends its worker takes no other one with it.
                return [sample]
        size = self._sizes.next(worker, self._workers.parallel(worker))
        if self._ahead is not None:
            size = min(size, self.finished + self._ahead - self._taken)
        if self._is_exhausted or size <= 0:
            return []
        batch = [
            TravellingSample(index, prepared, write_sample(prepared.sample))
            for index, prepared in islice(self._samples, size)
        ]
        self._is_exhausted = len(batch) < size
        self._taken += len(batch)
        return batch

    # --- back from them

    def _land(self, flight: Flight) -> Iterator[_Found]:
        try:
            results, time_s = flight.read()
        except ValidationError:
            raise
        except EvaluationStoppedError as error:
            # The breaker of that worker: its machine is broken, and others may not be.
            self._workers.leave_out(flight.worker, error.message)
            yield from self._fail(flight, error.message)
            self._workers.require()
            return
        except Exception as error:  # noqa: BLE001 - engines have exceptions of their own
            yield from self._fail(flight, f"worker {flight.worker} was lost: {_words(error)}")
            return
        self._failures.pop(flight.worker, None)
        self._sizes.note(flight.worker, len(results), time_s)
        others = any(name != flight.worker for name in self._workers.update())
        for sample, result in zip(flight.samples, results, strict=True):
            is_infra = result.verdict is Verdict.INFRA_ERROR and result.attempts > 0
            if is_infra and others and sample.lost < self._retries:
                sample.fail(flight.worker, result.error, result.attempts)
                self._again.append(sample)
            else:
                yield sample, sample.result(result)

    def _fail(self, flight: Flight, error: str) -> Iterator[_Found]:
        self._failures[flight.worker] += 1
        pause = _FIRST_PAUSE_S * 2 ** min(self._failures[flight.worker], 10)
        self._paused[flight.worker] = time.monotonic() + min(pause, _LONGEST_PAUSE_S)
        for sample in flight.samples:
            sample.fail(flight.worker, error)
            if sample.lost > self._retries:
                yield sample, sample.failure(flight.worker, self._workers.name)
            else:
                self._again.append(sample)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]


class _BatchSizes:
    """Sizes of the next batches: about half a second of work, from 8 to 64 samples.

    The first batch of a worker has one sample for each test that it runs at the same time, since
    nothing is known then. A worker with more than four cores has more than 8, so that none idles.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def next(self, worker: str, parallel: int) -> int:
        """Return the size of a worker's next batch.

        Args:
            worker: Its name.
            parallel: Number of tests that it runs at the same time.
        """
        seconds = self._seconds.get(worker)
        if seconds is None:
            return parallel
        least = max(_LEAST_BATCH, 2 * parallel)
        return max(least, min(max(_MOST_BATCH, least), int(_BATCH_S / max(seconds, 1e-6))))

    def note(self, worker: str, samples: int, time_s: float) -> None:
        """Learn from a batch.

        Args:
            worker: Its name.
            samples: Number of samples, at least 1.
            time_s: Time that they took by the clock.
        """
        now = time_s / samples
        before = self._seconds.get(worker, now)
        self._seconds[worker] = _LATEST_WEIGHT * now + (1 - _LATEST_WEIGHT) * before
