"""Sandbox sessions: handles that run commands in a sandbox."""

import contextlib
import logging
import shlex
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, Self

from anyio import to_thread

from llm_sandbox.adapters.zenml.process import SandboxProcess
from llm_sandbox.adapters.zenml.snapshot import SandboxSnapshot
from llm_sandbox.adapters.zenml.steps import LogSink, Step, get_active_step
from llm_sandbox.exceptions import SessionClosedError, UnsupportedError

if TYPE_CHECKING:
    from llm_sandbox.adapters.zenml.base import BaseSandbox

__all__ = ["SandboxSession", "SandboxSessionClosedError"]

logger = logging.getLogger(__name__)


class SandboxSessionClosedError(SessionClosedError, RuntimeError):
    """A session was used after it was closed."""


class SandboxSession(ABC):
    """Handle of a sandbox that runs commands sequentially or concurrently.

    As a context manager it is closed at the end of the block, or destroyed with `destroy_on_exit`.
    Thread-safe.

    Args:
        id: Id of the sandbox.
        parent: Component that created the session.
        destroy_on_exit: Whether the end of a ``with`` block destroys the sandbox.
    """

    id: str
    """Id of the sandbox, for `BaseSandbox.attach`."""

    closed_error: ClassVar[type[SandboxSessionClosedError]] = SandboxSessionClosedError
    """Error for the use of a closed handle."""

    def __init__(self, *, id: str, parent: "BaseSandbox", destroy_on_exit: bool = False) -> None:
        self.id = id
        self._parent = parent
        self._destroy_on_exit = destroy_on_exit
        self._closed = False
        self._redacted: tuple[str, ...] = ()
        self._log: LogSink | None = None
        self._log_is_off = False
        self._log_lock = threading.Lock()
        self._publish_sandbox_metadata()

    @property
    def closed(self) -> bool:
        """Whether `close` or `destroy` has been called, and has not failed."""
        return self._closed

    # --- what a session does

    def exec(
        self,
        command: str | list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
    ) -> SandboxProcess:
        """Start a command.

        Args:
            command: The program and its arguments. Text is split like a shell command line, without
                starting a shell; for one, use ``["sh", "-c", text]``.
            cwd: Working directory, relative to that of the session; None for that of the session.
            env: Variables of this command, which override those of the session.

        Raises:
            SandboxSessionClosedError: The handle is closed.
            SandboxExecError: The program or directory is missing, or not executable.
        """
        self._ensure_open()
        return self._exec(command, cwd=cwd, env=env)

    async def aexec(
        self,
        command: str | list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
    ) -> SandboxProcess:
        """Start a command without blocking the event loop; see `exec`."""
        self._ensure_open()
        return await to_thread.run_sync(lambda: self.exec(command, cwd=cwd, env=env))

    def create_snapshot(self) -> SandboxSnapshot:
        """Save the sandbox's files, for `BaseSandbox.restore`."""
        self._ensure_open()
        return self._create_snapshot()

    def upload_file(self, local_path: str, remote_path: str) -> None:
        """Copy a file into the sandbox, with missing parent directories.

        Args:
            local_path: A file of this machine.
            remote_path: Path of the copy, relative to the session's working directory.
        """
        self._ensure_open()
        self._upload_file(local_path, remote_path)

    def download_file(self, remote_path: str, local_path: str) -> None:
        """Copy a file out of the sandbox.

        Args:
            remote_path: File, relative to the session's working directory.
            local_path: Path of the copy on this machine, in an existing directory.
        """
        self._ensure_open()
        self._download_file(remote_path, local_path)

    def close(self) -> None:
        """Close the handle. Only `destroy` can be called afterwards; may be called twice.

        The flavor decides about the sandbox itself: a detached one lives until its timeout or
        `destroy`.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._close()
        finally:
            self._close_log()

    def destroy(self) -> None:
        """Destroy the sandbox, and close this handle.

        If that fails, the handle stays open for another attempt. A closed handle can destroy, too.
        """
        self._destroy()
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._destroy_on_exit:
            self.destroy()
        else:
            self.close()

    # --- what a flavor does

    @abstractmethod
    def _exec(
        self,
        command: str | list[str],
        *,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
    ) -> SandboxProcess:
        """Start a command; see `exec`."""

    @abstractmethod
    def _close(self) -> None:
        """Release the sandbox; see `close`."""

    def _destroy(self) -> None:
        raise self._unsupported("destroy()")

    def _create_snapshot(self) -> SandboxSnapshot:
        raise self._unsupported("create_snapshot()")

    def _upload_file(self, local_path: str, remote_path: str) -> None:
        raise self._unsupported("upload_file()")

    def _download_file(self, remote_path: str, local_path: str) -> None:
        raise self._unsupported("download_file()")

    def _get_dashboard_url(self) -> str | None:
        """Return the URL of the sandbox's dashboard; None for none."""
        return None

    def _get_step(self) -> Step | None:
        """Return the active step of the caller."""
        return get_active_step()

    def _unsupported(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            what, self._parent.flavor, f"{type(self).__name__} does not implement it"
        )

    def _ensure_open(self) -> None:
        if self._closed:
            raise self.closed_error(
                f"session {self.id} is closed",
                hint="create a new session, or attach to the sandbox if it still lives",
            )

    # --- facts and logs of the step

    def _publish_sandbox_metadata(self) -> None:
        """Record the sandbox in the metadata of the active step; failures are ignored."""
        try:
            step = self._get_step()
            if step is None:
                return
            facts = {f"sandbox.{self.id}.flavor": self._parent.flavor}
            with contextlib.suppress(Exception):
                url = self._get_dashboard_url()
                if url:
                    facts[f"sandbox.{self.id}.dashboard_url"] = url
            step.publish(facts)
        except Exception as error:  # noqa: BLE001
            logger.warning("the step does not know of sandbox %s: %s", self.id, error)

    def _get_log(self) -> LogSink | None:
        with self._log_lock:
            if self._log is None and not self._log_is_off:
                try:
                    step = self._get_step()
                    self._log = step.open_log(f"sandbox:{self.id}") if step else None
                except Exception as error:  # noqa: BLE001
                    logger.debug("sandbox %s is not logged: %s", self.id, error)
                # Once there was no step there never is one: a log of half a session misleads.
                self._log_is_off = self._log is None
            return self._log

    def _close_log(self) -> None:
        with self._log_lock:
            self._log_is_off = True
            log, self._log = self._log, None
        if log is not None:
            try:
                log.end()
            except Exception as error:  # noqa: BLE001
                logger.debug("the log of sandbox %s did not end well: %s", self.id, error)

    def _emit_log(self, message: str, *, level: int = logging.INFO) -> None:
        log = self._get_log()
        if log is None:
            return
        name, text = f"sandbox:{self.id}", self._redact(message)
        log.emit(logging.LogRecord(name, level, "", 0, "%s", (text,), None))

    def _redact(self, text: str) -> str:
        """Return the text with the known secret values redacted."""
        for value in self._redacted:
            text = text.replace(value, "***")
        return text

    def _log_command(self, command: str | Sequence[str]) -> None:
        words = command if isinstance(command, str) else shlex.join(command)
        self._emit_log(f"$ {words}")

    def _log_exec_result(self, *, exit_code: int, started_at: float) -> None:
        verdict, level = ("OK", logging.INFO) if exit_code == 0 else ("FAIL", logging.ERROR)
        elapsed = time.time() - started_at
        self._emit_log(f"{verdict} exit code {exit_code} in {elapsed:.1f}s", level=level)

    def _wrap_stream(self, lines: Iterator[str], *, log_level: int = logging.INFO) -> Iterator[str]:
        """Yield lines, and log each one when it is consumed."""
        # Not `yield from`: who stops early closes this, and what goes on later needs the lines.
        for line in lines:
            self._emit_log(line.rstrip("\n"), level=log_level)
            yield line

    def _redact_values(self, secrets: Mapping[str, str]) -> None:
        """Redact these values in logs from now on."""
        # The longest first: one may be a part of another.
        values = {*self._redacted, *(value for value in secrets.values() if value)}
        self._redacted = tuple(sorted(values, key=len, reverse=True))
