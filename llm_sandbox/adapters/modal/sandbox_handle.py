"""Handle of a sandbox: id, streams, end, files."""

import threading
from types import TracebackType
from typing import Self

from llm_sandbox.adapters.modal.calls import Function, Method
from llm_sandbox.adapters.modal.exception import (
    ClientClosed,
    ConflictError,
    SandboxTerminatedError,
    SandboxTimeoutError,
)
from llm_sandbox.adapters.modal.filesystem import SandboxFilesystem
from llm_sandbox.adapters.modal.io_streams import StreamReader, StreamWriter
from llm_sandbox.adapters.modal.stream_type import StreamType
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.exceptions import SandboxNotFoundError
from llm_sandbox.sandbox import Sandbox as Machine
from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.sandbox.streams import OutputStream

__all__ = ["SandboxHandle"]

_BY_TIME = ("deadline", "idle")
_TIMED_OUT, _TERMINATED = 124, 137


class SandboxHandle:
    """State and streams of one existing sandbox, as part of `Sandbox`.

    Args:
        machine: Sandbox of the library; None for one that has ended.
        ended: Id and end of a sandbox that has ended.
        ignored: Parameters that were recorded and not honoured.
    """

    def __init__(
        self,
        machine: Machine | None,
        *,
        ended: tuple[str, SandboxNotFoundError] | None = None,
        ignored: tuple[str, ...] = (),
    ) -> None:
        self._machine = machine
        self._ignored = ignored
        self._is_detached = False
        self._returncode: int | None = None
        self._end_reason: str | None = None
        self._object_id = "" if machine is None else machine.id
        self._readers: dict[str, StreamReader[str]] = {}
        self._writer: StreamWriter | None = None
        if ended is not None:
            self._object_id, error = ended
            self._note(error)

    def __repr__(self) -> str:
        return f"Sandbox({self._object_id!r})"

    @property
    def object_id(self) -> str:
        """Id of the sandbox, for `Sandbox.from_id`."""
        return self._object_id

    @property
    def ignored(self) -> tuple[str, ...]:
        """Parameters at creation that only Modal's cloud honours; see `configure`."""
        return self._ignored

    # --- its program

    @property
    def stdout(self) -> StreamReader[str]:
        """Standard output of the main program, by lines and from the start in every handle; output
        of `exec` is not included.
        """
        return self._reader("stdout")

    @property
    def stderr(self) -> StreamReader[str]:
        """Standard error of the main program; see `stdout`."""
        return self._reader("stderr")

    @property
    def stdin(self) -> StreamWriter:
        """Standard input of the main program."""
        if self._writer is None:
            self._writer = StreamWriter(self._open().entry)
        return self._writer

    def _reader(self, name: str) -> StreamReader[str]:
        found = self._readers.get(name)
        if found is None:
            entry = self._open().entry
            if entry is None:
                stream = _until_end(self._open())
            else:
                stream = entry.stdout if name == "stdout" else entry.stderr
            found = StreamReader(stream, StreamType.PIPE, by_line=True)
            self._readers[name] = found
        return found

    # --- its end

    @property
    def returncode(self) -> int | None:
        """Exit code as last returned by `poll` or `wait`; None before that, or while the sandbox
        lives.
        """
        return self._returncode

    @Method
    def poll(self) -> int | None:
        """Return None while the sandbox lives; then the exit code of the main program, 124 after a
        timeout, 137 after any other end.
        """
        if self._returncode is None:
            machine = self._open()
            self._end_reason, self._returncode = machine.end_reason, machine.poll()
        return self._returncode

    @Method
    def wait(self, raise_on_termination: bool = True) -> None:
        """Wait for the sandbox to end.

        Args:
            raise_on_termination: Whether `SandboxTerminatedError` is raised.

        Raises:
            SandboxTimeoutError: The sandbox reached its timeout.
            SandboxTerminatedError: The sandbox was terminated.
        """
        if self._returncode is None:
            try:
                machine = self._again()
                machine.wait()
                self._end_reason, self._returncode = machine.end_reason, machine.poll()
            except SandboxNotFoundError as error:
                self._note(error)
        self._judge(raise_on_termination)

    @wait.awaited
    async def _wait_aio(self, raise_on_termination: bool = True) -> None:
        if self._returncode is None:
            try:
                machine = await Function(self._again).aio()
                await AsyncSandbox(machine).wait()
                self._end_reason, self._returncode = machine.end_reason, machine.poll()
            except SandboxNotFoundError as error:
                self._note(error)
        self._judge(raise_on_termination)

    def _again(self) -> Machine:
        """Return the sandbox; for a detached handle, a new handle of it."""
        if self._machine is not None and not self._is_detached:
            return self._machine
        return Machine.attach(self._object_id)

    def _note(self, error: SandboxNotFoundError) -> None:
        self._end_reason = error.end_reason or "gone"
        usual = _TIMED_OUT if self._end_reason in _BY_TIME else _TERMINATED
        self._returncode = usual if error.exit_code is None else error.exit_code

    def _judge(self, raise_on_termination: bool) -> None:
        if self._end_reason in _BY_TIME:
            raise SandboxTimeoutError(f"the sandbox {self._object_id} came to its timeout")
        if self._end_reason != "exited" and raise_on_termination:
            raise SandboxTerminatedError(
                f"the sandbox {self._object_id} was ended: {self._end_reason}"
            )

    @Method
    def terminate(self, *, wait: bool = False) -> int | None:
        """Terminate the sandbox, and return when it has ended; no effect after its end.

        Args:
            wait: Whether the exit code is returned; the call waits either way.
        """
        if self._returncode is None:
            with translated():
                self._open().terminate()
            self.poll()
        return self._returncode if wait else None

    @Method
    def detach(self) -> None:
        """Detach the handle; the sandbox lives on. Only `wait` and known facts can be used
        afterwards.
        """
        if self._machine is not None and not self._is_detached:
            with translated():
                self._machine.detach()
        self._is_detached = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.detach()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.detach.aio()

    # --- its files

    @property
    def filesystem(self) -> SandboxFilesystem:
        """Files of the sandbox."""
        return SandboxFilesystem(self._open())

    def _open(self) -> Machine:
        if self._is_detached:
            raise ClientClosed
        if self._machine is None:
            raise ConflictError(
                f"the sandbox {self._object_id} has ended, with {self._returncode}, and its output "
                "went with it",
                hint="a handle from before its end still has it",
            )
        return self._machine


def _until_end(machine: Machine) -> OutputStream:
    """Return an empty stream that ends with the sandbox."""
    spool = Spool(0)

    def work() -> None:
        machine.wait()
        spool.end()

    threading.Thread(target=work, daemon=True, name="llm-sandbox-modal-end").start()
    return OutputStream(spool)
