"""Process with a `BatchWorker`, and the socket to it."""

import contextlib
import socket
import subprocess
import sys
import threading
from pathlib import Path

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.frames import read_frame, write_frame
from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["WorkerProcess"]

_FOLDER = str(Path(__file__).parents[3])
_CODE = (
    "import sys\n"
    f"if {_FOLDER!r} not in sys.path: sys.path.insert(0, {_FOLDER!r})\n"
    "from llm_sandbox.evaluation.engines.worker_main import main\n"
    "main(int(sys.argv[1]), int(sys.argv[2]))\n"
)
_END_S = 10.0


class WorkerProcess:
    """Process with a `BatchWorker`, which ends with this one.

    Args:
        setup: What the worker is made of.
        workers: Number of tests that it runs at the same time.

    Raises:
        BackendUnavailableError: It cannot be started.
    """

    def __init__(self, setup: bytes, workers: int) -> None:
        near, far = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CODE, str(far.fileno()), str(workers)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(far.fileno(),),
                # Of its own: Ctrl-C reaches the driver alone, and who kills the group of a process
                # of a cluster leaves those that clean up after sandboxes.
                start_new_session=True,
            )
        except OSError as error:
            near.close()
            raise BackendUnavailableError(
                f"a worker cannot be started: {error.strerror}", op="evaluate"
            ) from error
        finally:
            far.close()
        self.pid = self._process.pid
        """Its process id."""
        self._socket = near
        self._requests, self._answers = near.makefile("wb"), near.makefile("rb")
        self._setup: bytes | None = setup
        self._sending = threading.Lock()
        self._reading = threading.Condition()
        self._sent = self._read = 0

    def answer(self, batch: bytes) -> bytes:
        """Return the answer to a batch; from several threads, if batches are to overlap.

        Raises:
            WorkerLostError: The process ended before.
        """
        try:
            with self._sending:
                setup, self._setup = self._setup, None
                if setup is not None:
                    write_frame(self._requests, setup)
                write_frame(self._requests, batch)
                turn = self._sent
                self._sent += 1
            with self._reading:
                self._reading.wait_for(lambda: self._read == turn)
            try:
                answer = read_frame(self._answers)
            finally:
                with self._reading:
                    self._read += 1
                    self._reading.notify_all()
        except (OSError, ValueError) as error:
            raise WorkerLostError(f"its process ended: {error}") from error
        if answer is None:
            raise WorkerLostError(f"its process ended: {self._how()}")
        return answer

    def _how(self) -> str:
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return "it has closed the connection"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def hang_up(self) -> None:
        """Let it end by itself, soon; no effect if repeated."""
        with contextlib.suppress(OSError):
            # Unlike a close, this waits for no thread that writes.
            self._socket.shutdown(socket.SHUT_WR)

    def end(self, patience_s: float) -> None:
        """Wait for its end, and kill it after a time.

        Args:
            patience_s: Seconds to wait.
        """
        self.hang_up()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Close the connection, after the end of the process and of all that wait for answers."""
        for stream in (self._requests, self._answers, self._socket):
            with contextlib.suppress(OSError):
                stream.close()
