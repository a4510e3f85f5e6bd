"""Places of syntax nodes in the text, in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Span

if TYPE_CHECKING:
    from llm_sandbox.security.source import Source

__all__ = ["Positions"]


class Positions:
    """Tells where nodes are. The parser counts columns in bytes of UTF-8.

    Args:
        source: The program.
        first_line: Line of the text that the parser's line 1 is.
        shift: Characters before the parser's first column, on that line.
    """

    def __init__(self, source: Source, first_line: int = 1, shift: int = 0) -> None:
        self.source = source
        self.first_line = first_line
        self.shift = shift
        self.is_ascii = source.text.isascii()
        self._bytes: dict[int, bytes] = {}

    def span(self, node: Any) -> Span:
        """Return the span of a node, or of a span within the text that the parser saw."""
        more = self.first_line - 1
        if isinstance(node, Span):
            return Span(node.line + more, node.column, node.end_line + more, node.end_column)
        line, end_line = node.lineno, node.end_lineno
        column, end_column = node.col_offset, node.end_col_offset
        if not self.is_ascii:
            column, end_column = self._column(line, column), self._column(end_line, end_column)
        if self.shift:
            column += self.shift if line == 1 else 0
            end_column += self.shift if end_line == 1 else 0
        return Span(line + more, column + 1, end_line + more, end_column + 1)

    def _column(self, line: int, column: int) -> int:
        data = self._bytes.get(line)
        if data is None:
            text = self.source.line(line + self.first_line - 1)
            if self.shift and line == 1:
                text = text[self.shift :]
            data = self._bytes[line] = text.encode("utf-8", "replace")
        return len(data[:column].decode("utf-8", "ignore"))
