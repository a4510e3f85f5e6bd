"""Engine of processes on this machine."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import count

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.counts import check_count, cpus_here
from llm_sandbox.evaluation.engines.lane import Lane
from llm_sandbox.evaluation.engines.worker_process import WorkerProcess

__all__ = ["LocalEngine"]

_END_S = 10.0
_MOST_STARTS = 20


class LocalEngine:
    """Engine of processes on this machine, each of which runs one test at a time.

    A process that ends is replaced. A test that is repeated alone, since others may have delayed
    it, is alone in its process only: for tests near their time limit fewer processes than CPUs
    give steadier verdicts.

    Args:
        processes: Number of processes; None for the CPUs of this process.

    Raises:
        ValidationError: `processes` is invalid.
    """

    def __init__(self, processes: int | None = None) -> None:
        if processes is None:
            processes = cpus_here()
        check_count("processes", processes)
        self.processes = processes
        """Number of processes."""
        self._setup = b""
        self._numbers = count(1)
        self._starts = 0
        self._living: dict[str, tuple[WorkerProcess, Lane]] = {}

    def start(self, setup: bytes) -> None:
        """Start the processes; see `Engine.start`.

        Raises:
            BackendUnavailableError: A process cannot be started.
        """
        self._setup = setup
        self._starts = 0
        self._replace()

    def workers(self) -> Sequence[str]:
        """Return the names of the living processes, after dead ones were replaced."""
        self._replace()
        return list(self._living)

    def _replace(self) -> None:
        for name, (process, lane) in list(self._living.items()):
            if not (process.is_alive and lane.is_open):
                del self._living[name]
                _end(process, lane, 0.0)
        # What ends again and again is not started for ever.
        while len(self._living) < self.processes and self._starts < _MOST_STARTS * self.processes:
            self._starts += 1
            name = f"local-{next(self._numbers)}"
            process = WorkerProcess(self._setup, 1)
            self._living[name] = process, Lane(name, process.answer)

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to a process; see `Engine.submit`."""
        if worker not in self._living:
            future: Future[bytes] = Future()
            future.set_exception(WorkerLostError(f"worker {worker} is gone"))
            return future
        return self._living[worker][1].submit(batch)

    def restart(self, worker: str) -> None:
        """Kill a process; another one takes its place. See `Engine.restart`."""
        if worker in self._living:
            _end(*self._living.pop(worker), 0.0)

    def process_ids(self) -> dict[str, int]:
        """Return the process ids of the living processes by name."""
        return {name: process.pid for name, (process, _) in self._living.items()}

    def close(self) -> None:
        """End the processes, each after the sample that it evaluates or soon after that."""
        living, self._living = self._living, {}
        for process, lane in living.values():
            lane.close()
            process.hang_up()
        deadline = time.monotonic() + _END_S
        for process, lane in living.values():
            _end(process, lane, max(0.0, deadline - time.monotonic()))


def _end(process: WorkerProcess, lane: Lane, patience_s: float) -> None:
    lane.close()
    process.end(patience_s)
    lane.join(_END_S)
    process.close()
