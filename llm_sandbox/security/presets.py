"""Ready-made policies, as one table of capability by severity.

Letters are severities: H, M and L; `-` is not reported. `docs/security-policies.md` shows the same
table with what each policy is for.
"""

from typing import Literal, TypeAlias, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.findings import Capability
from llm_sandbox.security.models import SecurityIssueSeverity, SecurityPolicy

__all__ = ["VERSION", "PolicyPreset", "get_security_policy"]

PolicyPreset: TypeAlias = Literal[
    "minimal",
    "development",
    "educational",
    "data_science",
    "web_scraping",
    "production",
    "strict",
]
"""Name of a ready-made policy."""

VERSION = 1
"""Version of the table; it is raised when a severity changes."""

_SAFE, _LOW, _MEDIUM, _HIGH = SecurityIssueSeverity
_GRADES = {"-": _SAFE, "L": _LOW, "M": _MEDIUM, "H": _HIGH}

_COLUMNS = get_args(PolicyPreset)
_THRESHOLDS = "H H M M M M L"
_TABLE = """
                    min dev edu dat web pro str
process.run          M   M   H   H   H   H   H
process.fork         -   L   M   L   L   M   H
process.signal       -   L   M   M   M   M   H
network.socket       -   L   M   M   L   M   H
network.web          -   -   L   L   -   L   H
network.transfer     -   L   M   M   M   M   H
network.metadata     H   H   H   H   H   H   H
file.sensitive       H   H   H   H   H   H   H
file.write           L   L   M   M   M   M   H
file.delete          L   L   L   L   L   M   M
file.permission      -   L   L   L   L   M   M
native               M   H   H   H   H   H   H
deserialise          -   L   L   L   L   M   M
dynamic.code         -   L   L   M   M   M   H
dynamic.unresolved   -   L   M   M   M   M   H
module.escape        -   L   M   M   M   M   H
introspection        -   L   M   M   M   M   H
environment          -   -   L   L   L   M   M
persistence          H   H   H   H   H   H   H
mining               M   H   H   H   H   H   H
resource             L   M   H   H   H   H   H
package.install      -   -   L   L   L   M   H
text.hidden          L   M   M   M   M   M   H
"""
_BLOCK_UNPARSED = frozenset({"production", "strict"})


def _columns() -> dict[str, dict[Capability, SecurityIssueSeverity]]:
    rows = [line.split() for line in _TABLE.strip().splitlines()[1:]]
    return {
        name: {Capability(row[0]): _GRADES[row[number + 1]] for row in rows}
        for number, name in enumerate(_COLUMNS)
    }


def get_security_policy(preset: PolicyPreset) -> SecurityPolicy:
    """Return a new copy of a ready-made policy.

    Args:
        preset: `minimal` blocks attacks on the machine's secrets and persistence; `development`
            also native memory and mining. `educational`, `data_science` and `web_scraping` block
            what their users do not need. `production` allows web requests and files of the working
            directory; `strict` blocks every capability.

    Raises:
        ValidationError: There is no such preset.
    """
    if preset not in _COLUMNS:
        known = ", ".join(_COLUMNS)
        raise ValidationError(
            f"there is no security policy {str(preset)[:100]!r}; known: {known}",
            parameter="preset",
        )
    return SecurityPolicy(
        name=preset,
        severity_threshold=_GRADES[_THRESHOLDS.split()[_COLUMNS.index(preset)]],
        capabilities=_columns()[preset],
        on_parse_error="block" if preset in _BLOCK_UNPARSED else "warn",
    )
