"""The R handler. Imports the handler contract and layer 0. Start at `handler`."""

from llm_sandbox.language_handlers.r.handler import RHandler

__all__ = ["RHandler"]
