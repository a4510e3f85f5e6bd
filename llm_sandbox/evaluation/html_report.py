"""Report of a run as one self-contained HTML page without active content.

The page loads nothing and runs no script. Its size is bounded: what is left out is counted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from llm_sandbox.artifacts.artifact import human_size
from llm_sandbox.evaluation.first_failure import FirstFailure, first_failure
from llm_sandbox.evaluation.quotation import quoted, quoted_line, quoted_output
from llm_sandbox.evaluation.run_summary import Histogram, TaskCounts, task_of
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.views.report_parts import PageBudget, escape, preformatted

if TYPE_CHECKING:
    from llm_sandbox.evaluation.report import Report
    from llm_sandbox.evaluation.statistics import Interval

__all__ = ["html_fragment", "html_report"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
table.wide { width: 100%; }
td.bar { width: 50%; max-width: none; }
td.bar span { display: block; height: .8rem; background: var(--accent); border-radius: .2rem; }
svg.plot { display: block; width: 100%; max-width: 40rem; height: auto; }
svg.plot rect, svg.plot circle { fill: var(--accent); }
svg.plot text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
svg.plot line { stroke: var(--line); stroke-width: 2; }
svg.plot line.range { stroke: var(--accent); stroke-width: 3; }
table.wide p { margin: .2rem 0; }
table.wide pre { margin: .2rem 0; }
.scroll.tasks { width: auto; max-height: none; }
.scroll.tasks td { max-width: none; }
"""
_LARGEST_DETAILS = 8 << 20
_MOST_TASKS = 2000
_MOST_FLAKY = 100
_MOST_FACTS = 40
_LONGEST_NAME = 200
_LONGEST_TAIL = 1000
_WIDTH, _HEIGHT, _BASE = 640, 150, 120


@dataclass(slots=True)
class _Failures:
    """First failures of tasks, as many as are shown."""

    most: int
    shown: dict[str, tuple[str, FirstFailure]] = field(default_factory=dict)
    """Sample and failure, by task."""
    others: set[str] = field(default_factory=set)
    """Tasks whose failure is not shown."""

    def add(self, task: str, sample: str, failure: FirstFailure) -> None:
        known = self.shown.get(task)
        if known is None and len(self.shown) >= self.most:
            self.others.add(task)
        elif known is None or (not known[1].verdict.is_scored and failure.verdict.is_scored):
            self.shown[task] = sample, failure


def html_report(
    report: "Report", *, title: str = "Evaluation", reveal: bool = False, most: int = 500
) -> str:
    """Return a self-contained page.

    Args:
        report: The run.
        title: Heading of the page.
        reveal: Whether to show hidden tests: what they expected, and the program's output.
        most: Most tasks whose first failure is shown; more are counted.

    Raises:
        ValidationError: `most` is negative.
    """
    if most < 0:
        raise ValidationError(
            f"invalid most: expected a number from 0, got {most}", parameter="most"
        )
    failures = _Failures(most)
    for result in report:
        failure = first_failure(result, reveal=reveal)
        if failure is not None:
            failures.add(task_of(result), result.id, failure)
    summary = report.summary
    sections = [
        ("pass@k", _pass_at_k(report.usual_pass_at_k())),
        ("Verdicts", _verdicts(report)),
        ("CPU time of the tests", _histogram(summary.times, "s", "{:g}".format)),
        (
            "Memory of the tests",
            _histogram(summary.memory, "", lambda size: human_size(int(size))),
        ),
        ("Where verdicts were decided", _integrity(report)),
        ("Notes", "".join(f"<p>{escape(note)}</p>" for note in report.notes())),
        ("Flaky samples", _flaky(report)),
        ("Tasks", _tasks(summary.tasks, failures, reveal=reveal)),
        ("Run", _facts(report.header)),
    ]
    heading = escape(quoted_line(title, 300)) or "Evaluation"
    body = "\n".join(
        f'<section class="run"><h2>{name}</h2>{content}</section>'
        for name, content in sections
        if content
    )
    about = f"{summary.samples:,} samples · {len(summary.tasks):,} tasks · {summary.tests:,} tests"
    score = report.score()
    about += "" if score is None else f" · score {score:.3f}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{_page_style()}{_STYLE}</style></head>\n"
        f'<body><header><h1>{heading}</h1><p class="quiet">{about}</p></header>\n'
        f"<main>\n{body}\n</main></body></html>\n"
    )


def html_fragment(report: "Report") -> str:
    """Return the counts of a run as a fragment of a foreign page, such as a notebook's."""
    summary = report.summary
    heading = f"{summary.samples:,} samples of {len(summary.tasks):,} tasks"
    rows = [
        (f"pass@{k}", f"{one.value:.3f}", f"[{one.low:.3f}, {one.high:.3f}]")
        for k, one in report.usual_pass_at_k().items()
    ]
    rows += [
        (str(verdict), f"{count:,}", verdict.words)
        for verdict, count in report.by_verdict().items()
    ]
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes())
    return f"<div><p><strong>{heading}</strong></p>{_table((), rows)}{notes}</div>"


@cache
def _page_style() -> str:
    return files("llm_sandbox.views").joinpath("report.css").read_text(encoding="utf-8")


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are HTML."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _pass_at_k(intervals: Mapping[int, "Interval"]) -> str:
    if not intervals:
        return ""
    rows = [
        (
            str(k),
            f"{one.value:.3f}",
            f"[{one.low:.3f}, {one.high:.3f}]",
            f"{one.tasks:,}",
            f"{one.left_out:,}",
            _range(one),
        )
        for k, one in intervals.items()
    ]
    names = ("k", "pass@k", "95 % interval", "tasks", "tasks left out", "0 to 1")
    return _table(names, rows)


def _range(interval: "Interval") -> str:
    low, value, high = (
        f"{5 + 190 * part:.1f}" for part in (interval.low, interval.value, interval.high)
    )
    return (
        '<svg class="plot" style="width:200px" viewBox="0 0 200 12" role="img">'
        f"<title>{interval}</title>"
        '<line x1="5" y1="6" x2="195" y2="6"/>'
        f'<line class="range" x1="{low}" y1="6" x2="{high}" y2="6"/>'
        f'<circle cx="{value}" cy="6" r="4"/></svg>'
    )


def _verdicts(report: "Report") -> str:
    found = report.by_verdict()
    most = max(found.values(), default=1)
    rows = "".join(
        f"<tr><td>{verdict}</td><td>{verdict.words}</td>"
        f'<td class="number">{count:,}</td><td class="number">{count / len(report):.1%}</td>'
        f'<td class="bar"><span style="width:{100 * count / most:.1f}%"></span></td></tr>'
        for verdict, count in found.items()
    )
    return f'<table class="wide"><tbody>{rows}</tbody></table>' if rows else ""


def _histogram(histogram: Histogram, unit: str, name: Callable[[float], str]) -> str:
    bins = histogram.bins()
    if not bins:
        return ""
    most = max(count for _, count in bins)
    step = _WIDTH / len(bins)
    parts = []
    for place, (edge, count) in enumerate(bins):
        label = "more" if edge is None else name(edge)
        height = 100 * count / most
        x, middle = place * step, (place + 0.5) * step
        title = f"{label}{f' {unit}' if unit and edge is not None else ''}: {count:,}"
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{_BASE - height:.1f}" width="{step - 2:.1f}" '
            f'height="{height:.1f}"><title>{title}</title></rect>'
            f'<text x="{middle:.1f}" y="{_BASE + 14}" text-anchor="middle">{label}</text>'
            f'<text x="{middle:.1f}" y="{_BASE - height - 4:.1f}" text-anchor="middle">'
            f"{count:,}</text>"
        )
    note = f"{histogram.total:,} tests; the upper end of each bin{f' in {unit}' if unit else ''}"
    return (
        f'<svg class="plot" viewBox="0 -10 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'
        f'<p class="quiet">{note}</p>'
    )


def _integrity(report: "Report") -> str:
    found = report.by_integrity()
    total = sum(found.values())
    if not total:
        return ""
    meanings = {
        "isolated": "outside of the candidate's sandbox",
        "proxy": "outside, with calls into the candidate's sandbox",
        "inline": "in the candidate's own process",
    }
    rows = [
        (name, escape(meanings[name]), f"{count:,}", f"{count / total:.1%}")
        for name, count in found.items()
    ]
    return _table((), rows)


def _flaky(report: "Report") -> str:
    flaky = report.flaky()
    if not len(flaky):
        return ""
    rows = [
        (_name(result.id), escape(" ".join(result.verdicts)))
        for result in islice(flaky, _MOST_FLAKY)
    ]
    left = len(flaky) - len(rows)
    return _table(("sample", "verdicts"), rows) + _left_out(left, "flaky sample")


def _tasks(tasks: Mapping[str, TaskCounts], failures: _Failures, *, reveal: bool) -> str:
    """Return the table of tasks, those with a failure first."""
    if not tasks:
        return ""
    budget = PageBudget(_LARGEST_DETAILS, frames=False)
    rows, cut = [], 0
    for task, (sample, failure) in failures.shown.items():
        details = "".join(_details(failure))
        if not budget.take(len(details)):
            details, cut = "", cut + 1
        words = f"{_name(sample)}: {_failure_line(failure)}{details}"
        rows.append(_row(task, tasks[task], words))
    without = (task for task in tasks if task not in failures.shown and task not in failures.others)
    room = max(0, _MOST_TASKS - len(rows))
    passed = [_row(task, tasks[task], "") for task in islice(without, room)]
    left = len(tasks) - len(failures.shown) - len(failures.others) - len(passed)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("task", "passed", "first failure"))
    masked = not reveal and any(one.is_masked for _, one in failures.shown.values())
    notes = [
        _left_out(len(failures.others), "task", " with failures"),
        _left_out(left, "task", " without failures"),
        _left_out(cut, "difference"),
        '<p class="quiet">What hidden tests expect is left out.</p>' if masked else "",
    ]
    return (
        f"{''.join(notes)}"
        f'<div class="scroll tasks"><table class="wide"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}{''.join(passed)}</tbody></table></div>"
    )


def _row(task: str, counts: TaskCounts, words: str) -> str:
    passed = f"{counts.correct:,} of {counts.scored:,}"
    passed += f", {counts.unscored:,} without a score" if counts.unscored else ""
    return f"<tr><td>{_name(task)}</td><td>{passed}</td><td>{words}</td></tr>\n"


def _failure_line(failure: FirstFailure) -> str:
    words = f"{failure.test}: {failure.words}" if failure.test else failure.words
    return escape(f"{words} (hidden)" if failure.is_masked else words)


def _details(failure: FirstFailure) -> Iterator[str]:
    sides = failure.difference
    # trust: outputs of the candidate, escaped; in a difference every character is visible.
    if sides is not None:
        for name, text in (("expected", sides.expected), ("got", sides.actual)):
            yield f'<p class="quiet">{name}</p><pre class="code">{escape(quoted(text))}</pre>'
    tails = (("stdout", failure.stdout), ("stderr", failure.stderr))
    texts = "".join(
        preformatted(quoted_output(text, _LONGEST_TAIL), name) for name, text in tails if text
    )
    if texts:
        yield f"<details><summary>End of the output</summary>{texts}</details>"


def _name(text: str) -> str:
    return escape(quoted_line(text, _LONGEST_NAME))


def _left_out(number: int, noun: str, more: str = "") -> str:
    if number <= 0:
        return ""
    plural = "s" * (number > 1)
    return f'<p class="quiet">{number:,} more {noun}{plural}{more} not shown.</p>'


def _facts(header: Mapping[str, Any]) -> str:
    """Return the header of the journal as a table."""
    facts = [*_flat("", header)]
    rows = [(_name(name), _name(str(value))) for name, value in facts[:_MOST_FACTS]]
    return _table((), rows) + _left_out(len(facts) - len(rows), "fact") if rows else ""


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield path, value
        return
    for name, item in value.items():
        yield from _flat(f"{path}.{name}" if path else str(name), item)
