"""The awaitable twin of a session, and where it comes from."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from anyio.lowlevel import checkpoint

from llm_sandbox import create
from llm_sandbox.aio.callbacks import OutputListener, StreamListener, hearing
from llm_sandbox.aio.sandbox import AsyncSandbox, Commands
from llm_sandbox.aio.threads import Call, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.backends.base import Backend, Isolation, Network
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Limits
from llm_sandbox.session.config import SessionConfig, Start
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPattern, SecurityPolicy

__all__ = ["AsyncSession", "create_session"]

_Value = TypeVar("_Value")


class AsyncSession:
    """A session with an interpreter in a sandbox of its own; see `BaseSession`.

    A session is for one task at a time; a second one gets `SessionBusyError`.

    Args:
        session: The session whose twin this is.
    """

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    # --- life

    async def open(self) -> None:
        """Make the sandbox and its interpreter; see `BaseSession.open`.

        Cancelled, it closes the session.
        """
        await in_thread(lambda _: self._session.open(), undo=lambda _: self._session.close())

    async def close(self) -> None:
        """End the sandbox and everything in it; done even if the call is cancelled.

        Closing twice does nothing. Code that another task runs is stopped first, as by `interrupt`.
        """
        await to_the_end(self._session.close)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def config(self) -> SessionConfig:
        """What was asked for."""
        return self._session.config

    @property
    def language_handler(self) -> AbstractLanguageHandler:
        """The language."""
        return self._session.language_handler

    @property
    def backend_reason(self) -> str:
        """Why this backend."""
        return self._session.backend_reason

    @property
    def is_open(self) -> bool:
        """Whether code can be run."""
        return self._session.is_open

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._session.backend

    @property
    def isolation(self) -> Isolation:
        """What holds the sandbox, resource by resource."""
        return self._session.isolation

    @property
    def sandbox(self) -> AsyncSandbox:
        """The machine that the interpreter is in."""
        return AsyncSandbox(self._session.sandbox)

    def __repr__(self) -> str:
        return f"<Async{repr(self._session).removeprefix('<')}"

    # --- code

    async def run(
        self,
        code: str,
        libraries: list[str] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        on_stdout: StreamListener | None = None,
        on_stderr: StreamListener | None = None,
        *,
        stdin: str | Iterable[str] | None = None,
        on_output: OutputListener | None = None,
    ) -> ExecutionResult:
        """Run code and return all that came of it; see `BaseSession.run`.

        Cancelled, it stops the code, and the session can be used again. Callbacks are called in a
        worker thread; what a coroutine function returns is awaited in the event loop before the
        next piece is heard.
        """
        async with hearing(on_stdout, on_stderr, on_output) as heard:
            return await in_thread(
                lambda _: self._session.run(
                    code,
                    libraries,
                    timeout,
                    heard(on_stdout),
                    heard(on_stderr),
                    stdin=stdin,
                    on_output=heard(on_output),
                ),
                stop=self._stop,
            )

    def _stop(self, call: Call[Any]) -> None:
        # Not `interrupt`: a call that was refused must not stop the code of the one that is under
        # way.
        stop = self._session._stop
        if stop is not None and stop.thread == call.thread:
            stop.ask()

    async def interrupt(self) -> None:
        """Stop the code that runs now, from another task; see `BaseSession.interrupt`."""
        self._session.interrupt()
        await checkpoint()

    async def is_safe(self, code: str) -> "tuple[bool, list[SecurityPattern]]":
        """Judge code by the session's policy without running it; see `BaseSession.is_safe`."""
        return await in_thread_quickly(self._session.is_safe, code)

    async def restart(self) -> None:
        """Give the session a fresh interpreter; files and installed libraries stay."""
        await in_thread(lambda _: self._session.restart())

    async def install(self, libraries: list[str] | None = None) -> None:
        """Install libraries for this session, now; see `BaseSession.install`.

        Cancelled, it goes on to its end, and the session is busy until then.
        """
        await in_thread(lambda _: self._session.install(libraries))

    # --- commands

    async def execute_command(
        self,
        command: str | Sequence[str],
        workdir: str | None = None,
        on_stdout: StreamListener | None = None,
        on_stderr: StreamListener | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
    ) -> ProcessResult:
        """Run a command in the sandbox; see `BaseSession.execute_command`.

        Cancelled, it kills the command.
        """
        async with hearing(on_stdout, on_stderr) as heard:
            out, err = heard(on_stdout), heard(on_stderr)
            return await self._command(
                lambda session: session.execute_command(command, workdir, out, err, timeout=timeout)
            )

    async def execute_commands(
        self,
        commands: Sequence[str | tuple[str, str | None]],
        workdir: str | None = None,
        on_stdout: StreamListener | None = None,
        on_stderr: StreamListener | None = None,
    ) -> ProcessResult:
        """Run commands one after another until one fails; see `BaseSession.execute_commands`.

        Cancelled, it kills the one that runs.
        """
        async with hearing(on_stdout, on_stderr) as heard:
            out, err = heard(on_stdout), heard(on_stderr)
            return await self._command(
                lambda session: session.execute_commands(commands, workdir, out, err)
            )

    async def _command(self, ask: Callable[[BaseSession], _Value]) -> _Value:
        commands = Commands()

        def work(call: Call[_Value]) -> _Value:
            del call
            watched = copy.copy(self._session)
            if watched._sandbox is not None:
                watched._sandbox = commands.watch(watched._sandbox)
            return ask(watched)

        return await in_thread(work, stop=commands.end)

    # --- files

    async def copy_to_runtime(self, src: str | Path, dest: str) -> None:
        """Copy a file or directory of the host into the sandbox."""
        await in_thread(lambda _: self._session.copy_to_runtime(src, dest))

    async def copy_from_runtime(self, src: str, dest: str | Path) -> None:
        """Copy a file or directory of the sandbox to the host, without following links."""
        await in_thread(lambda _: self._session.copy_from_runtime(src, dest))

    async def get_archive(self, path: str) -> tuple[bytes, dict[str, object]]:
        """Return a file or directory of the sandbox as a tar archive, with a description of it."""
        return await in_thread(lambda _: self._session.get_archive(path))


def create_session(
    backend: SandboxBackend | str | Backend | None = None,
    image: str | None = None,
    dockerfile: str | None = None,
    lang: str = SupportedLanguage.PYTHON,
    *,
    keep_template: bool = False,
    commit_container: bool = False,
    verbose: bool = False,
    stream: bool = False,
    runtime_configs: Mapping[str, Any] | None = None,
    workdir: str | None = "/sandbox",
    enable_plotting: bool = True,
    security_policy: "SecurityPolicy | None" = None,
    default_timeout: float | None = None,
    execution_timeout: float | None = None,
    session_timeout: float | None = None,
    container_id: str | None = None,
    client: object = None,
    libraries: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    network: Network = "blocked",
    persistent: bool = True,
    start: Start = "warm",
) -> AsyncSession:
    """Return a new session; use it in an async with block, or await `open` and `close`.

    The arguments and errors are those of `llm_sandbox.create_session`. The first call that names no
    backend tests, in this thread, which one works here; that takes a fraction of a second, once.
    """
    given = locals()
    return AsyncSession(create.create_session(**given))
