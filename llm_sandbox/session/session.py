"""The session: code in, results out, with everything a caller may want to do around it."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import SandboxBackend
from llm_sandbox.data import ExecutionResult, StreamCallback
from llm_sandbox.exceptions import (
    ArtifactNotFoundError,
    ContainerGoneError,
    SandboxTimeoutError,
    SessionBusyError,
    ValidationError,
)
from llm_sandbox.kernel.background import BackgroundCallback
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import Deadline, LimitOptions, Limits, validate_timeout
from llm_sandbox.results.outputs import BackgroundOutput
from llm_sandbox.session.arguments import check_argv, listener, stdin_lines
from llm_sandbox.session.config import SessionConfig, settle
from llm_sandbox.session.guard import refused_result
from llm_sandbox.session.history import HistoryEntry
from llm_sandbox.session.lending import KernelHandle
from llm_sandbox.session.machine_session import MachineSession

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.results.tables import Table
    from llm_sandbox.security import ScanReport, Violation
    from llm_sandbox.session.variables import Variable, Variables

__all__ = ["BaseSession"]

_CALL_S = 30.0


class BaseSession(MachineSession):
    """A session with an interpreter in a sandbox of its own.

    Variables, files and installed libraries are kept from run to run until `close`. A session is
    for one thread at a time: of several, each waits for those that came before it, up to 32 of
    them. With ``busy="raise"``, and where waiting could not end, as in a callback of `run`, it gets
    `SessionBusyError` at once. `execute_command` and files wait for nothing, and `restart` and
    `lend_kernel` never wait: they are refused while code runs, which `interrupt` ends.

    Args:
        config: What was asked for.
        backend: Where the sandbox is made.
        reason: Why this backend, for `verbose` and for people.
        handler: The language.
    """

    @classmethod
    def configured(
        cls,
        config: SessionConfig | None = None,
        *,
        backend: SandboxBackend | str | Backend | None = None,
    ) -> "BaseSession":
        """Return a new session with these settings.

        Args:
            config: The settings; None for the defaults.
            backend: Where the sandbox is made; None picks one that isolates.

        Raises:
            BackendUnavailableError: None was named and none works here.
            LanguageNotSupportedError: There is no such language in this version.
            UnsupportedBackendError: There is no backend of that name in this version.
        """
        config = config or SessionConfig()
        handler = LanguageHandlerFactory.create_handler(config.lang)
        chosen, reason = resolve(backend, handler.name, handler.toolchain)
        chosen, config = settle(chosen, config, {})
        return BaseSession(config, chosen, reason, handler)

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
        """Run code and return all that came of it.

        What the code did (an exception, `sys.exit`, a crash, too much memory) is in the result.
        Nothing stops code that does not end, unless `timeout` or the session's own says when; then
        `SandboxTimeoutError` is raised. Give code that a model wrote a timeout.

        Args:
            code: Source text in the session's language.
            libraries: Libraries to install first.
            timeout: Seconds until the code is interrupted, counted from before a policy judges it;
                default: the session's `execution_timeout`, else its `default_timeout`, else none.
                Waiting for another thread's code takes none of it, and as long at most.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            stdin: What `input` reads: text, or an iterable of lines. None refuses input with an
                error at its line. An iterable that waits holds the deadline up.
            on_output: Called with every output as it arrives: streams, displays, errors.
            argv: The command line that the code sees, the name of its file first:
                ``["report.py", "--year", "2026"]``. While it runs it is that file of the working
                directory; ``-c`` and ``-`` name none. Default: it is a cell.

        Returns:
            The result; what the security policy found in the code is in its `findings`.

        Raises:
            SandboxTimeoutError: The time was up; its `result` holds everything until then.
            SecurityViolationError: The security policy refuses the code or a library; nothing was
                run. A policy with ``refusal="result"`` returns a result of status ``blocked``.
            LibraryInstallationError: A library could not be installed; nothing was run.
            ValidationError: An argument is not acceptable.
            NotOpenSessionError: The session is not open.
            SessionBusyError: Another thread runs code in it, and this one does not wait, or has
                waited for as long as the code may take; nothing was run.
            UnsupportedError: There is an `argv`, and an interpreter that has none.
        """
        with self._records.watch("run", self._sandbox, code, libraries) as told:
            _check_code(code)
            timeout = validate_timeout(timeout, "timeout")
            lines = stdin_lines(stdin)
            argv = check_argv(argv)
            limit = self.config.run_timeout(timeout)
            heard = listener(on_stdout, on_stderr, on_output)
            with self._running(limit) as stop:
                interpreter = self._open_interpreter()
                deadline = Deadline.after(limit)
                report = self._guard.admit(code, deadline)
                if report is not None and self._guard.refuses(report):
                    return told.ended(refused_result(report))
                if libraries:
                    # Installing has time of its own, and takes none of the code's.
                    left = deadline.remaining()
                    self._install(libraries)
                    deadline = Deadline.after(left)
                result = interpreter.run(code, deadline, lines, heard, stop, argv)
            if report is not None and report.findings:
                result = replace(result, findings=report.findings)
            self._history.add(code, result)
            self._log("ran %d characters: %r", len(code), result)
            told.ended(result, stopped=stop.asked)
            if result.timed_out:
                raise SandboxTimeoutError(
                    f"the code did not end in {limit} s; what it put out until then is in .result",
                    timeout_duration=limit,
                    result=result,
                    op="run",
                    backend=self.backend,
                )
            return result

    def background_output(self) -> list[BackgroundOutput]:
        """Return what runs put out after they had ended, since this was last called.

        A thread, a task or a process that a run leaves running goes on printing and showing. That
        is in no later result, except what a process writes in the time of a later run that starts
        processes itself; the result's `notes` say so. It can be taken while another thread runs
        code, and after `close`.

        Returns:
            What came, oldest first, each with the run that it belongs to. At most as many bytes are
            kept as a run's stream and one display may have; `BackgroundOutput.dropped_bytes` counts
            what went before.

        Raises:
            NotOpenSessionError: The session was never open.
        """
        if not self._closed:
            interpreter = self._open_interpreter()
            gone = (SessionBusyError, ContainerGoneError)
            with suppress(*gone), self._lock.hold(busy="raise"):
                interpreter.hear_background()
        return self._background.take()

    def on_background_output(self, callback: BackgroundCallback | None) -> None:
        """Call back with background output as it is received, beside keeping it.

        It is received while code runs, and by `background_output`, in the thread that does that. A
        callback that raises is logged, and called no more.

        Args:
            callback: Takes a `BackgroundOutput`; None to stop. It takes the place of the last one.

        Raises:
            ValidationError: It cannot be called.
        """
        _check_callback(callback)
        self._background.callback = callback

    def interrupt(self) -> None:
        """Stop the code that runs now, from another thread; does nothing when none runs.

        Its `run` returns within about a second, with a result that has everything until then, the
        status ``killed`` and exit code 130.
        """
        stop = self._stop
        if stop is not None:
            stop.ask()

    def scan(self, code: str) -> "ScanReport":
        """Judge code by the session's policy without running it; works before `open`, too.

        Returns:
            What was found; without a policy every capability at its ordinary grade.
        """
        _check_code(code)
        return self._guard.scan(code)

    def is_safe(self, code: str) -> "tuple[bool, list[Violation]]":
        """Judge code by the session's policy without running it; works before `open`, too.

        Returns:
            Whether no finding is at or above the policy's threshold, and everything that it found.
            Without a policy all code is safe.
        """
        _check_code(code)
        if self.config.security_policy is None:
            return True, []
        from llm_sandbox.security import violations_of

        report = self._guard.scan(code)
        return report.is_safe, violations_of(report)

    def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Hold the session to other limits from now on, its variables kept.

        ``session.update_limits(workdir="8g")`` makes room where a working directory is full. What
        can change where says `Sandbox.update_limits`.

        Args:
            limits: The ones that change, by the names that `Limits` takes; the others stay.

        Returns:
            All limits, as they are now.

        Raises:
            UnsupportedError: One cannot change in an open session here; nothing has changed then.
            BackendError: It is less than what is used already.
            ValidationError: A value is not acceptable.
            SessionBusyError: Something runs.
            SessionClosedError: The session is not open.
        """
        with self._lock.hold():
            interpreter = self._open_interpreter()
            self.sandbox.update_limits(**limits)
            self.config = replace(self.config, limits=self.sandbox.limits)
            interpreter.update_limits(self.sandbox.limits)
            return self.sandbox.limits

    def restart(self) -> None:
        """Give the session a fresh interpreter; files and installed libraries stay.

        Raises:
            SessionBusyError: Another thread is running code in it; `interrupt` ends that.
        """
        with self._lock.hold(busy="raise"):
            self._open_interpreter().restart()

    def lend_kernel(self) -> KernelHandle:
        """Hand the interpreter to somebody who speaks to it himself, such as a Jupyter front end.

        `restart` gives the session another one.

        Raises:
            UnsupportedError: Every run of this session is a program of its own.
            SessionBusyError: Another thread is running code in it.
        """
        with self._lock.hold(busy="raise"):
            return self._open_interpreter().lend()

    # --- variables

    def variables(self, *, all: bool = False) -> "tuple[Variable, ...]":
        """Return what the code has given names to, in the order in which it did.

        Args:
            all: Not values alone but functions, classes, modules and names with a leading
                underscore, too.

        Returns:
            At most the first 1,000.

        Raises:
            SandboxTimeoutError: The interpreter did not answer in 30 seconds.
        """
        return self._variables().variables(all=all)

    def get(self, name: str) -> object:
        """Return a variable's value: plain data, an array or a table.

        It is copied, value by value; nothing that comes from inside is ever unpickled.

        Args:
            name: The variable.

        Raises:
            VariableNotFoundError: There is none of that name.
            ValueNotTransferableError: It is, or holds, something else, or it is too large.
        """
        return self._variables().get(name)

    def set(self, name: str, value: object) -> None:
        """Give a variable a value: plain data, an array or a table, which is copied.

        Args:
            name: The variable.
            value: Its value.

        Raises:
            ValueNotTransferableError: It is, or holds, something else, or it is too large.
        """
        self._variables().set(name, value)

    def fetch_table(
        self, table: "Table | Artifact", format: Literal["csv", "parquet"] = "csv"
    ) -> bytes:
        """Return the whole of a table that was shown, as it is now.

        Args:
            table: One of `ExecutionResult.tables`, or its artifact.
            format: ``parquet`` needs pyarrow in the sandbox.

        Raises:
            TableGoneError: The code has let go of the table.
            ValueNotTransferableError: It cannot be written in that format, or is too large.
        """
        return self._variables().fetch_table(table, format)

    def _variables(self) -> "Variables":
        from llm_sandbox.session.variables import Variables

        return Variables(self._call)

    def _call(
        self, service: str, arguments: dict[str, Any], buffers: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[memoryview]]:
        with self._running(_CALL_S) as stop:
            interpreter = self._open_interpreter()
            deadline = Deadline.after(_CALL_S)
            return interpreter.call(service, arguments, buffers, deadline=deadline, stop=stop)

    # --- what was done

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """The runs so far, oldest first, as pairs of code and result.

        The oldest are let go when there are more than 10,000, or more than 64 million characters.
        """
        return self._history.entries

    def artifact(self, name: str) -> "Artifact":
        """Return an artifact of any run, the latest first; see `ExecutionResult.artifact`.

        Raises:
            ArtifactNotFoundError: No run has one of that name.
        """
        for entry in reversed(self.history):
            try:
                return entry.result.artifact(name)
            except ArtifactNotFoundError:
                continue
        raise ArtifactNotFoundError(f"no run of this session has an artifact {name!r}")

    def to_notebook(self, path: str | Path) -> Path:
        """Write the session as a Jupyter notebook, outputs included, and return where it is.

        Args:
            path: The file on this machine; over what is there.
        """
        from llm_sandbox.views.notebook import to_notebook

        notebook = to_notebook(self.history, {"language": str(self.config.lang)})
        target = Path(path)
        target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return target

    def run_notebook(
        self, path: str | Path, *, timeout: float | None = None, stop_on_error: bool = True
    ) -> tuple[ExecutionResult, ...]:
        """Run the code cells of a Jupyter notebook, in order.

        Args:
            path: The notebook on this machine.
            timeout: Seconds for each cell; default: as in `run`.
            stop_on_error: Whether cells after one that fails are left out.

        Returns:
            The results of the cells that were run.

        Raises:
            ValidationError: The file is no notebook.
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
        """Return an open session in which a notebook's code cells have been run.

        What came of them is its `history`. Close it, or use it in a with block.

        Args:
            path: The notebook on this machine.
            config: Settings of the session; None for the defaults.
            backend: Where the sandbox is made; None picks one that isolates.
            stop_on_error: Whether cells after one that fails are left out.

        Raises:
            ValidationError: The file is no notebook.
            SandboxTimeoutError: A cell took longer than the settings allow.
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
        """Write the session as one self-contained page of HTML, and return where it is.

        What came from inside is shown where it can run nothing.

        Args:
            path: The file on this machine; over what is there.
            title: The heading.
        """
        from llm_sandbox.views.report import html_report

        target = Path(path)
        target.write_text(html_report(title, self.history, lang=str(self.config.lang)), "utf-8")
        return target


def _check_callback(callback: object) -> None:
    if callback is not None and not callable(callback):
        kind = type(callback).__name__
        raise ValidationError(
            f"invalid callback: expected a function, got {kind}", parameter="callback"
        )


def _check_code(code: object) -> None:
    if not isinstance(code, str):
        kind = type(code).__name__
        raise ValidationError(f"code must be text, not {kind}", parameter="code")
