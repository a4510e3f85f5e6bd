"""Comparison of two runs, sample by sample."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llm_sandbox.evaluation.journal_header import header_differences
from llm_sandbox.evaluation.quotation import quoted_line
from llm_sandbox.evaluation.report import Report
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.statistics import McNemar, mcnemar
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["RunComparison", "VerdictChange", "compare"]

_MOST_NAMES = 10
_MOST_CHANGES = 20
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """Sample whose verdict is another in the second run."""

    id: str
    """Id of the sample."""
    before: Verdict
    """Verdict in the first run."""
    after: Verdict
    """Verdict in the second run."""
    same_code: bool = False
    """Whether both runs had the same code: the change came from the tests, the limits or chance."""

    def __str__(self) -> str:
        same = " (same code)" if self.same_code else ""
        return f"{quoted_line(self.id, _LONGEST_NAME)}: {self.before} -> {self.after}{same}"


@dataclass(frozen=True, kw_only=True, repr=False)
class RunComparison:
    """What changed from a first run to a second, by the ids of samples."""

    gained: tuple[str, ...]
    """Samples that passed in the second run only."""
    lost: tuple[str, ...]
    """Samples that passed in the first run only."""
    both: int
    """Number of samples that passed in both."""
    neither: int
    """Number of samples that failed in both."""
    unscored: tuple[str, ...]
    """Samples without a score in one of the runs or both; compared no further."""
    changes: tuple[VerdictChange, ...]
    """All samples in both runs whose verdict changed, unscored ones as well."""
    only_first: tuple[str, ...]
    """Samples that only the first run has."""
    only_second: tuple[str, ...]
    """Samples that only the second run has."""
    differences: tuple[str, ...] = ()
    """What differs between the headers: data, engine, limits."""

    @property
    def mcnemar(self) -> McNemar:
        """McNemar's test of the samples with a score in both runs."""
        return mcnemar(len(self.gained), len(self.lost))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        # trust: ids are quoted; the rest are our words.
        return f"<pre>{escape(str(self))}</pre>"

    def _lines(self) -> Iterator[str]:
        total = self.both + self.neither + len(self.gained) + len(self.lost)
        yield (
            f"{total:,} samples in both runs: {len(self.gained):,} gained, "
            f"{len(self.lost):,} lost, {self.both:,} passed in both, {self.neither:,} in neither"
        )
        yield f"McNemar's test: p = {self.mcnemar.p_value:.3g}"
        for words, ids in (
            ("only in the first run", self.only_first),
            ("only in the second run", self.only_second),
            ("without a score", self.unscored),
        ):
            if ids:
                yield f"{len(ids):,} {words}: {_names(ids)}"
        for difference in self.differences:
            yield quoted_line(difference)
        if self.changes:
            yield f"{len(self.changes):,} changed verdicts:"
            yield from (f"  {change}" for change in self.changes[:_MOST_CHANGES])
            if len(self.changes) > _MOST_CHANGES:
                yield f"  ... {len(self.changes) - _MOST_CHANGES:,} more"


class _Outcome(NamedTuple):
    verdict: Verdict
    is_scored: bool
    code_sha256: str


def compare(
    a: str | os.PathLike[str] | Report, b: str | os.PathLike[str] | Report
) -> RunComparison:
    """Return what changed from a first run to a second.

    Args:
        a: The first run, or the path of its journal.
        b: The second run, or the path of its journal.

    Raises:
        FileNotFoundError: There is no such journal.
        ValidationError: A file is no journal.
    """
    first = a if isinstance(a, Report) else Report(a)
    second = b if isinstance(b, Report) else Report(b)
    before = {result.id: _outcome(result) for result in first}
    after = {result.id: _outcome(result) for result in second}
    shared = [id for id in before if id in after]
    groups: dict[tuple[bool, bool], list[str]] = {
        (old, new): [] for old in (False, True) for new in (False, True)
    }
    unscored = []
    for id in shared:
        old, new = before[id], after[id]
        if old.is_scored and new.is_scored:
            passed = old.verdict is Verdict.ACCEPTED, new.verdict is Verdict.ACCEPTED
            groups[passed].append(id)
        else:
            unscored.append(id)
    has_headers = bool(first.header and second.header)
    return RunComparison(
        gained=tuple(groups[False, True]),
        lost=tuple(groups[True, False]),
        both=len(groups[True, True]),
        neither=len(groups[False, False]),
        unscored=tuple(unscored),
        changes=tuple(_changes(shared, before, after)),
        only_first=tuple(id for id in before if id not in after),
        only_second=tuple(id for id in after if id not in before),
        differences=header_differences(first.header, second.header) if has_headers else (),
    )


def _outcome(result: SampleResult) -> _Outcome:
    return _Outcome(result.verdict, result.score is not None, result.code_sha256)


def _changes(
    ids: Sequence[str], before: dict[str, _Outcome], after: dict[str, _Outcome]
) -> Iterator[VerdictChange]:
    for id in ids:
        old, new = before[id], after[id]
        if old.verdict is not new.verdict:
            same = bool(old.code_sha256) and old.code_sha256 == new.code_sha256
            yield VerdictChange(id, old.verdict, new.verdict, same)


def _names(ids: Sequence[str]) -> str:
    names = ", ".join(quoted_line(id, _LONGEST_NAME) for id in ids[:_MOST_NAMES])
    return names if len(ids) <= _MOST_NAMES else f"{names}, ..."
