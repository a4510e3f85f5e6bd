"""Engine for C++, and for C as far as the grammar of C++ covers it."""

from llm_sandbox.security.trees.cpp.engine import scan

__all__ = ["scan"]
