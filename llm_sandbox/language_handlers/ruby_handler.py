"""Import path of the Ruby handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.ruby import RubyHandler

__all__ = ["RubyHandler"]
