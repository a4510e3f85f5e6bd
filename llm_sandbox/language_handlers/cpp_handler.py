"""The handler, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.cpp import CppHandler

__all__ = ["CppHandler"]
