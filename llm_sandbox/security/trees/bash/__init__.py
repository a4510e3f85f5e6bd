"""Bash, and the shells that are like it."""

from llm_sandbox.security.trees.bash.engine import sight

__all__ = ["sight"]
