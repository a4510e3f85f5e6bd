"""Engine of processes on this machine."""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import count
from pathlib import Path

import llm_sandbox
from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.counts import check_count, cpus_here
from llm_sandbox.evaluation.engines.frames import read_frame, write_frame
from llm_sandbox.evaluation.engines.lane import Lane
from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["LocalEngine"]

_FOLDER = str(Path(llm_sandbox.__file__).parents[1])
_CODE = (
    "import sys\n"
    f"if {_FOLDER!r} not in sys.path: sys.path.insert(0, {_FOLDER!r})\n"
    "from llm_sandbox.evaluation.engines.local_process import main\n"
    "main(int(sys.argv[1]))\n"
)
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
        self._living: dict[str, _Process] = {}

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
        for name, process in list(self._living.items()):
            if not process.is_alive():
                del self._living[name]
                process.end(0.0)
        # What ends again and again is not started for ever.
        while len(self._living) < self.processes and self._starts < _MOST_STARTS * self.processes:
            self._starts += 1
            name = f"local-{next(self._numbers)}"
            self._living[name] = _Process(name, self._setup)

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to a process; see `Engine.submit`."""
        process = self._living.get(worker)
        if process is None:
            future: Future[bytes] = Future()
            future.set_exception(WorkerLostError(f"worker {worker} is gone"))
            return future
        return process.lane.submit(batch)

    def restart(self, worker: str) -> None:
        """Kill a process; another one takes its place. See `Engine.restart`."""
        process = self._living.pop(worker, None)
        if process is not None:
            process.end(0.0)

    def process_ids(self) -> dict[str, int]:
        """Return the process ids of the living processes by name."""
        return {name: process.pid for name, process in self._living.items()}

    def close(self) -> None:
        """End the processes, each after the sample that it evaluates or soon after that."""
        living, self._living = self._living, {}
        for process in living.values():
            process.hang_up()
        deadline = time.monotonic() + _END_S
        for process in living.values():
            process.end(max(0.0, deadline - time.monotonic()))


class _Process:
    """Process and the lane to it.

    Args:
        name: Name of the worker.
        setup: What it is made of.

    Raises:
        BackendUnavailableError: It cannot be started.
    """

    def __init__(self, name: str, setup: bytes) -> None:
        near, far = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CODE, str(far.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(far.fileno(),),
                # Of its own, so that Ctrl-C reaches the driver alone.
                start_new_session=True,
            )
        except OSError as error:
            near.close()
            raise BackendUnavailableError(
                f"worker {name} cannot be started: {error.strerror}", op="evaluate"
            ) from error
        finally:
            far.close()
        self.pid = self._process.pid
        self._socket = near
        self._requests, self._answers = near.makefile("wb"), near.makefile("rb")
        self._setup: bytes | None = setup
        self.lane = Lane(name, self._call)

    def _call(self, batch: bytes) -> bytes:
        try:
            if self._setup is not None:
                setup, self._setup = self._setup, None
                write_frame(self._requests, setup)
            write_frame(self._requests, batch)
            answer = read_frame(self._answers)
        except OSError as error:
            raise WorkerLostError(f"its process ended: {error.strerror}") from error
        if answer is None:
            try:
                code = self._process.wait(_END_S)
            except subprocess.TimeoutExpired as error:
                raise WorkerLostError("its process has closed the connection") from error
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise WorkerLostError(f"its process ended: {how}")
        return answer

    def is_alive(self) -> bool:
        return self.lane.is_open and self._process.poll() is None

    def hang_up(self) -> None:
        """Let it end by itself."""
        self.lane.close()
        with contextlib.suppress(OSError):
            # Unlike a close, this waits for no thread that writes.
            self._socket.shutdown(socket.SHUT_WR)

    def end(self, patience_s: float) -> None:
        """Wait for its end, and kill it after a time."""
        self.hang_up()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.lane.join(_END_S)
        for stream in (self._requests, self._answers, self._socket):
            with contextlib.suppress(OSError):
                stream.close()
