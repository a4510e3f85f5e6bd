"""A sandbox, as a handle for the commands that run in it."""

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
    """A handle of a sandbox, in which any number of commands run one after or beside another.

    As a context manager it is closed at the block's end, or destroyed with `destroy_on_exit`.
    Safe to use from several threads.

    Args:
        id: What the sandbox is found by.
        parent: The component that made it.
        destroy_on_exit: Whether the end of a ``with`` block destroys the sandbox.
    """

    id: str
    """What the sandbox is found by; see `BaseSandbox.attach`."""

    closed_error: ClassVar[type[SandboxSessionClosedError]] = SandboxSessionClosedError
    """What the use of a closed handle raises."""

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
            command: The program and its arguments. Text is split into words as a shell does it, but
                no shell sees it: ``["sh", "-c", text]`` has one.
            cwd: Its working directory; relative to the session's, and None for that.
            env: Variables for this command, over those of the session.

        Raises:
            SandboxSessionClosedError: The handle is closed.
            SandboxExecError: There is no such program or directory, or it cannot be executed.
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
        """As `exec`, for callers in an event loop, which goes on meanwhile."""
        self._ensure_open()
        return await to_thread.run_sync(lambda: self.exec(command, cwd=cwd, env=env))

    def create_snapshot(self) -> SandboxSnapshot:
        """Save the sandbox's files; `BaseSandbox.restore` makes a session of them."""
        self._ensure_open()
        return self._create_snapshot()

    def upload_file(self, local_path: str, remote_path: str) -> None:
        """Copy a file into the sandbox; missing directories are made.

        Args:
            local_path: A file of this machine.
            remote_path: What it becomes; relative to the session's working directory.
        """
        self._ensure_open()
        self._upload_file(local_path, remote_path)

    def download_file(self, remote_path: str, local_path: str) -> None:
        """Copy a file out of the sandbox.

        Args:
            remote_path: The file; relative to the session's working directory.
            local_path: What it becomes on this machine; its directory exists.
        """
        self._ensure_open()
        self._download_file(remote_path, local_path)

    def close(self) -> None:
        """Let go of the sandbox. Nothing but `destroy` can be called after; may be called twice.

        What the sandbox itself comes to is the flavor's: one that is elsewhere goes on until its
        timeout or until somebody destroys it.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self._close()
        finally:
            self._close_log()

    def destroy(self) -> None:
        """End the sandbox with everything in it, and close this handle.

        Where that fails the handle stays open, to try again. A closed handle can destroy as well.
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
        """Let go of the sandbox; see `close`."""

    def _destroy(self) -> None:
        raise self._unsupported("destroy()")

    def _create_snapshot(self) -> SandboxSnapshot:
        raise self._unsupported("create_snapshot()")

    def _upload_file(self, local_path: str, remote_path: str) -> None:
        raise self._unsupported("upload_file()")

    def _download_file(self, remote_path: str, local_path: str) -> None:
        raise self._unsupported("download_file()")

    def _get_dashboard_url(self) -> str | None:
        """Where a person can look at the sandbox; None where there is no such place."""
        return None

    def _get_step(self) -> Step | None:
        """The step that is active for the caller."""
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
        """Note the sandbox with the active step. Whatever becomes of that, there is a session."""
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
        """The text without the values of secrets that this handle knows."""
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
        """Yield lines, and log each of them when it is taken."""
        # Not `yield from`: who stops early closes this, and what goes on later needs the lines.
        for line in lines:
            self._emit_log(line.rstrip("\n"), level=log_level)
            yield line

    def _redact_values(self, secrets: Mapping[str, str]) -> None:
        """Leave these values out of what is logged from now on."""
        # The longest first: one may be a part of another.
        values = {*self._redacted, *(value for value in secrets.values() if value)}
        self._redacted = tuple(sorted(values, key=len, reverse=True))
