"""`llm-sandbox shell`: a prompt on one session."""

import contextlib
import importlib
import math
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from llm_sandbox import __version__
from llm_sandbox.cli.blocks import is_complete, split_blocks
from llm_sandbox.cli.exit_codes import (
    INTERRUPTED,
    exit_codes,
    explain_end,
    leave_unwritable,
    say_error,
)
from llm_sandbox.cli.interruption import Interruption
from llm_sandbox.cli.options import DEFAULT_TIMEOUT_S, SessionOptions, opened_session
from llm_sandbox.cli.outputs import make_directory, save_figures, save_others, show_display
from llm_sandbox.cli.render import StreamWriter, error_text, say
from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ContainerGoneError, SandboxError, SandboxTimeoutError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ErrorOutput,
    Output,
    ResultOutput,
    StreamOutput,
    UpdateOutput,
)
from llm_sandbox.session.session import BaseSession

__all__ = ["Shell", "main"]

_HELP = """\
Enter runs a line, or a block when it is complete and a blank line ends it; what is pasted is run
as one. Tab completes a name, the arrows go through what was typed before, also in other shells.
  name?     what it is       name??    its source too
  %time     IPython's commands work, %lsmagic lists them
  !ls       a command of the sandbox
Ctrl-C stops what is running, or drops what is typed. Ctrl-D or exit leaves."""
_ASKED = re.compile(r"([A-Za-z_][\w.]*)(\?{1,2})")
_LEAVE = ("exit", "quit", "exit()", "quit()")
_NETWORKS = {"blocked": "no network", "internet": "public network", "open": "network open"}


def main(options: SessionOptions, lang: str, timeout: float | None, out: str | None) -> int:
    """Run the shell and return the exit code."""
    with exit_codes():
        folder = None if out is None else Path(out)
        if folder is not None:
            make_directory(folder)
        if timeout is None:
            # A person who waits can press Ctrl-C.
            timeout = math.inf if sys.stdin.isatty() else DEFAULT_TIMEOUT_S
        seconds = validate_timeout(timeout, "--timeout")
        with opened_session(options, lang) as session:
            return Shell(session, folder, seconds).run()


class Shell:
    """Loop that reads blocks, runs them and shows their outputs.

    Args:
        session: An open session.
        out: Directory for figures; None for a temporary directory, made for the first figure.
        timeout: Time limit of a block in seconds; None for no limit.
    """

    def __init__(self, session: BaseSession, out: Path | None, timeout: float | None) -> None:
        self._session = session
        self._timeout = timeout
        self._figures_folder = out
        self._keeps_files = out is not None
        self._figures = 0
        self._interactive = sys.stdin.isatty()
        self._out, self._err = StreamWriter(sys.stdout), StreamWriter(sys.stderr)
        self._last_code = 0
        self._interruption = Interruption()

    def run(self) -> int:
        """Run blocks until the input ends or the code exits."""
        if self._interactive:
            # At the prompt Ctrl-C drops the line; while code runs it is taken by `Interruption`.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._greet()
        failed = False
        blocks = self._typed_blocks() if self._interactive else split_blocks(sys.stdin, self._lang)
        for block in blocks:
            if block.strip() in _LEAVE:
                break
            left = self._run_block(block)
            if left:
                return self._last_code
            failed = failed or self._last_code != 0
        return int(failed and not self._interactive)

    @property
    def _lang(self) -> str:
        return self._session.config.lang

    def _greet(self) -> None:
        network = _NETWORKS.get(str(self._session.config.network), "network by rules")
        level = self._session.isolation.level
        where = f"{self._lang} in {self._session.backend} ({level}, {network})"
        print(f"llm-sandbox {__version__}: {where}")
        print("Ctrl-C stops what is running, Ctrl-D or exit leaves, ? helps.")

    # --- reading

    def _typed_blocks(self) -> Iterator[str]:
        read = self._reader()
        while True:
            try:
                block = read()
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print("\nKeyboardInterrupt")
                continue
            if block.strip() == "?":
                print(_HELP)
            elif (asked := _ASKED.fullmatch(block.strip())) and self._lang == "python":
                self._explain(asked[1], detail=len(asked[2]) - 1)
            elif block.strip():
                yield block

    def _reader(self) -> Callable[[], str]:
        """Return the reader of blocks: an editor, or a line reader on a terminal without one."""
        if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
            with contextlib.suppress(ImportError):
                importlib.import_module("readline")  # gives input() editing and history
            return self._read_lines
        from llm_sandbox.cli.prompt import Prompt
        from llm_sandbox.sandbox.detached.state_dir import default_state_dir

        complete = self._complete if self._lang == "python" else None
        return Prompt(self._lang, complete, Path(default_state_dir()).parent).read

    def _read_lines(self) -> str:
        lines = ""
        while True:
            lines += input("... " if lines else ">>> ") + "\n"
            # Before its last newline, a blank line is what ends a block by Python's rule.
            if is_complete(lines[:-1] if self._lang == "python" else lines, self._lang):
                return lines

    def _complete(self, code: str, cursor: int) -> tuple[list[str], int]:
        try:
            answer, _ = self._session._call("complete", {"code": code, "cursor": cursor})
            # trust: any JSON may come from inside.
            matches = [one for one in answer["matches"] if isinstance(one, str)]
            return matches, int(answer["start"])
        except (SandboxError, KeyError, TypeError, ValueError):
            return [], cursor

    def _explain(self, name: str, detail: int) -> None:
        """Print the documentation of a name, with its source for two question marks."""
        try:
            answer, _ = self._session._call("inspect", {"name": name, "detail": detail})
        except ContainerGoneError:
            raise
        except SandboxError as error:
            say_error(error)
            return
        text = answer.get("text") or f"there is no {name}"
        # trust: it comes from inside; a terminal gets it without control sequences.
        self._out.write(f"{text}\n")

    def _answers(self) -> Iterator[str]:
        """Yield the lines that are typed when the code asks for input."""
        with contextlib.suppress(EOFError):
            while True:
                yield input()

    # --- running

    def _run_block(self, block: str) -> bool:
        """Run a block; return True when the shell is to exit."""
        self._interruption = Interruption()
        # Another language's input is handed over before it is asked for, and what is typed is code.
        asks = self._interactive and self._lang == "python"
        answers = self._answers() if asks else None
        try:
            with self._interruption:
                result = self._interruption.run(
                    self._session, block, timeout=self._timeout, stdin=answers, on_output=self._show
                )
        except SandboxTimeoutError as error:
            if not isinstance(error.result, ExecutionResult):
                raise
            result = error.result
        except KeyboardInterrupt:
            # It came where no code ran, or where input was waited for.
            print("\nKeyboardInterrupt", file=sys.stderr)
            self._last_code = INTERRUPTED
            return not self._interactive
        except ContainerGoneError:
            raise
        except SandboxError as error:
            say_error(error)
            self._last_code = 1
            return False
        if self._interruption.failure is not None:
            self._last_code = leave_unwritable(self._interruption.failure)
            return True
        self._show_end(result)
        left = result.status is RunStatus.EXITED and result.state is not StateOutcome.RESET
        return left or (self._interruption.asked and not self._interactive)

    def _show_end(self, result: ExecutionResult) -> None:
        self._last_code = result.exit_code
        with contextlib.suppress(OSError):
            self._out.end_line()
            self._err.end_line()
        if self._interruption.asked:
            print("KeyboardInterrupt", file=sys.stderr)
        memory = self._session.config.limits.memory_bytes
        for sentence in explain_end(result, memory, timeout=self._timeout):
            say(sentence)
        if result.plots:
            if self._figures_folder is None:
                self._figures_folder = Path(tempfile.mkdtemp(prefix="llm-sandbox-"))
            first = self._figures + 1
            self._figures += save_figures(result.plots, self._figures_folder, first)
        if self._keeps_files and self._figures_folder is not None:
            save_others(result, self._figures_folder)

    def _show(self, output: Output) -> None:
        if isinstance(output, StreamOutput):
            (self._out if output.name == "stdout" else self._err).write(output.text)
        elif isinstance(output, ErrorOutput):
            self._out.end_line()
            if not self._interruption.asked:
                self._err.write(error_text(output))
        elif isinstance(output, DisplayOutput | ResultOutput | UpdateOutput):
            show_display(self._out, output.data)
