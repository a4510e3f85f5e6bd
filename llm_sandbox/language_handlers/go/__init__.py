"""Go language handler; start at `handler`."""

from llm_sandbox.language_handlers.go.handler import GoHandler

__all__ = ["GoHandler"]
