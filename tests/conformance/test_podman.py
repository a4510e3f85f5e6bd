"""Podman's machines and sessions, by the suites that ship with the library."""

import pytest

from llm_sandbox.backends.containers.creation.arguments import PROCESS_ALLOWANCE
from llm_sandbox.testing.backend_suite import BackendSuite
from llm_sandbox.testing.session_suite import SessionSuite

# Its backend is Docker's but for the connection.
pytestmark = [pytest.mark.engine("podman", image="python"), pytest.mark.sampled]


class TestMachines(BackendSuite):
    backend_name = "podman"
    process_allowance = PROCESS_ALLOWANCE


class TestSessions(SessionSuite):
    backend_name = "podman"
