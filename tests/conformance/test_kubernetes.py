"""Kubernetes' machines and sessions, by the suites that ship with the library."""

import pytest

from llm_sandbox.backends.kubernetes.manifest import PROCESS_ALLOWANCE
from llm_sandbox.testing.backend_suite import BackendSuite
from llm_sandbox.testing.session_suite import SessionSuite

pytestmark = pytest.mark.cluster


class TestMachines(BackendSuite):
    backend_name = "kubernetes"
    process_allowance = PROCESS_ALLOWANCE
    known_deviations = {  # noqa: RUF012 - as the suite documents it
        "test_the_one_user_can_be_named": "each pod has a user of its own, without a name",
        "test_there_is_no_network": "a policy cuts a pod off; its interface stays",
    }

    @pytest.mark.skip(reason="a pod waits for its client: tests/kubernetes/test_life.py")
    def test_nothing_outlives_the_host(self) -> None:
        """A pod ends some time after its client."""


class TestSessions(SessionSuite):
    backend_name = "kubernetes"
