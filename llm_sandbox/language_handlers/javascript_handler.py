"""Import path of the JavaScript handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.javascript import JavaScriptHandler

__all__ = ["JavaScriptHandler"]
