"""R language handler; start at `handler`."""

from llm_sandbox.language_handlers.r.handler import RHandler

__all__ = ["RHandler"]
