"""JavaScript and TypeScript, by Node.js."""

from llm_sandbox.language_handlers.javascript.handler import JavaScriptHandler
from llm_sandbox.language_handlers.javascript.typescript import TypeScriptHandler

__all__ = ["JavaScriptHandler", "TypeScriptHandler"]
