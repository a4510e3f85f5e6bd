"""Runs of code as whole programs: for languages without a kernel, and Pythons that cannot run one.

A program's displays are files that it, or what draws for it, writes to a folder.
"""

import base64
import collections
import contextlib
import json
import re
import secrets
import select
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from llm_sandbox.backends.base import Exit, Machine
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.guest.json_limits import MOST_SHOWN, find_excess
from llm_sandbox.host.guest_numbers import signal_name, signal_words
from llm_sandbox.host.wake import Wake
from llm_sandbox.kernel.client import KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer, StreamName
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler, Step
from llm_sandbox.limits import Deadline
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.sandbox import PIPE, Process, Sandbox
from llm_sandbox.sandbox.files import SandboxFiles
from llm_sandbox.sandbox.process import exit_of
from llm_sandbox.sandbox.streams import OutputStream, iterate_bytes
from llm_sandbox.session.kernel_setup import KernelSetup

__all__ = ["ProgramRunner", "figure_notes"]

_DRAWS = re.compile(r"\b(?:matplotlib|plotly|pyplot|seaborn|altair|bokeh)\b")

_RUN_PARENT = "/tmp"  # noqa: S108 - inside the sandbox
_MIN_TIMEOUT_S = 0.001
_UPKEEP_S = 60.0
_COMPILER_BYTES = 1 << 20
_STDERR_TAIL_BYTES = 64 << 10
_MAX_DISPLAYS = 1000
_MIMES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
_TEXT = ("text/", "image/svg")
_BUNDLE = ".bundle.json"
"""Suffix of a file that holds a MIME bundle: an object of type to text, JSON or base64. Its key
``metadata`` is the display's metadata, which says, for example, that HTML is a plot."""


def figure_notes(code: str) -> tuple[str, ...]:
    """Return the note about figures of a Python program, which nothing captures."""
    if not _DRAWS.search(code):
        return ()
    note = (
        "Figures are captured by a kernel, and this sandbox's Python has none: save them to files, "
        "or use persistent=True, which installs a kernel."
    )
    return (note,)


class ProgramRunner:
    """Runner of code as programs of their own. For one thread at a time.

    Nothing observes such a program from inside: its result has no observations.

    Args:
        sandbox: The session's sandbox.
        machine: The sandbox's machine.
        handler: The language.
        setup: The language's files and variables.
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
        """Run code to its end; no process that it started outlives it.

        Args:
            code: The program.
            collector: Receives its output.
            deadline: When it is killed.
            env: The caller's environment variables.
            library_paths: Folders of installed libraries.
            argv: Its name and arguments; empty for neither.
            stdin: Lines for its standard input; None for an empty one.
            stop: Kills it when asked.

        Raises:
            LaunchError: The machine lacks the program that runs this language.
            FileError: The code could not be written to the machine's ``/tmp``.
        """
        # Outside the working directory, whose files are the user's. The name is random: a run
        # cannot prepare files that the next one executes.
        folder = f"{_RUN_PARENT}/.llm-sandbox-{secrets.token_hex(8)}"
        file = f"{folder}/{self._source_name(code, argv)}"
        # A kernel leaves that to IPython.
        is_python = self._handler.name == SupportedLanguage.PYTHON
        self._sandbox.files.write_text(file, textwrap.dedent(code) if is_python else code)
        displays = _ProgramDisplays(self._sandbox.files, f"{folder}/displays")
        variables = self._environment(env, library_paths, displays.folder)
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
                output = _CompilerOutput() if step.compiles else _ProgramOutput(collector)
                stopped = _follow(process, output, stdin if last else None, stop)
                ended = exit_of(process) or ended
                if ended.exit_code != 0 and not stopped and not ended.timed_out:
                    self._set_error(step, ended, output.text, file, collector)
                elif step.compiles and output.text:
                    collector.add_bytes("stderr", output.text.encode())
                if ended.exit_code != 0 or stopped:
                    break
            if not is_python:
                displays.collect(collector)
        finally:
            # Files end with their machine.
            with contextlib.suppress(SandboxError):
                self._machine.sweep()
                self._sandbox.files.remove(folder, recursive=True)
                self._start_upkeep(variables)
        used = {"cpu_s": ended.cpu_s, "peak_rss": ended.peak_memory_bytes}
        return KernelRun(
            "ended",
            reply={"llm_sandbox": used},
            exit=ended,
            late=ended.timed_out and not stopped,
            stopped=stopped,
        )

    def _set_error(
        self, step: Step, ended: Exit, words: str, file: str, collector: OutputBuffer
    ) -> None:
        """Set the run's error, where the language can read it from the output."""
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

    def _start_upkeep(self, variables: Mapping[str, str]) -> None:
        """Start a program that makes the next run faster, unless it still runs; do not wait."""
        step = self._handler.upkeep(self._setup.shim(self._machine))
        if step is not None and (self._upkeep is None or self._upkeep.poll() is not None):
            self._upkeep = self._sandbox.exec(
                *step.argv, env={**variables, **step.env}, timeout=_UPKEEP_S
            )

    def _source_name(self, code: str, argv: Sequence[str]) -> str:
        """Return the file's name: the one in `argv`, where the language accepts it."""
        usual = self._handler.source_name(code)
        called = argv[0] if argv and self._handler.takes_names else usual
        return called if PurePosixPath(called).suffix == PurePosixPath(usual).suffix else usual

    def _words(self, step: Step) -> tuple[str, ...]:
        program, *rest = step.argv
        if program == self._handler.name == SupportedLanguage.PYTHON:
            # Python may be installed as `python3` only.
            program = self._machine.python() or program
        return (program, *rest)

    def _environment(
        self, env: Mapping[str, str], libraries: Sequence[str], displays: str
    ) -> dict[str, str]:
        if self._handler.name == SupportedLanguage.PYTHON:
            # A program imports modules beside its file; the user's are in the working directory.
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
    return None if left is None else max(left, _MIN_TIMEOUT_S)


class _CompilerOutput:
    """Output of a compiler, kept to be read for errors."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def add(self, name: StreamName, data: bytes) -> None:
        """Receive a piece of one of its streams."""
        del name
        self._kept += data[: max(0, _COMPILER_BYTES - len(self._kept))]

    def add_dropped(self, name: StreamName, count: int) -> None:
        """Receive the number of bytes of a stream that were dropped."""

    @property
    def text(self) -> str:
        """The output, up to a megabyte."""
        return self._kept.decode("utf-8", "backslashreplace")


class _ProgramOutput:
    """Output of a program: passed to the run's collector, the end of standard error kept.

    Args:
        collector: Receives it.
    """

    def __init__(self, collector: OutputBuffer) -> None:
        self._collector = collector
        self._end = b""

    def add(self, name: StreamName, data: bytes) -> None:
        """Receive a piece of one of its streams."""
        self._collector.add_bytes(name, data)
        if name == "stderr":
            self._end = (self._end + data[-_STDERR_TAIL_BYTES:])[-_STDERR_TAIL_BYTES:]

    def add_dropped(self, name: StreamName, count: int) -> None:
        """Receive the number of bytes of a stream that were dropped."""
        self._collector.add_dropped({name: count})

    @property
    def text(self) -> str:
        """The end of its standard error."""
        return self._end.decode("utf-8", "backslashreplace")


def _follow(
    process: Process,
    output: _CompilerOutput | _ProgramOutput,
    stdin: Iterator[str] | None,
    stop: Stop | None,
) -> bool:
    """Receive a program's output until it has ended.

    Returns:
        Whether it was stopped.
    """
    streams = _MergedStreams(process)
    feeder = _Feeder(process, stdin) if process.stdin is not None and stdin is not None else None
    stopped = False
    try:
        while streams.is_open:
            if streams.wait(None if stopped else stop):
                stopped = True
                process.kill()
            for name, data in streams.take():
                output.add(name, data)
        process.wait()
    except BaseException:
        process.kill()
        raise
    finally:
        streams.close()
    for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
        output.add_dropped(name, stream.dropped_bytes)
    if feeder is not None and feeder.failure is not None:
        raise feeder.failure
    return stopped


class _MergedStreams:
    """Both output streams of a program, merged into one thread in order of arrival."""

    def __init__(self, process: Process) -> None:
        self._pieces: collections.deque[tuple[StreamName, bytes]] = collections.deque()
        self._wake = Wake()
        self._threads = [
            threading.Thread(target=self._read, args=pair, name="llm-sandbox-read", daemon=True)
            for pair in (("stdout", process.stdout), ("stderr", process.stderr))
        ]
        self._left = len(self._threads)
        for thread in self._threads:
            thread.start()

    def _read(self, name: StreamName, stream: OutputStream) -> None:
        for data in iterate_bytes(stream):
            self._pieces.append((name, data))
            self._wake.set()
        self._pieces.append((name, b""))
        self._wake.set()

    @property
    def is_open(self) -> bool:
        """Whether more output may arrive."""
        return self._left > 0

    def wait(self, stop: Stop | None) -> bool:
        """Wait for output or for `stop`; return whether `stop` was asked."""
        poll, wake = select.poll(), self._wake.fileno()
        poll.register(wake, select.POLLIN)
        if stop is not None:
            poll.register(stop, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if wake in ready:
            self._wake.clear()
        return any(fd != wake for fd in ready)

    def take(self) -> Iterator[tuple[StreamName, bytes]]:
        """Yield the output that has arrived."""
        while self._pieces:
            name, data = self._pieces.popleft()
            if data:
                yield name, data
            else:
                self._left -= 1

    def close(self) -> None:
        """Join the threads, which end when the program's streams do."""
        for thread in self._threads:
            thread.join()
        self._wake.close()


class _Feeder:
    """Writer of lines to a program's standard input, no faster than it reads them."""

    def __init__(self, process: Process, lines: Iterator[str]) -> None:
        self.failure: BaseException | None = None
        self._process = process
        self._lines = lines
        threading.Thread(target=self._feed, name="llm-sandbox-feed", daemon=True).start()

    def _feed(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            for line in self._lines:
                stream.write(f"{line}\n")
                stream.drain()
        except BrokenPipeError:
            return  # the program has closed its standard input
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread
            self.failure = error
            self._process.kill()
        finally:
            stream.write_eof()


class _ProgramDisplays:
    """Folder of a program's displays, named by ``LLM_SANDBOX_DISPLAYS``.

    Args:
        files: The machine's files.
        folder: Its path; the writer of the first file makes it.
    """

    def __init__(self, files: SandboxFiles, folder: str) -> None:
        self._files = files
        self.folder = folder

    def collect(self, collector: OutputBuffer) -> None:
        """Add the displays to a run's outputs, in the order of names.

        Never raises for an error in the sandbox.
        """
        try:
            if not self._files.exists(self.folder):
                return
            entries = sorted(self._files.list(self.folder), key=lambda entry: entry.name)[
                :_MAX_DISPLAYS
            ]
        except SandboxError:
            return
        for entry in entries:
            self._add(entry.name, collector)

    def _add(self, name: str, collector: OutputBuffer) -> None:
        try:
            content = self._files.read_bytes(f"{self.folder}/{name}")
        except SandboxError:
            return  # removed, not a file, or larger than any display
        # trust: written inside; types are checked by the collector.
        data = _bundle(name, content)
        metadata = data.pop("metadata", {})
        if not metadata and any(mime.startswith("image/") for mime in data):
            # A displayed image is a plot, as in sessions with a kernel.
            metadata = {"llm_sandbox": {"kind": "plot"}}
        if data:
            display = {"data": data, "metadata": metadata if isinstance(metadata, dict) else {}}
            if collector.admits("display_data", len(content)):
                collector.add_message("display_data", display)


def _bundle(name: str, content: bytes) -> dict[str, object]:
    if name.endswith(_BUNDLE):
        if find_excess(content, largest=len(content), most_values=MOST_SHOWN):
            return {}
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    mime = _MIMES.get(name[name.rfind(".") :].lower())
    if mime is None:
        return {}
    if mime.startswith(_TEXT):
        return {mime: content.decode("utf-8", "replace")}
    return {mime: base64.b64encode(content).decode()}
