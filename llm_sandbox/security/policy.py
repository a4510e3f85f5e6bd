"""Policy classes at the import path of other programs; see `llm_sandbox.compat`."""

from llm_sandbox.security.models import (
    RestrictedModule,
    SecurityIssueSeverity,
    SecurityPattern,
    SecurityPolicy,
)

__all__ = ["RestrictedModule", "SecurityIssueSeverity", "SecurityPattern", "SecurityPolicy"]
