"""Java language handler; start at `handler`."""

from llm_sandbox.language_handlers.java.handler import JavaHandler

__all__ = ["JavaHandler"]
