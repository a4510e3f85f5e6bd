"""Sessions: an interpreter in a sandbox, from open to close.

May import everything below: sandbox, kernel, backends, language handlers, artifacts, security, and
the words. Start reading at `session`.
"""

from importlib import import_module
from typing import Any

_ABOVE = (
    "ArtifactSandboxSession",
    "BaseSession",
    "InteractiveSandboxSession",
    "SandboxSession",
    "create_session",
)


def __getattr__(name: str) -> Any:
    # Programs written for the reference import these here; see `llm_sandbox.compat`.
    if name in _ABOVE:
        return getattr(import_module("llm_sandbox"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
