"""Every backend's machines, by the suite that ships with the library."""

from llm_sandbox.testing.backend_suite import BackendSuite


class TestBubblewrap(BackendSuite):
    backend_name = "bubblewrap"


class TestLocal(BackendSuite):
    backend_name = "local"
