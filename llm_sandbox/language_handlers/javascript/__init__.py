"""JavaScript and TypeScript language handlers, by Node.js; start at `handler`."""

from llm_sandbox.language_handlers.javascript.handler import JavaScriptHandler, TypeScriptHandler

__all__ = ["JavaScriptHandler", "TypeScriptHandler"]
