"""Security policies and their parts."""

import re
from enum import IntEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from llm_sandbox.results.findings import SEVERITIES, Capability, SeverityName

__all__ = [
    "Enforcement",
    "PatternTarget",
    "RestrictedModule",
    "SecurityIssueSeverity",
    "SecurityPattern",
    "SecurityPolicy",
]

PatternTarget = Literal["code", "strings", "all"]
"""Text that a pattern is searched in: code without string contents, string contents, or both.
Comments are never searched."""

Enforcement = Literal["enforce", "advise", "off"]
"""Effect of findings: code is refused, findings are only reported, or nothing is scanned."""

_LONGEST_PATTERN = 2_000


class SecurityIssueSeverity(IntEnum):
    """Severity of a finding."""

    SAFE = 0
    """No issue; as a threshold: report everything, block nothing."""
    LOW = 1
    """Minor issue that is worth knowing."""
    MEDIUM = 2
    """Rarely needed and easily misused."""
    HIGH = 3
    """Attack on the machine."""

    @property
    def word(self) -> SeverityName:
        """Name in lower case."""
        return SEVERITIES[self]


class _Model(BaseModel):
    # A misspelt field of a security policy must not be taken for one that is set.
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class SecurityPattern(_Model):
    """Regular expression that code should not match."""

    pattern: str
    """Regular expression, with `^` and `$` matching at each line."""
    description: str
    """Meaning of a match, for people."""
    severity: SecurityIssueSeverity
    """Severity of a match."""
    target: PatternTarget = "all"
    """Part of the code that is searched."""
    ignore_case: bool = False
    """Whether matching is case-insensitive."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        if len(pattern) > _LONGEST_PATTERN:
            raise ValueError(f"the pattern is longer than {_LONGEST_PATTERN} characters")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"the pattern is not a regular expression: {error}") from error
        return pattern


class RestrictedModule(_Model):
    """Module, with its submodules, that code should not import or reach otherwise."""

    name: str = Field(min_length=1)
    """Dotted name of the module."""
    description: str
    """Reason for the restriction, for people."""
    severity: SecurityIssueSeverity
    """Severity of a use of the module."""


class SecurityPolicy(_Model):
    """Rules of what code may do; a signal before the sandbox, never the boundary itself."""

    name: str = ""
    """Name in reports; empty for a policy without a name."""
    severity_threshold: SecurityIssueSeverity = SecurityIssueSeverity.SAFE
    """Severity from which findings block the code; SAFE (default) blocks none."""
    patterns: list[SecurityPattern] | None = None
    """Patterns to search for; None (default) for none."""
    restricted_modules: list[RestrictedModule] | None = None
    """Restricted modules; None (default) for none."""
    capabilities: dict[Capability, SecurityIssueSeverity] = Field(default_factory=dict)
    """Severity of each capability; capabilities that are not listed are not reported."""
    allow: list[str] = Field(default_factory=list)
    """Names that are never reported: subjects such as ``os.remove``, modules, libraries or
    capabilities; a name includes everything below it."""
    enforcement: Enforcement = "enforce"
    """``enforce`` (default): code with a blocking finding is not run. ``advise``: code is run, and
    the findings are in the result. ``off``: code is not scanned."""
    on_parse_error: Literal["warn", "block"] = "warn"
    """Severity of code that does not parse: ``warn`` for LOW, ``block`` for HIGH."""
    refusal: Literal["raise", "result"] = "raise"
    """Form of a refusal by `run`: `SecurityViolationError`, or a result of status ``blocked``."""

    def add_pattern(self, pattern: SecurityPattern) -> None:
        """Add a pattern."""
        self.patterns = [*(self.patterns or ()), pattern]

    def add_restricted_module(self, module: RestrictedModule) -> None:
        """Add a restricted module."""
        self.restricted_modules = [*(self.restricted_modules or ()), module]

    def grade(self, capability: Capability) -> SecurityIssueSeverity:
        """Return the severity of a capability; SAFE for one that is not listed."""
        return self.capabilities.get(capability, SecurityIssueSeverity.SAFE)

    def explain(self) -> str:
        """Return a description of the policy for people."""
        threshold = self.severity_threshold
        title = f"policy {self.name!r}" if self.name else "policy without a name"
        blocked = "blocks nothing" if not threshold else f"blocks {threshold.word} and above"
        lines = [f"{title}: {blocked}; enforcement: {self.enforcement}"]
        graded = sorted(self.capabilities.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"  {severity.word:6}  {name}" for name, severity in graded if severity]
        for module in self.restricted_modules or ():
            lines.append(f"  {module.severity.word:6}  module {module.name}: {module.description}")
        for pattern in self.patterns or ():
            lines.append(f"  {pattern.severity.word:6}  pattern: {pattern.description}")
        return "\n".join(lines)
