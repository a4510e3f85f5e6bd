"""Engine for Java."""

from llm_sandbox.security.trees.java.engine import scan

__all__ = ["scan"]
