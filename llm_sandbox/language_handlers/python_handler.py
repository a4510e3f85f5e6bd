"""Import path of the Python handler in the reference API; see `llm_sandbox.compat`."""

from llm_sandbox.language_handlers.python import PythonHandler

__all__ = ["PythonHandler"]
