"""Base class of sessions, at the import path of the reference; see `llm_sandbox.compat`."""

from llm_sandbox.session.session import BaseSession

__all__ = ["BaseSession"]
