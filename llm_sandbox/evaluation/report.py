"""Report of a run: its counts, its tables, and its files."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from llm_sandbox.evaluation.first_failure import FirstFailure, first_failure
from llm_sandbox.evaluation.journal import Journal, JournalResults, read_journal
from llm_sandbox.evaluation.quotation import quoted_line, quoted_output
from llm_sandbox.evaluation.result_table import ResultTable
from llm_sandbox.evaluation.results import Integrity, SampleResult
from llm_sandbox.evaluation.run_summary import RunSummary
from llm_sandbox.evaluation.statistics import Interval, pass_at_k_of_tasks
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.views.sanitize import fenced

__all__ = ["Report", "ReportSource"]

ReportSource: TypeAlias = str | os.PathLike[str] | Journal | JournalResults | Iterable[SampleResult]
"""What a report is made of: the path of a journal, a journal, or results."""

_USUAL_K = (1, 5, 10, 100)
_INTEGRITIES: tuple[Integrity, ...] = ("isolated", "proxy", "inline")
_LONGEST_TEXT = 600


class Report:
    """Report of a run.

    Of a journal, results are read anew for each view, so that memory does not grow with the run.
    What a later run appends is not part of it.

    Args:
        source: The path of a journal, a journal, or results.

    Raises:
        FileNotFoundError: There is no such journal.
        ValidationError: The file is no journal.
    """

    def __init__(self, source: ReportSource) -> None:
        self.header: Mapping[str, Any] = {}
        """Header of the journal; empty without one."""
        self.unreadable = 0
        """Number of damaged lines of the journal, which are not counted."""
        if isinstance(source, str | os.PathLike):
            source = read_journal(source)
        elif isinstance(source, Journal):
            source = source.results()
        if isinstance(source, JournalResults):
            self.header, self.unreadable = source.header, source.unreadable
            self._results: JournalResults | Sequence[SampleResult] = source
        else:
            self._results = tuple(source)
        # Some views have the same interval, and each takes thousands of samples of the tasks.
        self._intervals: dict[tuple[int, float], Interval] = {}

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[SampleResult]:
        return iter(self._results)

    @cached_property
    def summary(self) -> RunSummary:
        """All counts of the run."""
        return RunSummary.of(self)

    def by_verdict(self) -> dict[Verdict, int]:
        """Return the number of samples by verdict, in the order of `Verdict`."""
        found = self.summary.verdicts
        return {verdict: found[verdict] for verdict in Verdict if found[verdict]}

    def by_integrity(self) -> dict[Integrity, int]:
        """Return the number of scored samples by where their verdict was decided."""
        return {name: self.summary.integrity[name] for name in _INTEGRITIES}

    def pass_at_k(
        self, ks: int | Sequence[int] = (1,), *, confidence: float = 0.95
    ) -> dict[int, Interval]:
        """Return pass@k with its interval for each k.

        Samples without a score do not count; `unscored` has their number. An interval's `left_out`
        is the number of tasks with fewer than k scored samples.

        Args:
            ks: Numbers of samples that a user may try.
            confidence: Share of the intervals.

        Raises:
            ValidationError: No task has that many scored samples, or a value is invalid.
        """
        counts = {name: (one.scored, one.correct) for name, one in self.summary.tasks.items()}
        found = {}
        for k in [ks] if isinstance(ks, int) else ks:
            if (k, confidence) not in self._intervals:
                interval = pass_at_k_of_tasks(counts, k, confidence=confidence)
                self._intervals[k, confidence] = interval
            found[k] = self._intervals[k, confidence]
        return found

    def score(self) -> float | None:
        """Return the mean score, by the weights of the samples; None if there is no score."""
        if not self.summary.weight:
            return None
        return self.summary.weighted_score / self.summary.weight

    @property
    def unscored(self) -> int:
        """Number of samples without a score, since the sandbox failed."""
        return self.summary.unscored

    @property
    def contended(self) -> int:
        """Number of samples that other work on the machine delayed."""
        return self.summary.contended

    def failures(self, verdicts: Iterable[Verdict] | None = None) -> ResultTable:
        """Return the samples that failed.

        Args:
            verdicts: Verdicts to list; None for all but ``AC``, ``IE`` and ``SK``.
        """
        others = (Verdict.ACCEPTED, Verdict.INFRA_ERROR, Verdict.SKIPPED)
        chosen = frozenset(set(Verdict).difference(others) if verdicts is None else verdicts)
        total = sum(self.summary.verdicts[verdict] for verdict in chosen)
        return self._table("failures", lambda result: result.verdict in chosen, total)

    def flaky(self) -> ResultTable:
        """Return the samples whose repeated evaluations had different verdicts."""
        return self._table("flaky samples", lambda result: result.flaky, self.summary.flaky)

    def _table(
        self, title: str, matches: Callable[[SampleResult], bool], total: int
    ) -> ResultTable:
        return ResultTable(title, lambda: (one for one in self if matches(one)), total)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Evaluation",
        reveal: bool = False,
        most: int = 500,
    ) -> Path:
        """Write the report as one HTML file, without scripts or anything from elsewhere.

        Args:
            path: The file; replaced if it exists.
            title: Heading of the page.
            reveal: Whether to show hidden tests: what they expected, and the program's output.
            most: Most tasks whose first failure is shown; more are counted.

        Returns:
            The path.

        Raises:
            OSError: The file cannot be written.
            ValidationError: `most` is negative.
        """
        from llm_sandbox.evaluation.html_report import html_report

        page = html_report(self, title=title, reveal=reveal, most=most)
        target = Path(path)
        target.write_text(page, encoding="utf-8")
        return target

    def to_junit(self, path: str | os.PathLike[str], *, reveal: bool = False) -> Path:
        """Write the report as JUnit XML: a suite for each task, a case for each sample.

        Args:
            path: The file; replaced if it exists.
            reveal: Whether to show hidden tests: what they expected, and the program's output.

        Returns:
            The path.

        Raises:
            OSError: The file cannot be written.
        """
        from llm_sandbox.evaluation.junit_report import junit_report

        target = Path(path)
        target.write_bytes(junit_report(self, reveal=reveal))
        return target

    def for_llm(self, *, reveal: bool = False, most: int = 50) -> str:
        """Return a text for a model: counts, and what went wrong first in each failed sample.

        Args:
            reveal: Whether to show hidden tests. If not, a failure of one has its number, its
                verdict and at most the name of a built-in exception.
            most: Most samples to describe; more are counted.

        Raises:
            ValidationError: `most` is negative.
        """
        if most < 0:
            raise ValidationError(
                f"invalid most: expected a number from 0, got {most}", parameter="most"
            )
        passed = self.summary.verdicts[Verdict.ACCEPTED]
        parts = [f"{passed:,} of {len(self):,} samples passed."]
        shown = 0
        for result in self:
            failure = first_failure(result, reveal=reveal)
            if failure is None:
                continue
            if shown == most:
                break
            shown += 1
            parts.append(_for_llm(result, failure, reveal))
        left = len(self) - passed - shown
        if left:
            parts.append(f"{left:,} more samples did not pass.")
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from llm_sandbox.evaluation.html_report import html_fragment

        return html_fragment(self)

    def usual_pass_at_k(self) -> dict[int, Interval]:
        """Return pass@k for 1, 5, 10 and 100, as far as a task has that many scored samples."""
        most = max((task.scored for task in self.summary.tasks.values()), default=0)
        return self.pass_at_k([k for k in _USUAL_K if k <= most])

    def _lines(self) -> Iterator[str]:
        summary = self.summary
        yield f"{_counted(summary.samples, 'sample')} of {_counted(len(summary.tasks), 'task')}"
        for k, interval in self.usual_pass_at_k().items():
            left = (
                f", {_counted(interval.left_out, 'task')} without as many scored samples"
                if interval.left_out
                else ""
            )
            yield f"pass@{k}: {interval}{left}"
        score = self.score()
        if score is not None:
            yield f"score: {score:.3f}"
        for verdict, count in self.by_verdict().items():
            yield f"{verdict:<4}{count:>8,}  {count / summary.samples:6.1%}  {verdict.words}"
        yield from self.notes()

    def notes(self) -> list[str]:
        """Return sentences about what limits the figures: failures of the sandbox, contention."""
        summary = self.summary
        scored = summary.samples - summary.unscored
        inline = summary.integrity["inline"]
        facts = [
            (summary.unscored, "without a score, since the sandbox failed: not counted"),
            (inline, f"decided in the candidate's own process ({inline / (scored or 1):.1%})"),
            (summary.contended, "delayed by other work on the machine"),
            (summary.flaky, "flaky: different verdicts of the same code"),
        ]
        found = [f"{_counted(number, 'sample')} {words}" for number, words in facts if number]
        if summary.reruns or summary.retries:
            tests, samples = _counted(summary.reruns, "test"), _counted(summary.retries, "sample")
            found.append(f"repeated: {tests}, {samples} after a failure of the sandbox")
        if self.unreadable:
            lines = _counted(self.unreadable, "line")
            found.append(f"{lines} of the journal damaged: not counted")
        return found


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _for_llm(result: SampleResult, failure: FirstFailure, reveal: bool) -> str:
    name = quoted_line(result.id, 100)
    if failure.verdict is Verdict.INFRA_ERROR and not reveal:
        return f"{name}: not graded, the sandbox failed."
    run = [test for test in result.tests if test.verdict is not Verdict.SKIPPED]
    passed = sum(test.verdict is Verdict.ACCEPTED for test in run)
    lines = [f"{name}: {failure.verdict.words}, {passed} of {len(result.tests)} tests passed."]
    if not result.tests:
        lines = [f"{name}: {failure.words}."]
    else:
        hidden = " (hidden)" if failure.is_masked else ""
        lines.append(f"{failure.test or 'Before any test'}{hidden}: {failure.words}.")
    sides = failure.difference
    if sides is not None:
        lines += [f"Expected:\n{_quote(sides.expected)}", f"Got:\n{_quote(sides.actual)}"]
    if failure.stderr:
        lines.append(f"End of stderr:\n{_quote(failure.stderr)}")
    return "\n".join(lines)


def _quote(text: str) -> str:
    # trust: outputs of the candidate, for a model: between fences that they cannot imitate.
    return fenced(quoted_output(text, _LONGEST_TEXT))
