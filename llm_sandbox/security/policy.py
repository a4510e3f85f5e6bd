"""The words of policies, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)

__all__ = ["RestrictedModule", "SecurityIssueSeverity", "SecurityPattern", "SecurityPolicy"]
