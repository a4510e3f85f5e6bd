"""Python language handler; start at `handler`."""

from llm_sandbox.language_handlers.python.handler import PythonHandler

__all__ = ["PythonHandler"]
