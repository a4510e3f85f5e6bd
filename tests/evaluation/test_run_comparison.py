"""Comparison of two runs: what was gained, lost, changed, or is in one of them only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.evaluation.journal import Journal
from llm_sandbox.evaluation.report import Report
from llm_sandbox.evaluation.run_comparison import VerdictChange, compare
from llm_sandbox.evaluation.verdict import Verdict
from tests.evaluation.made_results import HEADER, HOSTILE, make_result

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = {"a": "AC", "b": "AC", "c": "WA", "d": "WA", "e": "WA", "f": "IE", "g": "AC", "old": "AC"}
AFTER = {"a": "AC", "b": "TLE", "c": "AC", "d": "AC", "e": "RTE", "f": "AC", "g": "IE", "new": "AC"}


def report(verdicts: dict[str, str], **more: object) -> Report:
    return Report([make_result(id, verdict, **more) for id, verdict in verdicts.items()])


def test_samples_are_compared_by_id() -> None:
    found = compare(report(BEFORE), report(AFTER, code_sha256="other"))
    assert ("c", "d") == found.gained
    assert ("b",) == found.lost
    assert (1, 1) == (found.both, found.neither)
    assert ("f", "g") == found.unscored
    assert (("old",), ("new",)) == (found.only_first, found.only_second)
    assert ["b", "c", "d", "e", "f", "g"] == [change.id for change in found.changes]
    assert VerdictChange("e", Verdict("WA"), Verdict("RTE")) == found.changes[3]
    assert (2, 1) == (found.mcnemar.gained, found.mcnemar.lost)
    assert pytest.approx(1.0) == found.mcnemar.p_value


def test_a_comparison_shows_itself() -> None:
    found = compare(report(BEFORE), report(AFTER))
    text = str(found)
    assert text == repr(found)
    for words in (
        "5 samples in both runs: 2 gained, 1 lost, 1 passed in both, 1 in neither",
        "McNemar's test: p = 1",
        "1 only in the first run: old",
        "1 only in the second run: new",
        "2 without a score: f, g",
        "6 changed verdicts:",
        "  b: AC -> TLE (same code)",
    ):
        assert words in text
    assert "b: AC -&gt; TLE" in found._repr_html_()


def test_many_names_are_counted() -> None:
    before = {f"t{number}": "WA" for number in range(50)}
    after = {**dict.fromkeys(before, "AC"), **{f"n{number}": "AC" for number in range(30)}}
    text = str(compare(report(before), report(after)))
    assert "30 only in the second run: n0, n1, " in text
    assert "n11" not in text
    assert "... 30 more" in text
    assert "McNemar's test: p = 1.78e-15" in text


def test_ids_of_others_are_quoted() -> None:
    found = compare(report({HOSTILE: "AC"}), report({HOSTILE: "WA", "<b>": "AC"}))
    for text in (str(found), found._repr_html_()):
        assert not set("\x00\x1b\u202e\ud800") & set(text)
    assert "<b>" not in found._repr_html_()


def test_journals_tell_how_the_runs_differ(tmp_path: Path) -> None:
    paths = []
    for name, engine in (("a", "local 1.0"), ("b", "local 2.0")):
        paths.append(tmp_path / f"{name}.jsonl")
        with Journal.open(paths[-1], {**HEADER, "engine": engine}) as journal:
            journal.append(make_result("t#0", "AC" if name == "a" else "WA"))
    found = compare(*paths)
    assert ("t#0",) == found.lost
    assert ("engine was 'local 1.0', is 'local 2.0'",) == found.differences
    assert found.differences[0] in str(found)
    assert () == compare(str(paths[0]), Report(paths[0])).differences
