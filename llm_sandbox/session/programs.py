"""Code run as a whole program: for machines whose Python cannot run a kernel, and for languages
without one.
"""

import contextlib
import re
import secrets
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from llm_sandbox.backends.base import Exit, Machine
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.host.guest_numbers import signal_name, signal_words
from llm_sandbox.kernel.client import KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler, Step
from llm_sandbox.limits import Deadline
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.sandbox import PIPE, Process, Sandbox
from llm_sandbox.sandbox.process import exit_of
from llm_sandbox.session.kernel_setup import KernelSetup
from llm_sandbox.session.program_displays import ProgramDisplays
from llm_sandbox.session.program_streams import Tail, Words, follow_program

__all__ = ["ProgramRunner", "figure_notes"]

_DRAWS = re.compile(r"\b(?:matplotlib|plotly|pyplot|seaborn|altair|bokeh)\b")

_PLACE = "/tmp"  # noqa: S108 - inside the sandbox
_SHORTEST_S = 0.001
_LONGEST_UPKEEP_S = 60.0


def figure_notes(code: str) -> tuple[str, ...]:
    """Return what becomes of figures in a program of Python's, which nothing captures."""
    if not _DRAWS.search(code):
        return ()
    note = (
        "Figures are captured by a kernel, and this sandbox's Python has none: save them to files, "
        "or use persistent=True, for which one is brought."
    )
    return (note,)


class ProgramRunner:
    """Runs each piece of code as a program of its own. For one thread at a time.

    Nobody watches such a program from inside: its result has no observations.

    Args:
        sandbox: Where.
        machine: The machine below it.
        handler: The language.
        setup: What the language is run with.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        machine: Machine,
        handler: AbstractLanguageHandler,
        setup: KernelSetup,
    ) -> None:
        self._sandbox = sandbox
        self._machine = machine
        self._handler = handler
        self._setup = setup
        self._upkeep: Process | None = None

    def run(
        self,
        code: str,
        collector: OutputBuffer,
        *,
        deadline: Deadline,
        env: Mapping[str, str],
        library_paths: Sequence[str] = (),
        argv: Sequence[str] = (),
        stdin: Iterator[str] | None = None,
        stop: Stop | None = None,
    ) -> KernelRun:
        """Run code to its end; nothing that it started outlives it.

        Args:
            code: The program.
            collector: Gets what it puts out.
            deadline: When it is killed.
            env: What the caller added to the environment.
            library_paths: Where installed libraries are.
            argv: What it is called, and its arguments; none for neither.
            stdin: Lines for its standard input; None for an empty one.
            stop: Kills it when it is asked.

        Raises:
            LaunchError: The machine lacks the program that runs this language.
            FileError: The code could not be written to the machine's ``/tmp``.
        """
        # Beside the working directory, whose files are the user's. The name never comes again: a
        # run cannot prepare what the next one executes.
        folder = f"{_PLACE}/.llm-sandbox-{secrets.token_hex(8)}"
        file = f"{folder}/{self._source_name(code, argv)}"
        # Where there is a kernel, IPython does that.
        plain = self._handler.name == SupportedLanguage.PYTHON
        self._sandbox.files.write_text(file, textwrap.dedent(code) if plain else code)
        shown = ProgramDisplays(self._sandbox.files, f"{folder}/displays")
        variables = self._environment(env, library_paths, shown.folder)
        try:
            ended, stopped = Exit(0), False
            steps = self._handler.plan(file, self._setup.shim(self._machine))
            for number, step in enumerate(steps, 1):
                last = number == len(steps)
                process = self._sandbox.exec(
                    *self._words(step),
                    *(argv[1:] if last else ()),
                    env={**variables, **step.env},
                    stdin=PIPE if stdin is not None and last else None,
                    timeout=_seconds(deadline),
                )
                heard = Words() if step.compiles else Tail(collector)
                stopped = follow_program(process, heard, stdin if last else None, stop)
                ended = exit_of(process) or ended
                if ended.exit_code != 0 and not stopped and not ended.timed_out:
                    self._explain(step, ended, heard.text, file, collector)
                elif step.compiles and heard.text:
                    collector.add_bytes("stderr", heard.text.encode())
                if ended.exit_code != 0 or stopped:
                    break
            if self._handler.name != SupportedLanguage.PYTHON:
                shown.take(collector)
        finally:
            # If the machine has ended, its files have with it.
            with contextlib.suppress(SandboxError):
                self._machine.sweep()
                self._sandbox.files.remove(folder, recursive=True)
                self._keep_up(variables)
        used = {"cpu_s": ended.cpu_s, "peak_rss": ended.peak_memory_bytes}
        return KernelRun(
            "ended",
            reply={"llm_sandbox": used},
            exit=ended,
            late=ended.timed_out and not stopped,
            stopped=stopped,
        )

    def _explain(
        self, step: Step, ended: Exit, words: str, file: str, collector: OutputBuffer
    ) -> None:
        """Say how it failed, in data, where the language can tell."""
        handler = self._handler
        if step.compiles:
            error = handler.compile_error(words, file)
            if error is None:
                last = (words.strip().splitlines() or ["the compiler failed"])[-1]
                error = ExecutionError("CompileError", last, kind="compile")
            collector.add_bytes("stderr", words.encode())
        else:
            error = handler.runtime_error(words, file)
            if error is None and ended.signal is not None and not ended.oom_killed:
                number = ended.signal
                error = ExecutionError(signal_name(number), signal_words(number))
        collector.set_error(error)

    def _keep_up(self, variables: Mapping[str, str]) -> None:
        """Start what makes the next run faster, unless it still runs; nothing waits for it."""
        step = self._handler.upkeep(self._setup.shim(self._machine))
        if step is not None and (self._upkeep is None or self._upkeep.poll() is not None):
            self._upkeep = self._sandbox.exec(
                *step.argv, env={**variables, **step.env}, timeout=_LONGEST_UPKEEP_S
            )

    def _source_name(self, code: str, argv: Sequence[str]) -> str:
        """What the file is called: as its author called it, where the language lets it be."""
        usual = self._handler.source_name(code)
        called = argv[0] if argv and self._handler.takes_names else usual
        return called if PurePosixPath(called).suffix == PurePosixPath(usual).suffix else usual

    def _words(self, step: Step) -> tuple[str, ...]:
        program, *rest = step.argv
        if program == self._handler.name == SupportedLanguage.PYTHON:
            # Where Python is called `python3` only, that is the one.
            program = self._machine.python() or program
        return (program, *rest)

    def _environment(
        self, env: Mapping[str, str], libraries: Sequence[str], displays: str
    ) -> dict[str, str]:
        if self._handler.name == SupportedLanguage.PYTHON:
            # A program finds modules beside itself; these are beside the user's files.
            paths = [self._sandbox.workdir, *libraries, env.get("PYTHONPATH", "")]
            return {
                "PYTHONPATH": ":".join(filter(None, paths)),
                "PYTHONUNBUFFERED": "1",
                "MPLBACKEND": env.get("MPLBACKEND", "Agg"),
            }
        found = self._setup.library_variables(libraries[-1:])
        variables = self._setup.environment(self._machine, found)
        shim = self._setup.shim(self._machine)
        return {
            **self._handler.program_environment(shim, displays),
            **variables,
            "LLM_SANDBOX_DISPLAYS": displays,
        }


def _seconds(deadline: Deadline) -> float | None:
    left = deadline.remaining()
    return None if left is None else max(left, _SHORTEST_S)
