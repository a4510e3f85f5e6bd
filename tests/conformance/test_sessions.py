"""Every backend's sessions, by the suite that ships with the library."""

import pytest

from llm_sandbox.testing.session_suite import SessionSuite


class TestBubblewrap(SessionSuite):
    backend_name = "bubblewrap"


@pytest.mark.sampled
class TestLocal(SessionSuite):
    backend_name = "local"
