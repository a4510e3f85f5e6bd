"""Suites that every backend passes, over machines and sessions in a named environment.

Its machines are Docker's, which pass all of them; here is what an environment's activation touches.
"""

from typing import ClassVar

import pytest

from llm_sandbox.backends.containers.creation.arguments import PROCESS_ALLOWANCE
from llm_sandbox.testing.ending_suite import EndingSuite
from llm_sandbox.testing.environment_suite import EnvironmentSuite
from llm_sandbox.testing.session_environment_suite import SessionEnvironmentSuite
from llm_sandbox.testing.session_result_suite import SessionResultSuite
from llm_sandbox.testing.stream_suite import StreamSuite

pytestmark = pytest.mark.slow


@pytest.mark.sampled
class TestMachines(StreamSuite, EndingSuite, EnvironmentSuite):
    backend_name = "micromamba"
    process_allowance = PROCESS_ALLOWANCE
    known_deviations: ClassVar[dict[str, str]] = {
        "test_the_hosts_files_are_not_there": "the image has a home of its own: /home/mambauser",
        "test_the_one_user_can_be_named": "the image has no name for the user that code runs as",
    }

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, backend_for):
        return backend_for("science")


@pytest.mark.sampled
class TestSessions(SessionResultSuite, SessionEnvironmentSuite):
    backend_name = "micromamba"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _works(cls, backend_for):
        # The suite's tests make sessions by this name for the backend.
        cls.backend_name = backend_for("science")
