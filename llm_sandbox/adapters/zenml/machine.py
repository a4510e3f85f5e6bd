"""Sessions and processes of a `Sandbox` of any backend."""

import contextlib
import json
import logging
import shlex
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from llm_sandbox.adapters.zenml.child import Child
from llm_sandbox.adapters.zenml.process import (
    SandboxExecError,
    SandboxProcess,
    SandboxWaitTimeoutError,
)
from llm_sandbox.adapters.zenml.session import SandboxSession
from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
from llm_sandbox.exceptions import (
    LaunchError,
    SandboxFileNotFoundError,
    SandboxNotFoundError,
    SandboxTimeoutError,
)
from llm_sandbox.sandbox import Process, Sandbox

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml.base import BaseSandbox

__all__ = ["MachineProcess", "MachineSession"]


class MachineProcess(SandboxProcess):
    """Program of a `Sandbox`.

    Output is kept, up to `Limits.output_bytes` of each stream, so that the program never waits for
    a reader. Bytes that are not UTF-8 appear as escapes.

    Args:
        process: Program, or a child process in its place.
        session: Session that started the program.
        started_at: Start time, in seconds of `time.time`.
    """

    def __init__(
        self, process: Process | Child, session: SandboxSession, started_at: float
    ) -> None:
        super().__init__(session, started_at)
        self._process = process
        self._out, self._err = iter(process.stdout), iter(process.stderr)

    def stdout(self) -> Iterator[str]:
        """Implement `SandboxProcess`."""
        return self._session._wrap_stream(self._out)

    def stderr(self) -> Iterator[str]:
        """Implement `SandboxProcess`."""
        return self._session._wrap_stream(self._err, log_level=logging.ERROR)

    def wait(self, timeout: float | None = None) -> int:
        """Implement `SandboxProcess`."""
        try:
            return self._process.wait(timeout)
        except SandboxTimeoutError as error:
            words = [self._session._redact(word) for word in self._process.command]
            raise SandboxWaitTimeoutError(
                f"{shlex.quote(words[0])} still runs after {timeout} s",
                timeout or 0.0,
                command=words,
                op="wait",
                backend=error.backend,
                hint="it runs on: wait again, or kill() it",
            ) from None

    def kill(self) -> None:
        """Implement `SandboxProcess`."""
        self._process.kill()

    @property
    def exit_code(self) -> int | None:
        """Implement `SandboxProcess`."""
        return self._process.poll()

    def _was_cut(self) -> tuple[bool, bool]:
        return self._process.stdout.truncated, self._process.stderr.truncated


class MachineSession(SandboxSession):
    """Session of a `Sandbox`.

    Args:
        sandbox: Sandbox, which outlives this handle if it has a daemon.
        parent: Component that created the session.
        id: Id of the session; None for that of the sandbox.
        settings: Settings that sandboxes restored from its snapshots inherit.
        secrets: Variables whose values are redacted in logs.
        destroy_on_exit: Whether the end of a ``with`` block destroys the sandbox.
    """

    exec_error: ClassVar[type[SandboxExecError]] = SandboxExecError
    """Error for a command that does not start."""
    process_class: ClassVar[type[MachineProcess]] = MachineProcess
    """Class of processes."""
    snapshot_class: ClassVar[type[SandboxSnapshot]] = SandboxSnapshot
    """Class of snapshots."""
    snapshot_kind: ClassVar[Literal["filesystem", "directory"]] = "filesystem"
    """Scope of a snapshot: all files, or those of the working directory."""

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        parent: "BaseSandbox",
        id: str | None = None,
        settings: Mapping[str, Any] | None = None,
        secrets: Mapping[str, str] | None = None,
        destroy_on_exit: bool = False,
    ) -> None:
        super().__init__(
            id=sandbox.id if id is None else id, parent=parent, destroy_on_exit=destroy_on_exit
        )
        self._sandbox = sandbox
        self._settings = dict(settings or {})
        self._redact_values(secrets or {})

    @property
    def sandbox(self) -> Sandbox:
        """Sandbox of the session, for its network, isolation and tunnels."""
        self._ensure_open()
        return self._sandbox

    def _exec(
        self,
        command: str | list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
    ) -> SandboxProcess:
        argv = shlex.split(command) if isinstance(command, str) else list(command)
        self._log_command(command)
        started_at = time.time()
        try:
            process = self._sandbox.exec(*argv, cwd=cwd, env=env)
        except LaunchError as error:
            raise self.exec_error(
                self._redact(error.message),
                kind=error.kind,
                op="exec",
                backend=self._sandbox.backend,
                hint=error.hint,
            ) from error
        return self.process_class(process, self, started_at)

    def _create_snapshot(self) -> SandboxSnapshot:
        saved = self._sandbox.snapshot(kind=self.snapshot_kind)
        return self.snapshot_class(
            sandbox_id=self._parent.id,
            ref=json.dumps(saved.to_dict()),
            metadata={"session_id": self.id, "settings": self._settings},
        )

    def _upload_file(self, local_path: str, remote_path: str) -> None:
        # A directory would be copied with all that is in it.
        if not stat.S_ISREG(Path(local_path).stat().st_mode):
            raise FileNotFoundError(f"there is no regular file at {local_path!r}")
        self._sandbox.files.upload(local_path, remote_path)

    def _download_file(self, remote_path: str, local_path: str) -> None:
        entry = self._sandbox.files.stat(remote_path)
        if entry.kind != "file":
            raise SandboxFileNotFoundError(
                f"{remote_path!r} is a {entry.kind}, no file", path=remote_path
            )
        self._sandbox.files.download(remote_path, local_path)

    def _close(self) -> None:
        self._sandbox.detach()

    def _destroy(self) -> None:
        if not self._closed:
            self._sandbox.destroy()
            return
        with contextlib.suppress(SandboxNotFoundError):
            Sandbox.attach(self.id).destroy()
