"""Every backend's sessions, by the suite that ships with the library."""

from llm_sandbox.testing.session_suite import SessionSuite


class TestBubblewrap(SessionSuite):
    backend_name = "bubblewrap"


class TestLocal(SessionSuite):
    backend_name = "local"
