"""Source text of a program, with lines, columns and snippets."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from llm_sandbox.results.findings import Span

__all__ = ["Source"]

_SNIPPET = 200


@dataclass(frozen=True)
class Source:
    r"""Source text of a program. Lines end at ``\n``, ``\r\n`` or ``\r``.

    Args:
        text: The text, unchanged.
        lang: Name of the language, such as ``python``.
        notebook: Whether the program is a cell for an IPython kernel; None when that depends on the
            text.
    """

    text: str
    lang: str
    notebook: bool | None = None

    @cached_property
    def starts(self) -> list[int]:
        """Offset of each line's first character."""
        starts, at, text = [0], 0, self.text
        for line in text.replace("\r\n", "\n\n").replace("\r", "\n").split("\n")[:-1]:
            at += len(line) + 1
            starts.append(at)
        return _without_halves(starts, text)

    @property
    def last_line(self) -> int:
        """Number of the last line."""
        return len(self.starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both from 1."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and column."""
        line = min(max(line, 1), self.last_line)
        return min(self.starts[line - 1] + max(column, 1) - 1, len(self.text))

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        return Span(*self.position(start), *self.position(end))

    def line_span(self, line: int) -> Span:
        """Return the span of a whole line without its end."""
        text = self.line(line)
        return Span(line, 1, line, len(text) + 1)

    def line(self, line: int) -> str:
        """Return a line without its end."""
        start = self.offset(line, 1)
        end = self.starts[line] if line < self.last_line else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def snippet(self, span: Span) -> str:
        """Return the first line of the code in a span, at most 200 characters of it."""
        text = self.line(span.line)
        end = span.end_column - 1 if span.end_line == span.line else len(text)
        return text[span.column - 1 : end].strip()[:_SNIPPET]


def _without_halves(starts: list[int], text: str) -> list[int]:
    # The two characters of a line end were counted as two lines above.
    return [at for at in starts if not (at and text[at - 1 : at + 1] == "\r\n")]
