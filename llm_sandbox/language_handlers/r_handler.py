"""Import path of the R handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.r import RHandler

__all__ = ["RHandler"]
