"""Java."""

from llm_sandbox.security.trees.java.engine import sight

__all__ = ["sight"]
