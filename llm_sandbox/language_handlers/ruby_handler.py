"""The handler, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.ruby import RubyHandler

__all__ = ["RubyHandler"]
