"""What a policy is made of."""

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
"""What a pattern sees: code without what its strings hold, only that, or both. Never comments."""

Enforcement = Literal["enforce", "advise", "off"]
"""Whether findings refuse code, are reported only, or are not looked for."""

_LONGEST_PATTERN = 2_000


class SecurityIssueSeverity(IntEnum):
    """How grave a finding is."""

    SAFE = 0
    """Not an issue; as a threshold: report everything, block nothing."""
    LOW = 1
    """Worth knowing."""
    MEDIUM = 2
    """Rarely needed and easily misused."""
    HIGH = 3
    """Aimed at the machine rather than at a task."""

    @property
    def word(self) -> SeverityName:
        """The name in lower case."""
        return SEVERITIES[self]


class _Model(BaseModel):
    # A misspelt field of a security policy must not be taken for one that is set.
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class SecurityPattern(_Model):
    """A regular expression that code should not match."""

    pattern: str
    """The expression, with `^` and `$` matching at each line."""
    description: str
    """What a match means, for people."""
    severity: SecurityIssueSeverity
    """How grave a match is."""
    target: PatternTarget = "all"
    """What it is searched in."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""

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
    """A module, and everything below it, that code should not come by, on whatever route."""

    name: str = Field(min_length=1)
    """The module's dotted name."""
    description: str
    """Why it is restricted, for people."""
    severity: SecurityIssueSeverity
    """How grave its use is."""


class SecurityPolicy(_Model):
    """What code may not do; a signal before the sandbox, never the boundary itself."""

    name: str = ""
    """What reports call it; empty for one without a name."""
    severity_threshold: SecurityIssueSeverity = SecurityIssueSeverity.SAFE
    """Findings of at least this severity block the code; SAFE (default) blocks none."""
    patterns: list[SecurityPattern] | None = None
    """Patterns to look for; None (default) for none."""
    restricted_modules: list[RestrictedModule] | None = None
    """Modules to look for; None (default) for none."""
    capabilities: dict[Capability, SecurityIssueSeverity] = Field(default_factory=dict)
    """How grave it is that code can do something; what is not named is not reported."""
    allow: list[str] = Field(default_factory=list)
    """What is never reported: subjects such as ``os.remove``, modules, libraries or capabilities;
    a name allows everything below it."""
    enforcement: Enforcement = "enforce"
    """``enforce`` (default): code with a blocking finding is not run. ``advise``: it is, and the
    findings are in the result. ``off``: nothing is looked for."""
    on_parse_error: Literal["warn", "block"] = "warn"
    """What code that is no program of its language is: a finding of severity LOW, or of HIGH."""
    refusal: Literal["raise", "result"] = "raise"
    """How `run` refuses: by `SecurityViolationError`, or by a result of status ``blocked``."""

    def add_pattern(self, pattern: SecurityPattern) -> None:
        """Look for one more pattern."""
        self.patterns = [*(self.patterns or ()), pattern]

    def add_restricted_module(self, module: RestrictedModule) -> None:
        """Look for one more module."""
        self.restricted_modules = [*(self.restricted_modules or ()), module]

    def grade(self, capability: Capability) -> SecurityIssueSeverity:
        """Return how grave a capability is; SAFE for one that is not named."""
        return self.capabilities.get(capability, SecurityIssueSeverity.SAFE)

    def explain(self) -> str:
        """Return what the policy refuses and reports, as text for people."""
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
