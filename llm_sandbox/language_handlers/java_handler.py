"""Import path of the Java handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.java import JavaHandler

__all__ = ["JavaHandler"]
