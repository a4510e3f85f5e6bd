"""Batches that workers have, and their answers."""

import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.messages import decode, encode
from llm_sandbox.evaluation.engines.tested_workers import TestedWorkers
from llm_sandbox.evaluation.engines.travelling_sample import TravellingSample
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.exceptions import SandboxError

__all__ = ["MOST_IN_FLIGHT", "Flight", "Flights"]

MOST_IN_FLIGHT = 2
"""Number of batches of a worker."""

_GRACE_S = 300.0
"""A batch may wait for the reference solutions of its tasks, and for attempts of the evaluator."""


@dataclass(frozen=True, eq=False)
class Flight:
    """Batch that a worker has."""

    worker: str
    """Name of the worker."""
    samples: list[TravellingSample]
    """The samples, in the order of their results."""
    answer: Future[bytes]
    """What comes back."""
    deadline: float
    """Time of the monotonic clock after which the worker is taken to hang."""

    @property
    def weight(self) -> int:
        """How many batches it counts for: a sample that was lost before is alone on its worker."""
        return MOST_IN_FLIGHT if any(sample.lost for sample in self.samples) else 1

    def read(self) -> tuple[list[SampleResult], float]:
        """Return the results of the samples, and the seconds that they took.

        Raises:
            Exception: What the engine has for a worker that was lost.
            SandboxError: The worker says what has failed.
            WorkerLostError: The answer is not one to these samples.
        """
        message = decode(self.answer.result())
        if "error" in message:
            raise SandboxError.from_dict(message["error"])
        results = [SampleResult.from_json(one) for one in message["results"]]
        if [result.id for result in results] != [one.prepared.sample.id for one in self.samples]:
            raise WorkerLostError("the answer is about other samples")
        return results, float(message["time_s"])


class Flights:
    """All batches that workers have.

    Args:
        workers: The workers.
        timeout: Seconds that a batch may take; None for what the limits of its samples allow, and
            five minutes more.
    """

    def __init__(self, workers: TestedWorkers, timeout: float | None) -> None:
        self._workers = workers
        self._timeout = timeout
        self._flights: dict[Future[bytes], Flight] = {}

    def __bool__(self) -> bool:
        return bool(self._flights)

    def busy(self) -> Counter[str]:
        """Return the weight of the batches by worker."""
        found: Counter[str] = Counter()
        for flight in self._flights.values():
            found[flight.worker] += flight.weight
        return found

    def send(self, worker: str, batch: list[TravellingSample]) -> Flight:
        """Send a batch to a worker, and return it on its way.

        Args:
            worker: Its name.
            batch: The samples.
        """
        most = self._timeout
        if most is None:
            most = _GRACE_S + sum(sample.most_seconds() for sample in batch)
        # Its time begins when the batch before it is done.
        begin = max(
            (flight.deadline for flight in self._flights.values() if flight.worker == worker),
            default=time.monotonic(),
        )
        message = encode({"samples": [sample.record for sample in batch]})
        answer = self._workers.submit(worker, message)
        flight = self._flights[answer] = Flight(worker, batch, answer, begin + most)
        return flight

    def landed(self, timeout_s: float) -> list[Flight]:
        """Return the batches that have their answer.

        Args:
            timeout_s: Seconds to wait for the first.
        """
        done, _ = wait(self._flights, timeout_s, FIRST_COMPLETED)
        return [self._flights.pop(answer) for answer in done]

    def expired(self) -> list[Flight]:
        """Return the batches of workers that hang, which are started again.

        An answer that still comes is for nobody.
        """
        now = time.monotonic()
        late = {flight.worker for flight in self._flights.values() if flight.deadline < now}
        found = [flight for flight in self._flights.values() if flight.worker in late]
        for flight in found:
            del self._flights[flight.answer]
        for worker in late:
            self._workers.restart(worker)
        return found

    def cancel(self) -> None:
        """Ask for no answer; a batch that was begun goes on."""
        for answer in self._flights:
            answer.cancel()
        self._flights.clear()
