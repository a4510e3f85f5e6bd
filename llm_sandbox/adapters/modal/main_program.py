"""Main program of a sandbox: its streams and its end."""

import threading
from collections.abc import Callable

from llm_sandbox.adapters.modal.calls import Function
from llm_sandbox.adapters.modal.exception import SandboxTerminatedError, SandboxTimeoutError
from llm_sandbox.adapters.modal.io_streams import StreamReader, StreamWriter
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.sandbox import Sandbox as Machine
from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.sandbox.streams import OutputStream

__all__ = ["MainProgram"]

_BY_TIME = ("deadline", "idle")
_TIMED_OUT, _TERMINATED = 124, 137


class MainProgram:
    """Main program of a sandbox, with which the sandbox ends.

    Args:
        sandbox_id: Id of the sandbox.
        machine: Function that returns the sandbox, or raises if the handle is detached.
    """

    def __init__(self, sandbox_id: str, machine: Callable[[], Machine]) -> None:
        self._sandbox_id = sandbox_id
        self._machine = machine
        self._readers: dict[str, StreamReader[str]] = {}
        self._writer: StreamWriter | None = None
        self._end_reason: str | None = None
        self.returncode: int | None = None
        """Exit code as last recorded; None before that, or while the sandbox lives."""

    @property
    def stdin(self) -> StreamWriter:
        """Standard input."""
        if self._writer is None:
            self._writer = StreamWriter(self._machine().entry)
        return self._writer

    def output(self, name: str) -> StreamReader[str]:
        """Return a stream of output by lines.

        Args:
            name: ``stdout`` or ``stderr``.
        """
        found = self._readers.get(name)
        if found is None:
            entry = self._machine().entry
            if entry is None:
                stream = _until_end(self._machine())
            else:
                stream = entry.stdout if name == "stdout" else entry.stderr
            found = StreamReader(stream, StreamType.PIPE, by_line=True)
            self._readers[name] = found
        return found

    def wait(self, attach: Callable[[], Machine]) -> None:
        """Wait for the end of the sandbox, and record it.

        Args:
            attach: Function that returns the sandbox.
        """
        if self.returncode is None:
            try:
                machine = attach()
                machine.wait()
                self.record(machine)
            except SandboxNotFoundError as error:
                self.record_missing(error)

    async def wait_aio(self, attach: Callable[[], Machine]) -> None:
        """Do as `wait`; awaitable."""
        if self.returncode is None:
            try:
                machine = await Function(attach).aio()
                await AsyncSandbox(machine).wait()
                self.record(machine)
            except SandboxNotFoundError as error:
                self.record_missing(error)

    def record(self, machine: Machine) -> None:
        """Record the state of a sandbox: its exit code and the reason of its end, if any."""
        self._end_reason, self.returncode = machine.end_reason, machine.poll()

    def record_missing(self, error: SandboxNotFoundError) -> None:
        """Record the end of a sandbox that no longer exists, as far as the error knows it."""
        self._end_reason = error.end_reason or "gone"
        default = _TIMED_OUT if self._end_reason in _BY_TIME else _TERMINATED
        self.returncode = default if error.exit_code is None else error.exit_code

    def raise_for_end(self, raise_on_termination: bool) -> None:
        """Raise unless the program ended by itself.

        Args:
            raise_on_termination: Whether `SandboxTerminatedError` is raised.

        Raises:
            SandboxTimeoutError: The sandbox reached its timeout.
            SandboxTerminatedError: The sandbox was terminated.
        """
        if self._end_reason in _BY_TIME:
            raise SandboxTimeoutError(f"the sandbox {self._sandbox_id} came to its timeout")
        if self._end_reason != "exited" and raise_on_termination:
            raise SandboxTerminatedError(
                f"the sandbox {self._sandbox_id} was ended: {self._end_reason}"
            )


def _until_end(machine: Machine) -> OutputStream:
    """Return an empty stream that ends with the sandbox."""
    spool = Spool(0)

    def work() -> None:
        machine.wait()
        spool.end()

    threading.Thread(target=work, daemon=True, name="llm-sandbox-modal-end").start()
    return OutputStream(spool)
