"""Kubernetes' machines and sessions, by the suites that ship with the library."""

import pytest

from llm_sandbox.backends.kubernetes.manifest import PROCESS_ALLOWANCE
from llm_sandbox.testing.backend_suite import BackendSuite
from llm_sandbox.testing.session_suite import SessionSuite

pytestmark = pytest.mark.cluster


class TestMachines(BackendSuite):
    backend_name = "kubernetes"
    process_allowance = PROCESS_ALLOWANCE


class TestSessions(SessionSuite):
    backend_name = "kubernetes"
