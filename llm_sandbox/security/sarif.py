"""Scan reports as SARIF 2.1.0, the format that code hosts and editors read.

The meaning of each property is that of the OASIS standard "Static Analysis Results Interchange
Format Version 2.1.0"; tags, `precision` and `security-severity` are those that GitHub reads.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from llm_sandbox.const import VERSION
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.findings import Finding, SeverityName, Span
from llm_sandbox.security.report_views import effect_clause, one_visible_line, summary_line

if TYPE_CHECKING:
    from llm_sandbox.security.report import ScanReport

__all__ = ["LEVELS", "Json", "describe", "rules_of", "sarif_log"]

Json: TypeAlias = dict[str, object]
"""JSON object."""

LEVELS: Mapping[SeverityName, str] = {
    "high": "error",
    "medium": "warning",
    "low": "note",
    "safe": "none",
}
"""SARIF level of each severity."""

_SCORES: Mapping[SeverityName, str] = {"high": "8.0", "medium": "5.5", "low": "3.0", "safe": "0.0"}
_GUESSES = ("dynamic.unresolved", "module.escape", "text.unparsed", "module", "pattern")


def rules_of(findings: Iterable[Finding]) -> list[Json]:
    """Return the rules of findings by rule id, without duplicates."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(one_visible_line(finding.rule_id, 300), finding)
    return [_rule(rule_id, first[rule_id]) for rule_id in sorted(first)]


def describe(finding: Finding) -> str:
    """Return the text of a finding as a plain SARIF message."""
    return _literal(f"{_sentence(effect_clause(finding))} {one_visible_line(finding.why)}".strip())


def _rule(rule_id: str, finding: Finding) -> Json:
    severity, short, full = _facts(finding)
    why, fix = one_visible_line(finding.why), one_visible_line(finding.fix)
    tags = ["security", one_visible_line(finding.category)]
    if finding.cwe is not None:
        tags.append(f"external/cwe/cwe-{finding.cwe}")
    advice = f"Instead: {fix}" if fix else ""
    lines = [part for part in (full, why, advice) if part]
    return {
        "id": rule_id,
        "name": _name(finding.category),
        "shortDescription": {"text": short},
        "fullDescription": {"text": full},
        "help": {"text": "\n".join(lines), "markdown": "\n\n".join(map(_markdown, lines))},
        "defaultConfiguration": {"level": LEVELS[severity]},
        "properties": {
            "tags": tags,
            "precision": "medium" if finding.category in _GUESSES else "high",
            "security-severity": _SCORES[severity],
        },
    }


def _facts(finding: Finding) -> tuple[SeverityName, str, str]:
    """Return the default severity, and the short and long description of a rule."""
    subject = one_visible_line(finding.subject)
    if finding.category == "pattern":
        return finding.severity, "The code matches a pattern of the policy.", f"Pattern: {subject}"
    if finding.category == "module":
        name = one_visible_line(finding.rule_id.removeprefix("module/"))
        words = _sentence(one_visible_line(finding.message))
        return finding.severity, f"The code uses the restricted module {name}.", words
    # Loads pydantic, which only this needs.
    from llm_sandbox.security.capabilities import FACTS

    facts = next((FACTS[key] for key in FACTS if key == finding.category), None)
    if facts is None:
        words = _sentence(one_visible_line(finding.message))
        return finding.severity, words, words
    return facts.severity.word, f"The code {facts.message}.", f"The code {facts.message}."


def _name(category: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in one_visible_line(category)).split()
    return "".join(word.capitalize() for word in words) or "Finding"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _literal(text: str) -> str:
    # trust: in a message of SARIF, brackets make links and braces stand for arguments.
    for mark in "\\[]":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("{", "{{").replace("}", "}}")


def _markdown(text: str) -> str:
    # trust: a module's or a pattern's name may hold markup.
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-!|~&" else c for c in text)


_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_FINGERPRINT = "llmSandboxFinding/v1"
_LANGUAGES = {"cpp": "cplusplus"}
_CELL = re.compile(r"(?s)(.*\.ipynb)#(cell-\d+)")
_RANKS: Mapping[SeverityName, float] = {"high": 90.0, "medium": 60.0, "low": 30.0, "safe": 0.0}


def sarif_log(reports: Sequence["ScanReport"]) -> dict[str, object]:
    """Return a SARIF 2.1.0 log of one run with all reports.

    Code that does not parse is reported by a notification of the run, besides its findings. Code is
    quoted without control characters; lone surrogates become U+FFFD, so that the log can be encoded
    in UTF-8.

    Args:
        reports: The reports, in the order of their results.
    """
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(reports)]}


def _run(reports: Sequence["ScanReport"]) -> Json:
    findings = [finding for report in reports for finding in report.findings]
    rules = rules_of(findings)
    numbers = {str(rule["id"]): number for number, rule in enumerate(rules)}
    artifacts = _Artifacts()
    seen: Counter[str] = Counter()
    results = [
        _result(finding, artifacts.location(report), numbers, seen)
        for report in reports
        for finding in report.findings
    ]
    for report in reports:
        artifacts.location(report)  # files without findings were scanned as well
    return {
        "tool": {"driver": {"name": "llm-sandbox", "version": VERSION, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(reports, artifacts)],
        "artifacts": artifacts.known,
        "results": results,
        "properties": {"policies": sorted({_words(report.policy) for report in reports})},
    }


class _Artifacts:
    """Files of a run, without duplicates."""

    def __init__(self) -> None:
        self.known: list[Json] = []
        self._numbers: dict[tuple[str, str], int] = {}

    def location(self, report: "ScanReport") -> Json:
        """Return the location of a report's code, or a description when it is in no file."""
        location = _location(report.path)
        lang = _words(_LANGUAGES.get(report.lang, report.lang))
        # Keyed by the escaped form: two paths may differ only in characters that are not shown.
        key = (str(location), lang)
        if key not in self._numbers:
            self._numbers[key] = len(self.known)
            self.known.append(
                {"location": location, "sourceLanguage": lang, "roles": ["analysisTarget"]}
            )
        return {**location, "index": self._numbers[key]}


def _location(path: str | None) -> Json:
    if path is None:
        return {"description": {"text": "the code that was given"}}
    cell = _CELL.fullmatch(path)
    name, fragment = (cell[1], f"#{cell[2]}") if cell else (path, "")
    absolute = "file://" if name.startswith("/") else ""
    return {"uri": f"{absolute}{quote(_path_bytes(name))}{fragment}"}


def _path_bytes(path: str) -> bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace")


def _result(
    finding: Finding, location: Json, numbers: Mapping[str, int], seen: Counter[str]
) -> Json:
    rule = _words(finding.rule_id)
    print_of = _fingerprint(finding, location)
    seen[print_of] += 1
    more: Json = {"confidence": finding.confidence, "severity": finding.severity}
    more["subject"] = _words(finding.subject)
    if finding.route:
        more["route"] = [_words(step) for step in finding.route]
    if finding.inner is not None:
        more["inner"] = _region(finding.inner, "")
    return {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "level": LEVELS[finding.severity],
        "rank": _RANKS[finding.severity],
        "message": {"text": describe(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": location,
                    "region": _region(finding.span, finding.snippet),
                }
            }
        ],
        "partialFingerprints": {_FINGERPRINT: f"{print_of}:{seen[print_of]}"},
        "properties": more,
    }


def _region(span: Span, snippet: str) -> Json:
    start = (max(1, span.line), max(1, span.column))
    end = max(start, (span.end_line, max(1, span.end_column)))
    region: Json = {
        "startLine": start[0],
        "startColumn": start[1],
        "endLine": end[0],
        "endColumn": end[1],
    }
    if text := strip_controls(snippet):
        region["snippet"] = {"text": text}
    return region


def _fingerprint(finding: Finding, location: Json) -> str:
    """Return a fingerprint that does not depend on lines above the finding."""
    code = " ".join(finding.snippet.split())
    parts: Iterable[str] = (finding.rule_id, str(location.get("uri", "")), finding.subject, code)
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _invocation(reports: Sequence["ScanReport"], artifacts: _Artifacts) -> Json:
    unread = [report for report in reports if not report.parsed]
    invocation: Json = {"executionSuccessful": True}
    if unread:
        invocation["toolExecutionNotifications"] = [
            {
                "descriptor": {"id": "unread"},
                "level": "warning",
                "message": {"text": _words(summary_line(report), 1_000)},
                "locations": [
                    {"physicalLocation": {"artifactLocation": artifacts.location(report)}}
                ],
            }
            for report in unread
        ]
    return invocation


def _words(text: str, longest: int = 300) -> str:
    return one_visible_line(text, longest)
