"""Table of samples that shows itself."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from llm_sandbox.evaluation.first_failure import first_failure
from llm_sandbox.evaluation.quotation import quoted_line
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.exceptions import ValidationError

__all__ = ["ResultTable"]

_COLUMNS = ("sample", "task", "verdict", "what")
_MOST_ROWS = 20
_LONGEST_NAME = 60
_LONGEST_WORDS = 100


class ResultTable:
    """Samples of a run as a table: printed in a terminal, drawn in a notebook.

    Iteration gives the results, read anew each time. Hidden tests are not masked: the table is for
    the one who wrote them.

    Args:
        title: What the samples have in common.
        results: Returns the results.
        total: Number of the results.
    """

    def __init__(self, title: str, results: Callable[[], Iterable[SampleResult]], total: int):
        self.title = title
        self._results = results
        self._total = total

    def __len__(self) -> int:
        return self._total

    def __iter__(self) -> Iterator[SampleResult]:
        return iter(self._results())

    def head(self, n: int = 5) -> "ResultTable":
        """Return a table of the first rows.

        Raises:
            ValidationError: `n` is negative.
        """
        if n < 0:
            raise ValidationError(f"invalid n: expected a number from 0, got {n}", parameter="n")
        kept = min(n, self._total)
        return ResultTable(self.title, lambda: islice(self._results(), kept), kept)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the samples."""
        return tuple(result.id for result in self)

    def __str__(self) -> str:
        heading = f"{self._total:,} {self.title}"
        if not self._total:
            return heading
        rows = [_COLUMNS, *map(_row, islice(self, _MOST_ROWS))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        if self._total > _MOST_ROWS:
            lines.append(f"... {self._total - _MOST_ROWS:,} more")
        return "\n".join([heading, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from llm_sandbox.results.tables import Column, Table
        from llm_sandbox.results.tables.rendering import to_html

        columns = tuple(Column(name) for name in _COLUMNS)
        head = tuple(map(_row, islice(self, _MOST_ROWS)))
        shape = (self._total, len(columns))
        return to_html(Table(columns=columns, shape=shape, head=head, name=self.title))


def _row(result: SampleResult) -> tuple[str, ...]:
    failure = first_failure(result, reveal=True)
    words = ""
    if failure is not None:
        words = f"{failure.test}: {failure.words}" if failure.test else failure.words
    if result.flaky:
        words = f"verdicts {' '.join(result.verdicts)}; {words}".removesuffix("; ")
    return (
        quoted_line(result.id, _LONGEST_NAME),
        quoted_line(result.task or "", _LONGEST_NAME),
        str(result.verdict),
        quoted_line(words, _LONGEST_WORDS),
    )
