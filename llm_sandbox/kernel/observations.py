"""What a kernel says that it saw a run do, made fit to be kept."""

from llm_sandbox.guest.watched import MOST, SUBJECT, is_possible
from llm_sandbox.results.findings import Observation

__all__ = ["Observed"]

_LARGEST_COUNT = 1 << 53
_STARTS = ("process.run", "process.fork")
_MOST_CALLS = 2 * MOST


class Observed:
    """Merges the reports of one run: those that come at once, and the one with the reply.

    Of a run that ended without its reply it is known what was seen, and not how often. Where there
    is no kernel, nothing reports.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self._calls = 0

    def add(self, report: object) -> None:
        """Take a report in; what in it cannot be an observation is passed over."""
        self._calls += 1
        if not isinstance(report, list) or self._calls > _MOST_CALLS:
            return
        # trust: made inside, where user code can forge it: types, words and numbers are checked.
        for entry in report[:MOST]:
            if not isinstance(entry, list) or len(entry) != 4:
                continue
            event, capability, subject, count = entry
            if not all(isinstance(word, str) for word in (event, capability, subject)):
                continue
            if not is_possible(event, capability) or not _is_count(count):
                continue
            text = subject[:SUBJECT].encode("utf-8", "backslashreplace").decode()[:SUBJECT]
            key = (event, capability, text)
            if key in self._counts or len(self._counts) < MOST:
                self._counts[key] = max(count, self._counts.get(key, 0))

    @property
    def started_process(self) -> bool:
        """Whether it was seen to start a process."""
        return any(capability in _STARTS for _, capability, _ in self._counts)

    @property
    def is_full(self) -> bool:
        """Whether no more are kept."""
        return len(self._counts) >= MOST

    def finish(self) -> tuple[Observation, ...]:
        """The observations, in the order in which they were first made."""
        return tuple(Observation(*key, count) for key, count in self._counts.items())


def _is_count(value: object) -> bool:
    return type(value) is int and 0 < value < _LARGEST_COUNT
