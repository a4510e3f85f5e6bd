"""What a policy is made of."""

import re
from enum import IntEnum

from pydantic import BaseModel, Field, field_validator

__all__ = ["RestrictedModule", "SecurityIssueSeverity", "SecurityPattern", "SecurityPolicy"]


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


class SecurityPattern(BaseModel):
    """A regular expression that code should not match."""

    pattern: str
    """The expression, searched in the code with comments masked and `^` matching at each line."""
    description: str
    """What a match means, for people."""
    severity: SecurityIssueSeverity
    """How grave a match is."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"the pattern is not a regular expression: {error}") from error
        return pattern


class RestrictedModule(BaseModel):
    """A module, and everything below it, that code should not import."""

    name: str = Field(min_length=1)
    """The module's dotted name."""
    description: str
    """Why it is restricted, for people."""
    severity: SecurityIssueSeverity
    """How grave an import is."""


class SecurityPolicy(BaseModel):
    """What code may not contain; a signal before the sandbox, never the boundary itself."""

    severity_threshold: SecurityIssueSeverity = SecurityIssueSeverity.SAFE
    """Findings of at least this severity block the code; SAFE (default) blocks none."""
    patterns: list[SecurityPattern] | None = None
    """Patterns to look for; None (default) for none."""
    restricted_modules: list[RestrictedModule] | None = None
    """Modules to look for; None (default) for none."""

    def add_pattern(self, pattern: SecurityPattern) -> None:
        """Look for one more pattern."""
        self.patterns = [*(self.patterns or ()), pattern]

    def add_restricted_module(self, module: RestrictedModule) -> None:
        """Look for one more module."""
        self.restricted_modules = [*(self.restricted_modules or ()), module]
