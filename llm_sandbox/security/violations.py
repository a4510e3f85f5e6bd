"""Findings as `is_safe` returns them: patterns, as policies are made of."""

from pydantic import Field

from llm_sandbox.results.findings import Finding
from llm_sandbox.security.models import SecurityIssueSeverity, SecurityPattern
from llm_sandbox.security.policy_evaluator import expression
from llm_sandbox.security.report import ScanReport

__all__ = ["Violation", "violations_of"]


class Violation(SecurityPattern):
    """A finding as a `SecurityPattern`: of its own expression, or of what was found."""

    finding: Finding = Field(repr=False)
    """What was found, and where."""

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
    # What has been found is not validated once more.
    return [
        Violation.model_construct(
            pattern=expression(finding),
            description=finding.message,
            severity=SecurityIssueSeverity[finding.severity.upper()],
            finding=finding,
        )
        for finding in report.findings
    ]
