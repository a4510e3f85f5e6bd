"""C++ language handler; start at `handler`."""

from llm_sandbox.language_handlers.cpp.handler import CppHandler

__all__ = ["CppHandler"]
