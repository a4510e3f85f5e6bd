"""C++, and C as far as the grammar of C++ goes."""

from llm_sandbox.security.trees.cpp.engine import scan

__all__ = ["scan"]
