"""Go."""

from llm_sandbox.security.trees.go.engine import sight

__all__ = ["sight"]
