"""Session: code in, results out, with variables, libraries, commands and files around it.

`lifecycle` draws the states of a session, `kernel_process` those of its interpreter.
"""

import logging
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from llm_sandbox.backends.base import Backend, Isolation
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import SandboxBackend
from llm_sandbox.data import ExecutionResult, ProcessResult, StreamCallback
from llm_sandbox.exceptions import (
    ArtifactNotFoundError,
    ContainerGoneError,
    LibraryInstallationNotSupportedError,
    SandboxTimeoutError,
    SessionBusyError,
)
from llm_sandbox.kernel.background import Background, BackgroundCallback
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import Deadline, LimitOptions, Limits, validate_timeout
from llm_sandbox.results.outputs import BackgroundOutput
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.session import arguments
from llm_sandbox.session.commands import CommandRunner
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.copying import Source, archive, copy_in, copy_out
from llm_sandbox.session.guard import Guard, refused_result
from llm_sandbox.session.history import History, HistoryEntry
from llm_sandbox.session.kernel_process import KernelHandle
from llm_sandbox.session.lifecycle import SessionLifecycle, SessionState
from llm_sandbox.session.recorder import Recorder
from llm_sandbox.session.resolution import resolve_config
from llm_sandbox.session.runtime import SessionRuntime

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.results.tables import Table
    from llm_sandbox.security import ScanReport, Violation
    from llm_sandbox.session.detached import DetachOptions
    from llm_sandbox.session.variables import Variable, Variables
    from llm_sandbox.telemetry import RunObserver

__all__ = ["BaseSession"]

logger = logging.getLogger("llm_sandbox")

_CALL_S = 30.0


class BaseSession:
    """Session with an interpreter in a sandbox of its own.

    Variables, files and installed libraries are kept from run to run until `close`. It is used by
    one thread at a time: others wait in order, up to 32. With ``busy="raise"``, and where waiting
    could not end, as in a callback of `run`, they get `SessionBusyError` at once; so they do from
    `restart` and `lend_kernel` while code runs. `execute_command` and files wait for nothing.

    Args:
        config: The settings.
        backend: Backend of the sandbox.
        reason: Reason for the choice of this backend, for the log and for people.
        handler: The language.
        keeping: Options of a detached session; None for a session of this process.
    """

    def __init__(
        self,
        config: SessionConfig,
        backend: Backend,
        reason: str,
        handler: AbstractLanguageHandler,
        keeping: "DetachOptions | None" = None,
    ) -> None:
        self.config = config
        self.language_handler = handler
        self.backend_reason = reason
        self._backend = backend
        self._start = SessionRuntime.start
        self._life = SessionLifecycle(backend.name, config, keeping, self._log)
        self._history = History()
        self._background = Background(config.limits)
        self._guard = Guard(config.security_policy, handler)
        self._recorder = Recorder(backend.name, handler.name, config.observers)
        if config.verbose and not logging.getLogger().handlers and not logger.handlers:
            logger.addHandler(logging.StreamHandler(sys.stderr))
            logger.setLevel(logging.INFO)

    @classmethod
    def configured(
        cls,
        config: SessionConfig | None = None,
        *,
        backend: SandboxBackend | str | Backend | None = None,
    ) -> "BaseSession":
        """Return a new session with these settings; see `create_session` for `backend`."""
        config = config or SessionConfig()
        handler = LanguageHandlerFactory.create_handler(config.lang)
        chosen, reason = resolve(backend, handler.name, handler.toolchain)
        chosen, config = resolve_config(chosen, config, {})
        return BaseSession(config, chosen, reason, handler)

    # --- life

    def open(self) -> None:
        """Create the sandbox and its interpreter. Opening an open session does nothing.

        A session that was closed, or whose sandbox has ended, gets a new sandbox; only its
        `history` is left.

        Raises:
            BackendUnavailableError: The backend does not work on this machine.
            SecurityViolationError: The security policy refuses one of its libraries.
        """
        if not self._life.needs_open():
            return
        self._guard.warm_up()
        libraries = [] if self._life.is_attached else list(self.config.libraries)
        if libraries:
            with self._recorder.span("install", None, libraries, libraries) as span:
                self._guard.admit_libraries(libraries)
                span.withdraw()
        self._log("opening a %s sandbox: %s", self._backend.name, self.backend_reason)
        made_with = (self.config, self._backend, self.language_handler, self._background)
        self._life.open(partial(self._start, *made_with), partial(self.install, libraries))

    def close(self) -> None:
        """End the sandbox and everything in it. Closing twice does nothing.

        Code that runs is stopped first, as by `interrupt`. When a callback of that run closes the
        session, or a task that a callback has started, the session ends as soon as the run does.
        """
        self._life.close()

    def detach(self) -> None:
        """Disconnect from a detached session, which lives on; this handle is closed.

        The session then lives until its `session_timeout`, its `idle_timeout`, or until a process
        attaches and closes it; see `attach_session`. Threads and processes that runs have left
        running go on; their output waits, and stalls them when there is much of it. Detaching twice
        does nothing.

        Raises:
            UnsupportedError: The session lives in this process: it was made without a name, an
                `idle_timeout` and ``on_exit="keep"``.
            SessionBusyError: Another thread is running code in it.
        """
        self._life.detach()

    _open_waits = False
    """Whether `open` may wait until other sessions end."""

    def _cancel_open(self) -> None:
        """Have an `open` that waits for other sessions raise, from another thread."""

    def _take_over(self, ready: "BaseSession") -> None:
        """Take the runtime of an open session of the same kind, which nobody else has used."""
        self._guard.warm_up()
        kernel = self._life.take_over(ready._life).kernel
        self._background = ready._background
        kernel.use_config(self.config)
        if self.config.session_timeout is not None:
            kernel.machine.set_deadline(self.config.session_timeout)

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        (self.detach if self._life.detaches else self.close)()

    @property
    def is_open(self) -> bool:
        """Whether code can be run: it was opened, and its sandbox has not ended."""
        return self._life.is_open

    @property
    def name(self) -> str | None:
        """Name of a detached session; None without one."""
        return self._life.name

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._backend.name

    @property
    def committed_image(self) -> str | None:
        """Name of the image that ``commit_container=True`` saved at `close`; None before."""
        return self._life.committed

    @property
    def isolation(self) -> Isolation:
        """Isolation of the sandbox, resource by resource; only while open."""
        return self.sandbox.isolation

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox of the interpreter.

        Raises:
            NotOpenSessionError: The session is not open.
            SessionClosedError: It was closed.
            SessionExpiredError: Its `session_timeout` is over.
        """
        return self._life.runtime().sandbox

    # --- code

    def run(
        self,
        code: str,
        libraries: list[str] | None = None,
        timeout: float | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
        *,
        stdin: str | Iterable[str] | None = None,
        on_output: OutputCallback | None = None,
        argv: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code and return its result: streams, displays, plots, files, error and usage.

        An exception, `sys.exit`, a crash or too much memory is in the result. Only a timeout stops
        code that does not end, and raises `SandboxTimeoutError`: set one for a model's code.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            timeout: Seconds until the code is interrupted, counted from before a policy judges it;
                default: the session's `execution_timeout`, else its `default_timeout`, else none.
                The wait for another thread's code is not counted, and is as long at most.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            stdin: Standard input for `input`: text, or an iterable of lines. None refuses input
                with an error at its line. An iterable that waits delays the deadline.
            on_output: Called with every output as it arrives: streams, displays, errors.
            argv: The command line that the code sees, the name of its file first:
                ``["report.py", "--year", "2026"]``. While it runs it is that file of the working
                directory; ``-c`` and ``-`` name none. Default: it is a cell.

        Returns:
            The result; the findings of the security policy are in its `findings`.

        Raises:
            SandboxTimeoutError: The time was up; its `result` holds everything until then.
            SecurityViolationError: The security policy refuses the code or a library; nothing was
                run. A policy with ``refusal="result"`` returns a result of status ``blocked``.
            LibraryInstallationError: A library could not be installed; nothing was run.
            SessionBusyError: Another thread runs code in it, and this one does not wait, or has
                waited for as long as the code may take; nothing was run.
        """
        with self._recorder.span("run", self._life.sandbox, code, libraries) as span:
            arguments.check_code(code)
            timeout = validate_timeout(timeout, "timeout")
            lines = arguments.stdin_lines(stdin)
            argv = arguments.check_argv(argv)
            limit = self.config.run_timeout(timeout)
            callback = arguments.merge_callbacks(on_stdout, on_stderr, on_output)
            with self._life.running(limit) as stop:
                kernel = self._life.runtime().kernel
                deadline = Deadline.after(limit)
                report = self._guard.admit(code, deadline)
                if report is not None and self._guard.refuses(report):
                    return span.ended(refused_result(report))
                if libraries:
                    # The time of the installation is not the code's.
                    left = deadline.remaining()
                    self._install(libraries)
                    deadline = Deadline.after(left)
                result = kernel.run(code, deadline, lines, callback, stop, argv)
            if report is not None and report.findings:
                result = replace(result, findings=report.findings)
            self._history.add(code, result)
            self._log("ran %d characters: %r", len(code), result)
            span.ended(result, stopped=stop.asked)
            if result.timed_out:
                raise SandboxTimeoutError(
                    f"the code did not end in {limit} s; its output until then is in .result",
                    timeout_duration=limit,
                    result=result,
                    op="run",
                    backend=self.backend,
                )
            return result

    def interrupt(self) -> None:
        """Stop the code that runs now, from another thread; does nothing when none runs.

        Its `run` returns within a second, with everything until then, ``killed``, exit code 130.
        """
        stop = self._life.stop
        if stop is not None:
            stop.ask()

    def restart(self) -> None:
        """Start a fresh interpreter; files and installed libraries stay."""
        with self._life.lock.hold(busy="raise"):
            self._life.runtime().kernel.restart()

    def lend_kernel(self) -> KernelHandle:
        """Hand the interpreter over to another client, such as a Jupyter front end.

        `restart` starts another one. Refused where every run is a program of its own.
        """
        with self._life.lock.hold(busy="raise"):
            return self._life.runtime().kernel.lend()

    def background_output(self) -> list[BackgroundOutput]:
        """Return the output of ended runs since the last call, oldest first.

        Threads, tasks and processes that a run leaves running go on printing and displaying. That
        is in no later result, except for what a process writes during a later run that starts
        processes itself; the result's `notes` say so. At most as many bytes are kept as a run's
        stream and one display may have; `BackgroundOutput.dropped_bytes` counts the rest. It may be
        called while another thread runs code, and after `close`.
        """
        if not self._life.is_over:
            kernel = self._life.runtime().kernel
            with suppress(SessionBusyError, ContainerGoneError), self._life.lock.hold(busy="raise"):
                kernel.receive_background()
        return self._background.take()

    def on_background_output(self, callback: BackgroundCallback | None) -> None:
        """Call back with background output as it is received; it is kept all the same.

        It is received by `run` and `background_output`, in their threads. A callback that raises is
        logged, and not called any more. None removes the callback; another one replaces it.
        """
        arguments.check_callback(callback)
        self._background.callback = callback

    def scan(self, code: str) -> "ScanReport":
        """Scan code by the policy, which is not run; without one, report every capability."""
        arguments.check_code(code)
        return self._guard.scan(code)

    def is_safe(self, code: str) -> "tuple[bool, list[Violation]]":
        """Return whether the policy admits code, which is not run, and the policy's findings."""
        arguments.check_code(code)
        return self._guard.is_safe(code)

    def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Change limits of an open session, its variables kept, and return all limits.

        ``session.update_limits(workdir="8g")`` makes room where a working directory is full. See
        `Sandbox.update_limits` for the limits that each backend can change.

        Args:
            limits: The limits that change, by the names of `Limits`; the others stay.

        Raises:
            UnsupportedError: One cannot change in an open session; nothing has changed.
            BackendError: More is used already.
        """
        with self._life.lock.hold():
            runtime = self._life.runtime()
            runtime.sandbox.update_limits(**limits)
            self.config = replace(self.config, limits=runtime.sandbox.limits)
            runtime.kernel.update_limits(runtime.sandbox.limits)
            return runtime.sandbox.limits

    def install(self, libraries: list[str] | None = None) -> None:
        """Install libraries for this session, now; waits for code that another thread runs.

        Raises:
            LibraryInstallationError: One could not be installed; it has the installer's words.
            LibraryInstallationNotSupportedError: The language has no package manager, or the
                session was made with ``skip_environment_setup=True``.
            ValidationError: A name is not a plain requirement.
            SecurityViolationError: The security policy refuses one; none was fetched.
        """
        if libraries:
            span = self._recorder.span("install", self._life.sandbox, libraries, libraries)
            with span, self._life.lock.hold():
                self._life.runtime()
                self._install(libraries)

    def _install(self, libraries: Sequence[str]) -> None:
        if self.config.skip_environment_setup:
            raise LibraryInstallationNotSupportedError(
                self.language_handler.name,
                hint="the session was made with skip_environment_setup=True",
            )
        self._guard.admit_libraries(libraries)
        self._life.runtime().install(libraries)

    # --- variables

    def variables(self, *, all: bool = False) -> "tuple[Variable, ...]":
        """Return the code's variables, at most 1,000, in the order of assignment.

        Args:
            all: Include functions, classes, modules and names with a leading underscore.
        """
        return self._variables().variables(all=all)

    def get(self, name: str) -> object:
        """Return a variable's value, copied and never unpickled; see `Variables.get`."""
        return self._variables().get(name)

    def set(self, name: str, value: object) -> None:
        """Set a variable to a copy of plain data, an array or a table; see `Variables.set`."""
        self._variables().set(name, value)

    def fetch_table(
        self, table: "Table | Artifact", format: Literal["csv", "parquet"] = "csv"
    ) -> bytes:
        """Return the whole of a table that was shown, as it is now.

        ``parquet`` needs pyarrow in the sandbox; see `Variables.fetch_table` for the errors.
        """
        return self._variables().fetch_table(table, format)

    def _variables(self) -> "Variables":
        from llm_sandbox.session.variables import Variables

        return Variables(self._call)

    def _call(
        self, service: str, arguments: dict[str, Any], buffers: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[memoryview]]:
        with self._life.running(_CALL_S) as stop:
            kernel, deadline = self._life.runtime().kernel, Deadline.after(_CALL_S)
            return kernel.call(service, arguments, buffers, deadline=deadline, stop=stop)

    # --- history

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """The last 10,000 runs or 64 million characters, oldest first, as code and result."""
        return self._history.entries

    def artifact(self, name: str) -> "Artifact":
        """Return an artifact of any run, the latest first; see `ExecutionResult.artifact`."""
        for entry in reversed(self.history):
            with suppress(ArtifactNotFoundError):
                return entry.result.artifact(name)
        raise ArtifactNotFoundError(f"no run of this session has an artifact {name!r}")

    def to_notebook(self, path: str | Path) -> Path:
        """Write the history as a Jupyter notebook, outputs included, and return its path."""
        from llm_sandbox.views.notebook import write_notebook

        return write_notebook(path, self.history, {"language": str(self.config.lang)})

    def run_notebook(
        self, path: str | Path, *, timeout: float | None = None, stop_on_error: bool = True
    ) -> tuple[ExecutionResult, ...]:
        """Run the code cells of a Jupyter notebook, in order, and return their results.

        Args:
            path: The notebook on the host.
            timeout: Seconds for each cell; default: as in `run`.
            stop_on_error: Whether cells after one that fails are skipped.
        """
        from llm_sandbox.views.notebook import read_notebook

        results = []
        for code in read_notebook(path):
            results.append(self.run(code, timeout=timeout))
            if stop_on_error and results[-1].exit_code != 0:
                break
        return tuple(results)

    @classmethod
    def from_notebook(
        cls,
        path: str | Path,
        config: SessionConfig | None = None,
        *,
        backend: SandboxBackend | str | Backend | None = None,
        stop_on_error: bool = True,
    ) -> "BaseSession":
        """Return an open session, to be closed, that has run a notebook's code cells.

        The results are its `history`; arguments as in `configured`, `run_notebook`.
        """
        session = cls.configured(config, backend=backend)
        try:
            session.open()
            session.run_notebook(path, stop_on_error=stop_on_error)
        except BaseException:
            session.close()
            raise
        return session

    def report(self, path: str | Path, title: str = "Session") -> Path:
        """Write the history as one HTML page, in which nothing can run, and return its path."""
        from llm_sandbox.views.report import html_report

        page = html_report(title, self.history, lang=str(self.config.lang))
        Path(path).write_text(page, "utf-8")
        return Path(path)

    # --- commands

    def execute_command(
        self,
        command: str | Sequence[str],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
        *,
        timeout: float | None = None,
    ) -> ProcessResult:
        """Run a command in the sandbox, and return its exit code and streams.

        Args:
            command: A line for the shell, or a program and its arguments.
            workdir: Working directory of the command; default: the session's.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            timeout: Seconds until it is killed; default: the session's `default_timeout`.

        Raises:
            LaunchError: The program or directory does not exist.
            SandboxTimeoutError: The time was up; its `result` holds the output until then.
            SecurityViolationError: The security policy refuses it; it was not started.
        """
        return self._commands.run(command, workdir, on_stdout, on_stderr, timeout)

    def execute_commands(
        self,
        commands: Sequence[str | tuple[str, str | None]],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
    ) -> ProcessResult:
        """Run commands until one fails, and return the result of the last; see `execute_command`.

        Args:
            commands: Lines for the shell, each alone or with a directory of its own.
            workdir: Directory for those without one.
            on_stdout: Called with each piece of standard output.
            on_stderr: Called with each piece of standard error.
        """
        return self._commands.run_all(commands, workdir, on_stdout, on_stderr)

    @property
    def _commands(self) -> CommandRunner:
        return CommandRunner(self._life, self._guard, self._recorder, self.config)

    def add_observer(self, observer: "RunObserver") -> None:
        """Call `observer` with a `RunRecord` after each run, command and installation.

        Observers are called in the thread of the run, in the order in which they were added; an
        exception is logged once and disturbs nothing. What `sandbox` and a lent kernel run is not
        recorded.
        """
        self._recorder.add(observer)

    def remove_observer(self, observer: "RunObserver") -> None:
        """Remove an observer; one that was added twice is still called once."""
        self._recorder.remove(observer)

    # --- files

    def copy_to_runtime(self, src: Source, dest: str) -> None:
        """Copy a file or directory of the host, or bytes, into the sandbox.

        Args:
            src: Path on the host; or bytes, or a file that is open for reading them.
            dest: Path in the sandbox; a relative one is below the working directory. Into a folder,
                or a path that ends with ``/``, a file is copied by its own name. A directory
                becomes `dest`, over what is there.

        Raises:
            SandboxPermissionError: It cannot be written there; the hint names where it can.
        """
        copy_in(self.sandbox.files, src, dest)

    def copy_from_runtime(self, src: str, dest: str | Path) -> None:
        """Copy a file or directory of the sandbox to the host, without following links.

        A relative `src` is below the working directory; missing parents of `dest` are made.
        """
        copy_out(self.sandbox.files, src, dest)

    def get_archive(self, path: str) -> tuple[bytes, dict[str, object]]:
        """Return a file or directory of the sandbox as a tar archive, with a description of it."""
        return archive(self.sandbox.files, path)

    def _log(self, message: str, *values: object) -> None:
        logger.log(logging.INFO if self.config.verbose else logging.DEBUG, message, *values)

    def __repr__(self) -> str:
        is_new = self._life.state is SessionState.NEW
        state = "open" if self.is_open else "new" if is_new else "closed"
        return f"<{type(self).__name__} {self.config.lang} on {self.backend}, {state}>"
