"""Ruby language handler; start at `handler`."""

from llm_sandbox.language_handlers.ruby.handler import RubyHandler

__all__ = ["RubyHandler"]
