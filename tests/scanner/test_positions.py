"""Findings span what they say, exactly: line and column of both ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.positions import Annotated, annotated

if TYPE_CHECKING:
    from llm_sandbox.results.findings import Span


def test_there_are_enough_marks() -> None:
    assert sum(len(program.marks) for program in annotated()) >= 200


@pytest.mark.parametrize("program", annotated(), ids=lambda program: program.title)
def test_findings_span_what_is_marked(program: Annotated) -> None:
    report = scan(program.code, "python", "strict", notebook=program.notebook)
    found: dict[str, set[Span]] = {}
    for finding in report.findings:
        found.setdefault(str(finding.category), set()).add(finding.span)
    missing = [mark for mark in program.marks if mark[1] not in found.get(mark[0], ())]
    assert missing == [], found
    # And where one thing is marked at all its places, nothing else is said to be it.
    for category in {mark[0] for mark in program.marks}:
        marked = {span for name, span in program.marks if name == category}
        assert found[category] <= marked, category


def test_snippet_is_the_text_of_the_span() -> None:
    for program in annotated():
        for finding in scan(program.code, "python", "strict", notebook=program.notebook).findings:
            first = finding.snippet.splitlines()[0] if finding.snippet else ""
            assert first in program.code
