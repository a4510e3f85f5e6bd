"""Engine for Bash and similar shells."""

from llm_sandbox.security.trees.bash.engine import scan

__all__ = ["scan"]
