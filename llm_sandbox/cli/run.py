"""`llm-sandbox run`: one program in a fresh sandbox."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from llm_sandbox.cli.exit_codes import (
    exit_codes,
    explain_end,
    leave_unwritable,
    usage_error,
)
from llm_sandbox.cli.interruption import Interruption
from llm_sandbox.cli.options import DEFAULT_TIMEOUT_S, SessionOptions, opened_session
from llm_sandbox.cli.render import StreamWriter, error_text, say
from llm_sandbox.cli.source import read_code, read_input, source_language, split_file_option

# What a session is made of is imported while its sandbox starts: see `create_session`.
if TYPE_CHECKING:
    from llm_sandbox.data import ExecutionResult
    from llm_sandbox.results.outputs import ErrorOutput, Output
    from llm_sandbox.session.session import BaseSession

__all__ = ["Arguments", "main", "prepare_environment"]


@dataclass(frozen=True)
class Arguments:
    """Arguments of the command."""

    options: SessionOptions
    file: str | None
    code: str | None
    words: Sequence[str]
    """Arguments of the program."""
    lang: str | None
    timeout: float | None
    """Seconds; infinity for no limit, None for the default."""
    out: str | None
    as_json: bool
    stream: bool
    stdin: str | None
    files: Sequence[str]
    session: str | None = None


_LEAN = {"LLM_SANDBOX_PREFORK": "0", "LLM_SANDBOX_PRELOAD": "lean"}


def prepare_environment() -> None:
    """Turn off warm-up for later sessions, which do not come, unless the user sets it."""
    for name, value in _LEAN.items():
        if not os.environ.get(name):
            os.environ[name] = value
            _prepared.append(name)


_prepared: list[str] = []
"""Variables that `prepare_environment` has set."""


def main(arguments: Arguments) -> int:
    """Run the program and return the exit code."""
    with exit_codes(as_json=arguments.as_json):
        program = _Run(arguments)
        code = program.run()
        if program.used_default_sandbox and sys.platform == "linux":
            from llm_sandbox.settings import get_settings

            if get_settings().cli_daemon_s:
                from llm_sandbox.cli.daemon.control import launch

                launch(without=_prepared)
        return code


class _Run:
    """One run of the command, from its arguments to its exit code.

    Args:
        arguments: Arguments of the command.
    """

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._timeout = _checked_timeout(arguments.timeout)
        self._memory_bytes = arguments.options.limits().memory_bytes
        self._files = [split_file_option(text) for text in arguments.files]
        self._folder = None if arguments.out is None else Path(arguments.out)
        file = arguments.file if arguments.file != "-" else None
        self._lang = arguments.lang or (source_language(Path(file)) if file else "python")
        if self._folder is not None:
            from llm_sandbox.cli.outputs import make_directory

            make_directory(self._folder)
        self._code = read_code(arguments.file, arguments.code)
        self._input = read_input(
            arguments.stdin,
            code_from_stdin=arguments.code is None and arguments.file in (None, "-"),
            timeout=self._timeout,
        )
        self._out, self._err = StreamWriter(sys.stdout), StreamWriter(sys.stderr)
        self._error: ErrorOutput | None = None
        self._interruption = Interruption()
        self.used_default_sandbox = False
        """Whether the program ran in a sandbox such as the command daemon keeps ready."""

    def run(self) -> int:
        """Run the program and return the exit code."""
        refused = self._refusal()
        if refused is not None:
            return self._finish(refused)
        options, name = self._arguments.options, self._arguments.session
        if name is None:
            opened = opened_session(options, self._lang, whole=True)
        else:
            from llm_sandbox.cli.options import named_session

            opened = named_session(name, options, self._lang)
        with self._interruption, opened as session:
            self.used_default_sandbox = (
                name is None and session.backend == "bubblewrap" and self._lang == "python"
            )
            self._copy_files(session)
            result = self._execute(session)
        if self._interruption.failure is not None:
            return leave_unwritable(self._interruption.failure)
        return self._finish(result)

    def _refusal(self) -> "ExecutionResult | None":
        """Return the result of code that the policy refuses, without creating a sandbox."""
        options = self._arguments.options
        policy = options.security_policy()
        if policy is None:
            return None
        from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
        from llm_sandbox.session.guard import Guard, refused_result

        guard = Guard(policy, LanguageHandlerFactory.create_handler(self._lang))
        report = guard.scan(self._code)
        if not guard.refuses(report):
            return None
        say(f"the policy {options.policy!r} refuses this code; nothing was run")
        for finding in report.blocking:
            say(f"line {finding.line}: {finding.message}", finding.fix)
        return refused_result(report)

    def _copy_files(self, session: "BaseSession") -> None:
        for path, dest in self._files:
            session.sandbox.files.mkdir(str(PurePosixPath(dest).parent))
            session.copy_to_runtime(path, dest)

    def _execute(self, session: "BaseSession") -> "ExecutionResult":
        from llm_sandbox.data import ExecutionResult
        from llm_sandbox.exceptions import SandboxTimeoutError

        on_output = None
        if not self._arguments.as_json:
            on_output = self._show
        elif self._arguments.stream:
            on_output = self._print_event
        try:
            return self._interruption.run(
                session,
                self._code,
                timeout=self._timeout,
                stdin=self._input,
                on_output=on_output,
                argv=self._argv(),
            )
        except SandboxTimeoutError as error:
            if not isinstance(error.result, ExecutionResult):
                raise
            return error.result

    def _argv(self) -> list[str]:
        """Return the program's command line by Python's own rules; empty for a cell."""
        arguments = self._arguments
        if arguments.code is not None:
            return ["-c", *arguments.words] if arguments.words else []
        if arguments.file in (None, "-"):
            return ["-", *arguments.words] if arguments.words else []
        return [Path(str(arguments.file)).resolve().name, *arguments.words]

    # --- live

    def _show(self, output: "Output") -> None:
        from llm_sandbox.results.outputs import DisplayOutput, ErrorOutput, StreamOutput

        # As `python FILE` would: what is shown comes out, a last expression's value does not.
        if isinstance(output, StreamOutput):
            (self._out if output.name == "stdout" else self._err).write(output.text)
        elif isinstance(output, ErrorOutput):
            self._error = output
        elif isinstance(output, DisplayOutput):
            from llm_sandbox.cli.outputs import show_display

            show_display(self._out, output.data)

    def _print_event(self, output: "Output") -> None:
        from llm_sandbox.results import outputs

        print(json.dumps(outputs.to_dict(output), allow_nan=False), flush=True)

    # --- the end

    def _finish(self, result: "ExecutionResult") -> int:
        from llm_sandbox.cli.outputs import describe_unsaved, save_figures, save_others

        arguments = self._arguments
        with contextlib.suppress(OSError):
            # Where an interrupt struck is of no use to anyone.
            cut_off = result.timed_out or self._interruption.asked
            if self._error is not None and not cut_off:
                self._err.write(error_text(self._error))
            self._out.end_line()
            self._err.end_line()
        for sentence in explain_end(
            result,
            self._memory_bytes,
            timeout=self._timeout,
            by_default=arguments.timeout is None,
            is_last=arguments.session is None,
        ):
            say(sentence)
        if self._folder is not None:
            save_figures(result.plots, self._folder)
            save_others(result, self._folder)
        elif not arguments.as_json:
            came_back = describe_unsaved(result)
            if came_back:
                say(f"{came_back} came back; --out DIR saves them")
        if arguments.as_json:
            try:
                print(result.to_json(), flush=True)
            except BrokenPipeError as error:
                return leave_unwritable(error)
        return result.exit_code


def _checked_timeout(timeout: float | None) -> float | None:
    """Return the validated seconds; None for no limit."""
    if timeout is None:
        return DEFAULT_TIMEOUT_S
    if not timeout > 0:
        usage_error("--timeout must be a number of seconds above 0", "--timeout none sets no limit")
    from llm_sandbox.limits import validate_timeout

    return validate_timeout(timeout, "--timeout")
