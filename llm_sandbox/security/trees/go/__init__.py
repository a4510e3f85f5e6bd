"""Engine for Go."""

from llm_sandbox.security.trees.go.engine import scan

__all__ = ["scan"]
