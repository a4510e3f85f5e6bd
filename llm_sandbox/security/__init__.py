"""The code scanner: policies, ready-made policies, and the verdict on a piece of code.

Imports the words of layer 0 and pydantic only. Start at `scanner.is_safe`.
"""

from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)
from llm_sandbox.security.presets import PolicyPreset, get_security_policy
from llm_sandbox.security.scanner import is_safe

__all__ = [
    "PolicyPreset",
    "RestrictedModule",
    "SecurityIssueSeverity",
    "SecurityPattern",
    "SecurityPolicy",
    "get_security_policy",
    "is_safe",
]
