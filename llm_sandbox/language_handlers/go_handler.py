"""Import path of the Go handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.go import GoHandler

__all__ = ["GoHandler"]
