"""JUnit XML of a run, for continuous integration."""

import io
from collections.abc import Iterable
from xml.etree.ElementTree import Element, ElementTree, SubElement

from llm_sandbox.evaluation.first_failure import FirstFailure, first_failure
from llm_sandbox.evaluation.quotation import quoted, quoted_line, quoted_output
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.run_summary import task_of
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["junit_report"]

_LONGEST_NAME = 300
_LONGEST_TEXT = 2000
_ELEMENTS = {Verdict.INFRA_ERROR: "error", Verdict.SKIPPED: "skipped"}
_COUNTS = {"error": "errors", "skipped": "skipped", "failure": "failures"}


class _Suite:
    """Suite of a task."""

    def __init__(self, name: str) -> None:
        self.element = Element("testsuite", name=name)
        self.counts = dict.fromkeys(("tests", *_COUNTS.values()), 0)
        self.seconds = 0.0

    def add(self, result: SampleResult, failure: FirstFailure | None) -> None:
        case = SubElement(
            self.element,
            "testcase",
            classname=self.element.get("name", ""),
            name=quoted_line(result.id, _LONGEST_NAME),
            time=f"{result.time_s:.3f}",
        )
        self.counts["tests"] += 1
        self.seconds += result.time_s
        if failure is None:
            return
        tag = _ELEMENTS.get(result.verdict, "failure")
        self.counts[_COUNTS[tag]] += 1
        words = f"{failure.test}: {failure.words}" if failure.test else failure.words
        child = SubElement(case, tag, message=words)
        if tag != "skipped":
            child.set("type", str(result.verdict))
            child.text = _body(failure)
        for name, text in (("system-out", failure.stdout), ("system-err", failure.stderr)):
            if text:
                SubElement(case, name).text = quoted_output(text, _LONGEST_TEXT)

    def finish(self) -> Element:
        _set_counts(self.element, self.counts, self.seconds)
        return self.element


def junit_report(results: Iterable[SampleResult], *, reveal: bool = False) -> bytes:
    """Return JUnit XML: a suite for each task, a case for each sample.

    A failure of the sandbox is an ``error``, a sample that was not run is ``skipped``, every other
    verdict but ``AC`` is a ``failure``.

    Args:
        results: The results, which may be a stream.
        reveal: Whether to show hidden tests: what they expected, and the program's output.
    """
    suites: dict[str, _Suite] = {}
    for result in results:
        task = task_of(result)
        if task not in suites:
            suites[task] = _Suite(quoted_line(task, _LONGEST_NAME))
        suites[task].add(result, first_failure(result, reveal=reveal))
    root = Element("testsuites", name="llm-sandbox evaluation")
    root.extend(suite.finish() for suite in suites.values())
    counts = {
        name: sum(suite.counts[name] for suite in suites.values())
        for name in ("tests", *_COUNTS.values())
    }
    _set_counts(root, counts, sum(suite.seconds for suite in suites.values()))
    document = io.BytesIO()
    ElementTree(root).write(document, encoding="utf-8", xml_declaration=True)
    return document.getvalue() + b"\n"


def _set_counts(element: Element, counts: dict[str, int], seconds: float) -> None:
    for name, count in counts.items():
        element.set(name, str(count))
    element.set("time", f"{seconds:.3f}")


def _body(failure: FirstFailure) -> str:
    # trust: `quoted` leaves no character that XML lacks, nor does `FirstFailure.words`.
    sides = failure.difference
    if sides is None:
        return failure.words
    expected, actual = quoted(sides.expected), quoted(sides.actual)
    return f"{failure.words}\n\nexpected:\n{expected}\n\nactual:\n{actual}"
