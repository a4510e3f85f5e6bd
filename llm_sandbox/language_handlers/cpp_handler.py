"""Import path of the C++ handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.cpp import CppHandler

__all__ = ["CppHandler"]
