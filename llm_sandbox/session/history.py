"""History of a session's runs, for notebooks and reports."""

import collections
from typing import NamedTuple

from llm_sandbox.data import ExecutionResult
from llm_sandbox.results.outputs import ErrorOutput

__all__ = ["History", "HistoryEntry"]

_MOST_RUNS = 10_000
_MOST_CHARACTERS = 64 << 20


class HistoryEntry(NamedTuple):
    """Run in the history."""

    code: str
    """The code of the run."""
    result: ExecutionResult
    """Result of the run."""


class History:
    """The runs of a session, oldest first; the oldest are dropped when there are too many.

    10,000 runs are kept, and 64 million characters of code and text; displays are stored outside of
    the heap.
    """

    def __init__(self) -> None:
        self._entries: collections.deque[HistoryEntry] = collections.deque()
        self._characters = 0
        self.dropped = 0
        """Number of runs that were dropped."""

    def add(self, code: str, result: ExecutionResult) -> None:
        """Add a run."""
        self._entries.append(HistoryEntry(code, result))
        self._characters += _weight(self._entries[-1])
        while len(self._entries) > 1 and (
            len(self._entries) > _MOST_RUNS or self._characters > _MOST_CHARACTERS
        ):
            self._characters -= _weight(self._entries.popleft())
            self.dropped += 1

    @property
    def entries(self) -> tuple[HistoryEntry, ...]:
        """The runs, oldest first."""
        return tuple(self._entries)


def _weight(entry: HistoryEntry) -> int:
    result = entry.result
    errors = [output for output in result.outputs if isinstance(output, ErrorOutput)]
    texts = [text for error in errors for text in (error.value, *error.traceback)]
    return sum(map(len, (entry.code, result.stdout, result.stderr, *texts)))
