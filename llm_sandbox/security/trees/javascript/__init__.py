"""JavaScript, and what TypeScript shares with it."""

from llm_sandbox.security.trees.javascript.engine import scan

__all__ = ["scan"]
