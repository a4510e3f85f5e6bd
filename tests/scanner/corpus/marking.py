"""Criteria of a caught attack, and of a false alarm."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.benign import expected

if TYPE_CHECKING:
    from llm_sandbox.results.findings import Finding
    from llm_sandbox.security.presets import PolicyPreset
    from llm_sandbox.security.report import ScanReport
    from tests.scanner.corpus.benign import Program
    from tests.scanner.corpus.snippets import Snippet

__all__ = ["alarms", "is_named", "scan_snippet", "stops", "twin_alarms"]

UNREAD = "text.unparsed"
GRAVE = ("medium", "high")


def scan_snippet(snippet: Snippet, policy: PolicyPreset) -> ScanReport:
    """Scan one as it would be run."""
    return scan(snippet.code, "python", policy, notebook=snippet.notebook)


@cache
def blocks(policy: PolicyPreset, capability: str) -> bool:
    """Return whether a preset blocks a capability."""
    from llm_sandbox.results.findings import Capability
    from llm_sandbox.security import get_security_policy

    chosen = get_security_policy(policy)
    grade = (chosen.capabilities or {}).get(Capability(capability), 0)
    return grade >= chosen.severity_threshold


def stops(report: ScanReport, capability: str) -> bool:
    """Return whether a report stops an attack that has a capability.

    Any blocking finding does, but that code cannot be read. Of what its policy lets through on
    purpose the report has to say by name that the code does it.
    """
    if any(finding.category != UNREAD for finding in report.blocking):
        return True
    named = any(finding.category == capability for finding in report.findings)
    return named and not blocks(cast("PolicyPreset", report.policy), capability)


def is_named(snippet: Snippet, report: ScanReport) -> bool:
    """Return whether a report says what an attack does, of whatever severity."""
    return any(finding.category == snippet.capability for finding in report.findings)


def twin_alarms(twin: Snippet, report: ScanReport) -> list[Finding]:
    """Return the findings that a harmless program must not have.

    A program that runs text as code, whatever that does, or that is written in full-width letters,
    may be said to be so.
    """
    found = [finding for finding in report.findings if finding.severity in GRAVE]
    return [finding for finding in found if finding.category not in twin.also]


def alarms(program: Program, policy: PolicyPreset) -> list[Finding]:
    """Return the blocking findings of an ordinary program that are not known to be right."""
    right = expected().get(program.id, frozenset())
    return [
        finding
        for cell in program.cells
        for finding in scan(cell, "python", policy, notebook=program.notebook).blocking
        if finding.category not in right
    ]
