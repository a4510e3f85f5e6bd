"""Grading of raw findings by a policy, and findings as the violations that `is_safe` returns."""

import re
from collections.abc import Iterator

from pydantic import Field

from llm_sandbox.results.findings import Capability, Finding, Span
from llm_sandbox.security.capabilities import FACTS
from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.source import Source

__all__ = ["PolicyEvaluator", "Violation", "expression", "is_below", "violations_of"]

_MODULE_FIX = "Use another library, or none."
_PATTERN_FIX = "Write it without what the pattern matches."
_LONGEST_SUBJECT = 200


def is_below(name: str, parent: str) -> bool:
    """Return whether a dotted or slashed name is `parent` or lies below it."""
    if not name.startswith(parent):
        return False
    rest = name[len(parent) :]
    return not rest or rest[0] in "./:"


class PolicyEvaluator:
    """Evaluator of one policy for one program; it never changes the policy.

    Args:
        policy: The policy.
        source: The program.
    """

    def __init__(self, policy: SecurityPolicy, source: Source) -> None:
        self._policy = policy
        self._source = source

    def grade_output(self, output: ScanOutput) -> Iterator[Finding]:
        """Yield the findings of capabilities and restricted modules."""
        for raw in output.findings:
            severity = self._policy.grade(raw.capability)
            if severity and not self._is_allowed(raw.subject, raw.capability):
                yield self._capability(raw, severity)
        for module in self._policy.restricted_modules or ():
            for use in output.modules:
                name = use.name.removeprefix("node:")
                if is_below(name, module.name) and not self._is_allowed(name, "module"):
                    yield self._module(use, module)

    def problem_finding(
        self, problem: str, span: Span | None, *, abandoned: bool = False
    ) -> Finding:
        """Return the finding for code that does not parse or was not scanned.

        Args:
            problem: Reason.
            span: Position of the problem; None for the first line.
            abandoned: Whether nothing was scanned, as when the code is too long.
        """
        block = abandoned or self._policy.on_parse_error == "block"
        severity = SecurityIssueSeverity.HIGH if block else SecurityIssueSeverity.LOW
        position = span or self._source.line_span(1)
        raw = RawFinding(Capability.UNPARSED, position, problem)
        return self._capability(raw, severity)

    def pattern_finding(
        self, index: int, pattern: SecurityPattern, span: Span, *, timed_out: bool
    ) -> Finding:
        """Return the finding for a match of a pattern of the policy.

        Args:
            index: Index of the pattern in the policy, from 0.
            pattern: The pattern.
            span: Span of the match.
            timed_out: Whether the search timed out.
        """
        late = " (not decided in time, which counts as a match)" if timed_out else ""
        return Finding(
            rule_id=f"pattern/{index + 1}",
            category="pattern",
            severity=pattern.severity.word,
            confidence="low" if timed_out else "high",
            span=span,
            snippet=self._source.snippet(span),
            subject=pattern.pattern[:_LONGEST_SUBJECT],
            message=f"{pattern.description}{late}",
            why="The policy names this pattern.",
            fix=_PATTERN_FIX,
        )

    def _capability(self, raw: RawFinding, severity: SecurityIssueSeverity) -> Finding:
        facts = FACTS[raw.capability]
        detail = f" {raw.detail}" if raw.detail else ""
        subject = raw.subject[:_LONGEST_SUBJECT]
        return Finding(
            rule_id=f"{self._source.lang}/{raw.capability}",
            category=raw.capability,
            severity=severity.word,
            confidence=raw.confidence,
            span=raw.span,
            snippet=self._source.snippet(raw.span),
            subject=subject,
            message=f"{facts.message} ({subject}){detail}",
            why=facts.why,
            fix=facts.fix,
            cwe=facts.cwe,
            route=raw.route,
            inner=raw.inner,
        )

    def _module(self, use: ModuleUse, module: RestrictedModule) -> Finding:
        return Finding(
            rule_id=f"module/{module.name}",
            category="module",
            severity=module.severity.word,
            confidence=use.confidence,
            span=use.span,
            snippet=self._source.snippet(use.span),
            subject=use.name,
            message=module.description,
            why=f"The policy restricts the module {module.name}.",
            fix=_MODULE_FIX,
            route=use.route,
        )

    def _is_allowed(self, subject: str, category: str) -> bool:
        allow = self._policy.allow
        return any(is_below(subject, name) or is_below(category, name) for name in allow)


def expression(finding: Finding) -> str:
    """Return a regular expression that matches the code of a finding."""
    if finding.category == "pattern":
        return finding.subject
    return re.escape(finding.snippet or finding.subject)


class Violation(SecurityPattern):
    """Finding in the form of a `SecurityPattern`."""

    finding: Finding = Field(repr=False)
    """Finding that the violation stands for."""

    @property
    def line(self) -> int:
        """Line of the code, from 1."""
        return self.finding.line

    @property
    def column(self) -> int:
        """Column in that line, from 1."""
        return self.finding.column


def violations_of(report: ScanReport) -> list[Violation]:
    """Return the findings of a report as violations, in the order of the code."""
    # Findings are not validated a second time.
    return [
        Violation.model_construct(
            pattern=expression(finding),
            description=finding.message,
            severity=SecurityIssueSeverity[finding.severity.upper()],
            finding=finding,
        )
        for finding in report.findings
    ]
