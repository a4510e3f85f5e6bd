"""Bash, and the shells that are like it."""

from llm_sandbox.security.trees.bash.engine import scan

__all__ = ["scan"]
