"""Output to the terminal: sanitised text of programs, and this command's own messages."""

import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from llm_sandbox.host.terminal import strip_controls

if TYPE_CHECKING:
    from llm_sandbox.results.outputs import ErrorOutput

__all__ = [
    "Progress",
    "StreamWriter",
    "error_text",
    "format_age",
    "hold_back",
    "in_option_words",
    "plain_text",
    "print_table",
    "say",
    "styled",
]

_SHOWN_AFTER_S = 0.3
_LONGEST_SEQUENCE = 4096

# A sequence that has begun and has not ended, or a carriage return whose newline may follow.
_UNFINISHED = re.compile(
    r"(?:(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*+\x1b?"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+|\x1b[ -/]*+|\r)\Z"
)

_OPTION_WORDS = {
    "network='internet'": "--network internet",
    "network='open'": "--network open",
    "Limits(memory_bytes=...)": "--memory",
    "run(code, stdin='...')": "--stdin FILE",
    "run(code, libraries=['...'])": "--lib NAME",
    "backend='docker'": "--backend docker",
    "tasks=load_dataset(...)": "--dataset FILE",
    'on_error="skip"': "--skip-bad",
    "image= is": "--image is",
    "Sandbox.list() has those": "llm-sandbox ps lists those",
    "backend='local'": "--backend local",
    "backend='bubblewrap'": "--backend bubblewrap",
}


def hold_back(text: str) -> tuple[str, str]:
    """Split off an incomplete control sequence at the end of a text.

    Returns:
        The text before the sequence, and the incomplete sequence, which waits for the next piece.
    """
    # Only the last introducer can be unfinished; what is longer than any real sequence is not one.
    start = max(text.rfind(mark, len(text) - _LONGEST_SEQUENCE) for mark in _INTRODUCERS)
    if start < 0:
        return text, ""
    # `ESC \` ends a string that an earlier introducer began.
    earlier = text.rfind("\x1b", max(0, start - _LONGEST_SEQUENCE), start)
    for begin in (earlier, start):
        if begin >= 0 and _UNFINISHED.match(text, begin):
            return text[:begin], text[begin:]
    return text, ""


_INTRODUCERS = ("\x1b", "\x90", "\x98", "\x9b", "\x9d", "\x9e", "\x9f", "\r")


class StreamWriter:
    """Writer of a program's text to a standard stream, without buffering.

    A terminal gets it without control sequences; a file or pipe gets it as it is.

    Args:
        stream: Stream to write to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._waiting = ""
        self._at_line_start = True

    def write(self, text: str) -> None:
        """Write a piece of text.

        Raises:
            OSError: The stream cannot be written to.
        """
        if self._is_terminal:
            # trust: a terminal obeys what it is sent, and these bytes come from inside.
            shown, self._waiting = hold_back(self._waiting + text)
            text = strip_controls(shown)
        self._put(text)

    @property
    def is_terminal(self) -> bool:
        """Whether the stream is a terminal."""
        return self._is_terminal

    def draw(self, text: str) -> None:
        """Write trusted text, control sequences included, on a line of its own.

        Raises:
            OSError: The stream cannot be written to.
        """
        self.end_line()
        self._put(text)

    def end_line(self) -> None:
        """Write the held-back text, and end an unfinished line on a terminal."""
        waiting, self._waiting = self._waiting, ""
        if waiting:
            self._put(strip_controls(waiting))
        if self._is_terminal and not self._at_line_start:
            self._put("\n")

    def _put(self, text: str) -> None:
        if not text:
            return
        self._stream.flush()
        self._stream.buffer.write(text.encode("utf-8", "backslashreplace"))
        self._stream.buffer.flush()
        self._at_line_start = text.endswith("\n")


def plain_text(data: Mapping[str, object]) -> str | None:
    """Return the text of a MIME bundle that is not a picture; None without any."""
    if any(mime.startswith("image/") or mime in _PICTURES for mime in data):
        return None
    text = data.get("text/plain")
    return text if isinstance(text, str) else None


def error_text(error: "ErrorOutput") -> str:
    """Return the traceback text of an uncaught exception."""
    return "\n".join(error.traceback or (f"{error.name}: {error.value}",)) + "\n"


_PICTURES = ("application/pdf", "application/vnd.plotly.v1+json")


def styled(text: str, code: str) -> str:
    """Return text in an ANSI style for stderr; unchanged where colours are off."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return f"\x1b[{code}m{text}\x1b[0m" if sys.stderr.isatty() and not refused else text


def say(message: str, hint: str | None = None) -> None:
    """Print a message to stderr, with its hint on a line of its own."""
    prefix = styled("llm-sandbox:", "1")
    # trust: an error's message may quote what came from inside.
    print(f"{prefix} {in_option_words(strip_controls(message))}", file=sys.stderr, flush=True)
    if hint:
        text = in_option_words(strip_controls(hint))
        print(f"{styled('hint:', '1')} {text}", file=sys.stderr, flush=True)


def in_option_words(text: str) -> str:
    """Replace parameter names of the library by options of the command line."""
    for parameter, option in _OPTION_WORDS.items():
        text = text.replace(parameter, option)
    return text


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows as left-aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def format_age(seconds: float) -> str:
    """Return a duration in its largest unit of which it has at least two, such as ``3h``."""
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


class Progress:
    """Progress message on a terminal's stderr, shown after a short delay.

    Args:
        text: The message.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def _show(self) -> None:
        if self._done.wait(_SHOWN_AFTER_S):
            return
        from rich.console import Console

        with Console(stderr=True).status(self._text, spinner="dots"):
            self._done.wait()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
