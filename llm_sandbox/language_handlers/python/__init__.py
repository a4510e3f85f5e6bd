"""The Python handler. Imports the handler contract and layer 0. Start at `handler`."""

from llm_sandbox.language_handlers.python.handler import PythonHandler

__all__ = ["PythonHandler"]
