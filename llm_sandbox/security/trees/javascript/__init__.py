"""Engine for JavaScript, and for the part of TypeScript that is JavaScript."""

from llm_sandbox.security.trees.javascript.engine import scan

__all__ = ["scan"]
