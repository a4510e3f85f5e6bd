"""Awaitable twin of a session, with the factories `create_session` and `attach_session`."""

import copy
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack

from anyio.lowlevel import checkpoint

from llm_sandbox import create
from llm_sandbox.aio.callbacks import OutputListener, StreamListener, adapted_callbacks
from llm_sandbox.aio.sandbox import AsyncSandbox, Commands
from llm_sandbox.aio.threads import Call, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.backends.base import Backend, Isolation
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.create import SessionOptions, same_parameters
from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.kernel.background import BackgroundCallback
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import LimitOptions, Limits
from llm_sandbox.results.outputs import BackgroundOutput
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.copying import Source
from llm_sandbox.session.history import HistoryEntry
from llm_sandbox.session.kernel_process import KernelHandle
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.results.tables import Table
    from llm_sandbox.security import ScanReport, Violation
    from llm_sandbox.session.variables import Variable
    from llm_sandbox.telemetry import RunObserver

__all__ = ["AsyncSession", "attach_session", "create_session"]

_Value = TypeVar("_Value")


class AsyncSession:
    """Session with an interpreter in a sandbox; see `BaseSession`.

    A session serves one task at a time, in the order of their calls, as with threads. A waiting
    task that is cancelled leaves the queue without effect on others.

    Args:
        session: Synchronous twin.
    """

    def __init__(self, session: BaseSession) -> None:
        self._session = session

    @classmethod
    async def configured(
        cls,
        config: SessionConfig | None = None,
        *,
        backend: SandboxBackend | str | Backend | None = None,
    ) -> "AsyncSession":
        """Return a new session with these settings; see `BaseSession.configured`."""
        plain = await in_thread_quickly(BaseSession.configured, config, backend=backend)
        return AsyncSession(plain)

    # --- life

    async def open(self) -> None:
        """Create the sandbox and its interpreter; see `BaseSession.open`.

        Cancellation closes the session.
        """
        session = self._session
        await in_thread(
            lambda _: session.open(),
            stop=lambda _: session._cancel_open(),
            undo=lambda _: session.close(),
            waits=session._open_waits,
        )

    async def close(self) -> None:
        """End the sandbox, even if the call is cancelled.

        May be called twice. Code run by another task is stopped first, as by `interrupt`.
        """
        await to_the_end(self._session.close)

    async def detach(self) -> None:
        """Detach from a session, which lives on; see `BaseSession.detach`."""
        await to_the_end(self._session.detach)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await to_the_end(lambda: self._session.__exit__(exc_type, exc_val, exc_tb))

    @property
    def config(self) -> SessionConfig:
        """Settings of the session."""
        return self._session.config

    @property
    def language_handler(self) -> AbstractLanguageHandler:
        """Language handler."""
        return self._session.language_handler

    @property
    def backend_reason(self) -> str:
        """Reason for the choice of the backend."""
        return self._session.backend_reason

    @property
    def is_open(self) -> bool:
        """Whether the session is open."""
        return self._session.is_open

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._session.backend

    @property
    def name(self) -> str | None:
        """Name of a detached session; None without one."""
        return self._session.name

    @property
    def committed_image(self) -> str | None:
        """Name of the image of the saved container; see `BaseSession.committed_image`."""
        return self._session.committed_image

    @property
    def isolation(self) -> Isolation:
        """Isolation of the sandbox, by resource."""
        return self._session.isolation

    @property
    def sandbox(self) -> AsyncSandbox:
        """Sandbox of the interpreter."""
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
        argv: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code and return its result; see `BaseSession.run`.

        Cancellation stops the code, and the session remains usable. Callbacks are called in a
        worker thread; those of coroutine functions are awaited in the event loop before the next
        output is delivered.
        """
        async with adapted_callbacks(on_stdout, on_stderr, on_output) as adapt:
            return await in_thread(
                lambda _: self._session.run(
                    code,
                    libraries,
                    timeout,
                    adapt(on_stdout),
                    adapt(on_stderr),
                    stdin=stdin,
                    on_output=adapt(on_output),
                    argv=argv,
                ),
                stop=self._stop,
            )

    def _stop(self, call: Call[Any]) -> None:
        # Not `interrupt`: a call that waits, or was refused, must not stop the code of the one that
        # is under way.
        if call.thread is not None and self._session._life.lock.cancel_wait(call.thread):
            return
        stop = self._session._life.stop
        if stop is not None and stop.thread == call.thread:
            stop.ask()

    async def background_output(self) -> list[BackgroundOutput]:
        """Return output of runs after their end; see `BaseSession.background_output`."""
        return await in_thread_quickly(self._session.background_output)

    async def on_background_output(self, callback: BackgroundCallback | None) -> None:
        """Set a callback for background output; see `BaseSession.on_background_output`.

        The callback is called in a worker thread.
        """
        self._session.on_background_output(callback)
        await checkpoint()

    async def interrupt(self) -> None:
        """Stop the running code, from another task; see `BaseSession.interrupt`."""
        self._session.interrupt()
        await checkpoint()

    async def scan(self, code: str) -> "ScanReport":
        """Scan code by the session's policy without running it; see `BaseSession.scan`."""
        return await in_thread_quickly(self._session.scan, code)

    async def is_safe(self, code: str) -> "tuple[bool, list[Violation]]":
        """Return whether the session's policy allows code, without running it; see
        `BaseSession.is_safe`.
        """
        return await in_thread_quickly(self._session.is_safe, code)

    async def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Change the limits of the session; see `BaseSession.update_limits`."""
        return await in_thread(lambda _: self._session.update_limits(**limits))

    async def restart(self) -> None:
        """Restart the interpreter; files and installed libraries are kept."""
        await in_thread(lambda _: self._session.restart())

    async def lend_kernel(self) -> KernelHandle:
        """Hand the kernel over to another client; see `BaseSession.lend_kernel`."""
        return await in_thread(lambda _: self._session.lend_kernel())

    async def install(self, libraries: list[str] | None = None) -> None:
        """Install libraries; see `BaseSession.install`.

        A cancelled installation continues to its end, and the session is busy until then.
        """
        await in_thread(lambda _: self._session.install(libraries))

    # --- variables

    async def variables(self, *, all: bool = False) -> "tuple[Variable, ...]":
        """Return the variables of the code; see `BaseSession.variables`."""
        return await in_thread(lambda _: self._session.variables(all=all), stop=self._stop)

    async def get(self, name: str) -> object:
        """Return the value of a variable; see `BaseSession.get`."""
        return await in_thread(lambda _: self._session.get(name), stop=self._stop)

    async def set(self, name: str, value: object) -> None:
        """Assign a variable; see `BaseSession.set`."""
        await in_thread(lambda _: self._session.set(name, value), stop=self._stop)

    async def fetch_table(
        self, table: "Table | Artifact", format: Literal["csv", "parquet"] = "csv"
    ) -> bytes:
        """Return all rows of a displayed table; see `BaseSession.fetch_table`."""
        return await in_thread(lambda _: self._session.fetch_table(table, format), stop=self._stop)

    # --- what was done

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """Runs so far, oldest first; see `BaseSession.history`."""
        return self._session.history

    async def artifact(self, name: str) -> "Artifact":
        """Return an artifact of any run; see `BaseSession.artifact`."""
        return await in_thread_quickly(self._session.artifact, name)

    async def to_notebook(self, path: str | Path) -> Path:
        """Write the session as a Jupyter notebook; see `BaseSession.to_notebook`."""
        return await in_thread_quickly(self._session.to_notebook, path)

    async def run_notebook(
        self,
        path: str | Path,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        stop_on_error: bool = True,
    ) -> tuple[ExecutionResult, ...]:
        """Run the code cells of a Jupyter notebook; see `BaseSession.run_notebook`.

        Cancellation stops the running cell, and the rest is not run.
        """
        return await in_thread(
            lambda _: self._session.run_notebook(
                path, timeout=timeout, stop_on_error=stop_on_error
            ),
            stop=self._stop,
        )

    @classmethod
    async def from_notebook(
        cls,
        path: str | Path,
        config: SessionConfig | None = None,
        *,
        backend: SandboxBackend | str | Backend | None = None,
        stop_on_error: bool = True,
    ) -> "AsyncSession":
        """Return an open session with a notebook's cells run; see `BaseSession.from_notebook`.

        Cancellation stops the running cell, and closes the session.
        """
        session = await cls.configured(config, backend=backend)
        try:
            await session.open()
            await session.run_notebook(path, stop_on_error=stop_on_error)
        except BaseException:
            await session.close()
            raise
        return session

    async def report(self, path: str | Path, title: str = "Session") -> Path:
        """Write the session as an HTML page; see `BaseSession.report`."""
        return await in_thread_quickly(self._session.report, path, title)

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

        Cancellation kills the command.
        """
        async with adapted_callbacks(on_stdout, on_stderr) as adapt:
            out, err = adapt(on_stdout), adapt(on_stderr)
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

        Cancellation kills the running command.
        """
        async with adapted_callbacks(on_stdout, on_stderr) as adapt:
            out, err = adapt(on_stdout), adapt(on_stderr)
            return await self._command(
                lambda session: session.execute_commands(commands, workdir, out, err)
            )

    async def _command(self, ask: Callable[[BaseSession], _Value]) -> _Value:
        commands = Commands()

        def work(call: Call[_Value]) -> _Value:
            del call
            watched = copy.copy(self._session)
            watched._life = watched._life.with_sandbox(commands.watch)
            watched._recorder = watched._recorder.stopped_by(lambda: commands.ended)
            return ask(watched)

        return await in_thread(work, stop=commands.end)

    # --- observers

    async def add_observer(self, observer: "RunObserver") -> None:
        """Call `observer` with a `RunRecord` after each run; see `BaseSession.add_observer`.

        The observer is called in the worker thread of the run.
        """
        self._session.add_observer(observer)
        await checkpoint()

    async def remove_observer(self, observer: "RunObserver") -> None:
        """Remove an observer; see `BaseSession.remove_observer`."""
        self._session.remove_observer(observer)
        await checkpoint()

    # --- files

    async def copy_to_runtime(self, src: Source, dest: str) -> None:
        """Copy a file or directory of the host, or bytes, into the sandbox."""
        await in_thread(lambda _: self._session.copy_to_runtime(src, dest))

    async def copy_from_runtime(self, src: str, dest: str | Path) -> None:
        """Copy a file or directory of the sandbox to the host, without following links."""
        await in_thread(lambda _: self._session.copy_from_runtime(src, dest))

    async def get_archive(self, path: str) -> tuple[bytes, dict[str, object]]:
        """Return a file or directory of the sandbox as a tar archive, with a description of it."""
        return await in_thread(lambda _: self._session.get_archive(path))


@same_parameters(create.create_session)
def create_session(
    backend: SandboxBackend | str | Backend | None = None,
    image: str | None = None,
    dockerfile: str | None = None,
    lang: str = SupportedLanguage.PYTHON,
    **options: Unpack[SessionOptions],
) -> AsyncSession:
    """Return a new session; use it in an async with block, or await `open` and `close`.

    The arguments and errors are those of `llm_sandbox.create_session`. The first call that names no
    backend tests in this thread which one works here; that takes a fraction of a second, once.
    """
    return AsyncSession(create.create_session(backend, image, dockerfile, lang, **options))


async def attach_session(
    name_or_id: str, *, observers: "Sequence[RunObserver]" = (), verbose: bool = False
) -> AsyncSession:
    """Attach to a detached session; see `llm_sandbox.attach_session`.

    Cancellation detaches from the session.
    """
    return AsyncSession(
        await in_thread(
            lambda _: create.attach_session(name_or_id, observers=observers, verbose=verbose),
            undo=lambda session: session.detach(),
        )
    )
