"""Live printing of a program's output."""

import contextlib
import sys
import threading
import time
from typing import Literal, TextIO

from llm_sandbox.adapters.sbx_agents.session import StreamFilter
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.sandbox import Process

__all__ = ["LinePrinter", "stream_output"]

_QUIET_S = 30.0
_SILENCE_NOTE = "no output yet; the sandbox is still at work\n"


class LinePrinter:
    """Printer of filtered lines to the streams of this process.

    Safe to use from several threads.

    Args:
        line_filter: Filter of each line; None prints all.
    """

    def __init__(self, line_filter: StreamFilter | None) -> None:
        self._filter = line_filter
        self._lock = threading.Lock()
        self.last = time.monotonic()
        """Time of the last line, on the monotonic clock."""
        self.failure: BaseException | None = None
        """Exception raised by the filter, after which nothing is printed."""

    def print_line(self, line: str, source: Literal["stdout", "stderr"]) -> None:
        """Print a line, unless the filter hides it."""
        self.last = time.monotonic()
        if self.failure is not None:
            return
        try:
            shown = line if self._filter is None else self._filter(line, source)
        except Exception as error:  # noqa: BLE001 - raised again by who waits for the program
            self.failure = error
            return
        if shown is None:
            return
        # trust: a terminal would obey what programs inside write to it.
        clean = strip_controls(shown)
        self._write(
            sys.stdout if source == "stdout" else sys.stderr,
            clean if clean.endswith("\n") else f"{clean}\n",
        )

    def report_silence(self) -> None:
        """Print that the program still runs, if there was no line for half a minute."""
        if time.monotonic() - self.last >= _QUIET_S:
            self.last = time.monotonic()
            self._write(sys.stderr, _SILENCE_NOTE)

    def _write(self, target: TextIO, text: str) -> None:
        with self._lock:
            target.write(text)
            target.flush()


def stream_output(process: Process, line_filter: StreamFilter | None) -> None:
    """Print the output of a program until it ends.

    Raises:
        Exception: The exception of the filter, after the end of the program.
    """
    printer = LinePrinter(line_filter)

    def follow(source: Literal["stdout", "stderr"]) -> None:
        for line in process.stdout if source == "stdout" else process.stderr:
            printer.print_line(line, source)

    sources: tuple[Literal["stdout", "stderr"], ...] = ("stdout", "stderr")
    threads = [threading.Thread(target=follow, args=(name,), daemon=True) for name in sources]
    for thread in threads:
        thread.start()
    while process.poll() is None:
        with contextlib.suppress(SandboxTimeoutError):
            process.wait(_QUIET_S)
        printer.report_silence()
    for thread in threads:
        thread.join()
    if printer.failure is not None:
        raise printer.failure
