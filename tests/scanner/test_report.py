"""A scan's report: its verdict, its words, its JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.findings import Finding, Span
from llm_sandbox.security.report import ScanReport


def finding(**changes: Any) -> Finding:
    """A finding of `os.system("ls")`."""
    usual = Finding(
        rule_id="python/process.run",
        category="process.run",
        severity="high",
        confidence="high",
        span=Span(3, 5, 3, 20),
        snippet="os.system('ls')",
        subject="os.system",
        message="runs another program (os.system)",
        why="A program can do whatever the machine allows.",
        fix="Do the work in this language.",
        cwe=78,
    )
    return replace(usual, **changes)


def report(*findings: Finding, **changes: Any) -> ScanReport:
    """A report under the policy `production`, which blocks medium and above."""
    usual = ScanReport(
        "python", "ast", policy="production", threshold="medium", findings=findings, path="a.py"
    )
    return replace(usual, **changes)


LOW = finding(severity="low", category="file.delete", span=Span(1, 1, 1, 4))
HOSTILE = "x\x1b]0;title\x07\u202ey\ud800\n<script>alert(1)</script>&\"'`"


@pytest.mark.parametrize(
    ("threshold", "blocking"), [("safe", 0), ("low", 3), ("medium", 2), ("high", 1)]
)
def test_threshold(threshold: str, blocking: int) -> None:
    """Findings at or above the threshold block, in their order; `safe` blocks none."""
    found = report(LOW, finding(), finding(severity="medium"), threshold=threshold)
    assert blocking == len(found.blocking)
    assert found.is_safe is (blocking == 0)
    assert {"high": 1, "medium": 1, "low": 1} == found.counts
    assert ["high", "medium", "low"] == list(found.counts)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (report(), "nothing found"),
        (report(finding()), '1 finding, which blocks under the policy "production"'),
        (report(LOW), '1 finding, which does not block under the policy "production"'),
        (report(LOW, finding()), '2 findings, 1 of them blocks under the policy "production"'),
        (report(finding(), finding()), '2 findings, all of them block under the policy "produc'),
        (report(LOW, LOW), '2 findings, none of them blocks under the policy "production"'),
        (report(finding(), policy=""), "1 finding, which blocks under the policy"),
        (report(finding(), threshold="safe"), "1 finding"),
        (report(LOW, finding(), enforcement="advise"), "2 findings, 1 of them would block under"),
        (report(enforcement="off"), "not scanned: the policy's enforcement is off"),
        (
            report(parsed=False, problem="line 1: invalid syntax"),
            "nothing found, but the code could not be read as python: line 1: invalid syntax",
        ),
        (
            report(LOW, parsed=False),
            '1 finding, which does not block under the policy "production", and the code could no',
        ),
    ],
)
def test_summary(given: ScanReport, line: str) -> None:
    """One line says how much was found, how much blocks, and whether the code was read."""
    assert given.summary.startswith(line)
    assert "\n" not in given.summary


def test_lines() -> None:
    """A finding is a line as compilers write it, with what there is to say about it."""
    routed = finding(
        route=("eval", "base64.b64decode"), inner=Span(1, 8, 1, 9), confidence="medium"
    )
    how = (
        "by way of eval > base64.b64decode, at 1:8 of the text that is evaluated, medium confidence"
    )
    pattern = finding(
        rule_id="pattern/2", category="pattern", message="speaks of it", subject=r"\bit\b"
    )
    lines = str(report(finding(), routed, pattern)).splitlines()
    assert [
        "a.py:3:5: HIGH process.run: runs another program (os.system)",
        f"a.py:3:5: HIGH process.run: runs another program (os.system), {how}",
        r"a.py:3:5: HIGH pattern/2: speaks of it (\bit\b)",
        '3 findings, all of them block under the policy "production"',
    ] == lines
    assert str(report(finding(), path=None)).startswith("3:5: HIGH process.run: ")


def test_message_for_model() -> None:
    """It is told what was refused, where, why, and what to do; first what blocks."""
    message = report(LOW, finding()).message_for_model()
    assert message.startswith('The security policy "production" refused this code. Nothing was run')
    first, second = message.index("1. Line 3, column 5, refused"), message.index("2. Line 1, col")
    assert first < second
    for words in (
        "[process.run]",
        "Code: os.system('ls')",
        "Why: A program can do",
        "Instead: Do the work",
        "noticed",
        "only a person can change the policy",
    ):
        assert words in message


@pytest.mark.parametrize("count", [1, 9, 10, 11, 500])
def test_message_is_bounded(count: int) -> None:
    """At most ten findings in 4,000 characters, and the number of the others."""
    long = finding(**dict.fromkeys(("snippet", "subject", "message", "why", "fix"), "\u202e" * 900))
    for given in (long, finding()):
        message = report(*[given] * count, LOW).message_for_model()
        told = message.count("\n   Code: ")
        assert len(message) <= 4_000
        assert 1 <= told <= 10
        left = count + 1 - told
        assert (f"{left} more finding" in message) is (left > 0)
        refused = count - told
        assert (f"{refused} of them refused as well" in message) is (refused > 0)


@pytest.mark.parametrize(
    ("given", "says", "never"),
    [
        (report(), "Nothing was found", "Nothing was run"),
        (report(LOW), "No finding in this code blocks it", "refused"),
        (report(finding(), enforcement="advise"), "would refuse", "Nothing was run"),
        (report(finding(), parsed=False, problem="odd"), "could not be read as python: odd", "?"),
        (report(parsed=False), "There may be more in it", "safe"),
        (report(enforcement="off"), "was not scanned", "Nothing was found"),
    ],
)
def test_message_without_refusal(given: ScanReport, says: str, never: str) -> None:
    """It says only what is so: what was not refused, and what was not read."""
    assert says in given.message_for_model()
    assert never not in given.message_for_model()


def test_hostile_text_is_shown_not_obeyed() -> None:
    """Controls are gone, invisible characters are numbers, markup is text, lines stay lines."""
    texts = dict.fromkeys(
        ("rule_id", "category", "snippet", "subject", "message", "why", "fix"), HOSTILE
    )
    given = report(finding(**texts), policy=HOSTILE, problem=HOSTILE, path=HOSTILE, parsed=False)
    screen = io.StringIO()
    Console(file=screen, width=200, color_system=None).print(given)
    shown = {
        "str": str(given),
        "summary": given.summary,
        "model": given.message_for_model(),
        "html": given._repr_html_(),
        "rich": screen.getvalue(),
    }
    for name, text in shown.items():
        assert not {"\x1b", "\x07", "\u202e", "\ud800"} & set(text), name
        text.encode()
        assert "u202e" in text, name
    assert 2 == len(str(given).splitlines())
    assert "<script" not in shown["html"]
    assert "&lt;script&gt;" in shown["html"]
    assert "<script>" in shown["str"]  # as it is, where nothing is obeyed


def test_views_show_the_code() -> None:
    """The code of a finding is marked, in HTML and in a terminal."""
    assert "<mark>os.system(&#x27;ls&#x27;)</mark>" in report(finding())._repr_html_()
    screen = io.StringIO()
    Console(file=screen, width=200, force_terminal=True).print(report(finding()))
    assert "\x1b[7mos.system('ls')" in screen.getvalue()


@pytest.mark.parametrize(
    "given",
    [
        report(),
        report(LOW, finding(route=("eval",), inner=Span(1, 1, 2, 1))),
        report(finding(snippet=HOSTILE, subject="\x00\ud800", cwe=None), path=None),
        report(parsed=False, problem=HOSTILE, enforcement="off", threshold="safe"),
    ],
)
def test_json_round_trip(given: ScanReport) -> None:
    """JSON is ASCII, and comes back as the same report; unknown fields are ignored."""
    text = given.to_json()
    assert text.isascii()
    assert given == ScanReport.from_json(text) == ScanReport.from_json(text.encode())
    data = json.loads(text) | {"of_the_future": [1]}
    for item in data["findings"]:
        item["of_the_future"] = {"a": 1}
    assert given == ScanReport.from_dict(data)
    assert {"schema": 1, "type": "scan"}.items() <= data.items()


def spoilt(**changes: Any) -> dict[str, Any]:
    """A report's data with fields changed, those set to `...` removed."""
    data = report(finding()).to_dict() | changes
    return {name: value for name, value in data.items() if value is not ...}


def spoilt_finding(**changes: Any) -> dict[str, Any]:
    """The same for a field of its finding."""
    item: dict[str, Any] = finding().to_dict() | changes
    return spoilt(findings=[{name: value for name, value in item.items() if value is not ...}])


@pytest.mark.parametrize(
    "data",
    [
        {},
        spoilt(schema=2),
        spoilt(schema=...),
        spoilt(type="console"),
        spoilt(lang=...),
        spoilt(lang=3),
        spoilt(engine="magic"),
        spoilt(engine=[]),
        spoilt(threshold="grave"),
        spoilt(threshold={}),
        spoilt(enforcement=None),
        spoilt(parsed="yes"),
        spoilt(path=3),
        spoilt(findings={}),
        spoilt(findings=[3]),
        spoilt_finding(span=...),
        spoilt_finding(span={}),
        spoilt_finding(span=[1, 1, 1, 1]),
        spoilt_finding(span={"line": "1", "column": 1, "end_line": 1, "end_column": 1}),
        spoilt_finding(inner={"line": 1}),
        spoilt_finding(severity="grave"),
        spoilt_finding(severity=[]),
        spoilt_finding(confidence=1),
        spoilt_finding(rule_id=...),
        spoilt_finding(message=None),
        spoilt_finding(route=[1]),
        spoilt_finding(route=3),
        spoilt_finding(cwe="78"),
        spoilt_finding(cwe=True),
    ],
    ids=lambda data: json.dumps(data)[-60:],
)
def test_malformed_data(data: dict[str, Any]) -> None:
    """What does not describe a report is refused, whatever is wrong with it."""
    assert ScanReport.from_dict(spoilt()) == report(finding())
    with pytest.raises(ValidationError):
        ScanReport.from_dict(data)


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000, b"\xff\xfe\x00"])
def test_malformed_json(text: str | bytes) -> None:
    """What is not JSON is refused as well."""
    with pytest.raises(ValidationError):
        ScanReport.from_json(text)


def test_deeply_nested_finding() -> None:
    """Nesting that JSON still takes does not exhaust the stack."""
    nest = "[" * 900 + "]" * 900
    text = json.dumps(spoilt_finding(subject=...)).replace('"why"', f'"subject": {nest}, "why"')
    with pytest.raises(ValidationError):
        ScanReport.from_json(text)
