"""A session's settings, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.session.config import SessionConfig

__all__ = ["SessionConfig"]
