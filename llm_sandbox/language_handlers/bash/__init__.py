"""Bash language handler; start at `handler`."""

from llm_sandbox.language_handlers.bash.handler import BashHandler

__all__ = ["BashHandler"]
