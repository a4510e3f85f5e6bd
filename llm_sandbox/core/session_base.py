"""The base of sessions, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.session.session import BaseSession

__all__ = ["BaseSession"]
