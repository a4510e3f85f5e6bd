"""What SARIF calls rules: the capabilities, patterns and modules that findings are about."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from llm_sandbox.results.findings import Finding, SeverityName
from llm_sandbox.security.report_text import deed, one_visible_line

__all__ = ["LEVELS", "Json", "describe", "rules_of"]

Json: TypeAlias = dict[str, object]
"""An object of JSON."""

LEVELS: Mapping[SeverityName, str] = {
    "high": "error",
    "medium": "warning",
    "low": "note",
    "safe": "none",
}
"""SARIF's level for each severity."""

_SCORES: Mapping[SeverityName, str] = {"high": "8.0", "medium": "5.5", "low": "3.0", "safe": "0.0"}
_GUESSES = ("dynamic.unresolved", "module.escape", "text.unparsed", "module", "pattern")


def rules_of(findings: Iterable[Finding]) -> list[Json]:
    """Return the rules that findings are about, by their ids, each once."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(one_visible_line(finding.rule_id, 300), finding)
    return [_rule(rule_id, first[rule_id]) for rule_id in sorted(first)]


def describe(finding: Finding) -> str:
    """Return what a finding says, as a plain message of SARIF."""
    return _literal(f"{_sentence(deed(finding))} {one_visible_line(finding.why)}".strip())


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
    """Ordinary severity, and what the rule is about in few and in more words."""
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
