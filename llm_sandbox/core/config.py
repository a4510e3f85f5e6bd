"""Settings of a session, at the import path of the reference; see `llm_sandbox.compat`."""

from llm_sandbox.session.config import SessionConfig

__all__ = ["SessionConfig"]
