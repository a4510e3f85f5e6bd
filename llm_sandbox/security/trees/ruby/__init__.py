"""Engine for Ruby."""

from llm_sandbox.security.trees.ruby.engine import scan

__all__ = ["scan"]
