"""Ruby."""

from llm_sandbox.security.trees.ruby.engine import sight

__all__ = ["sight"]
