"""The suites that every backend passes, over machines and sessions in a named environment."""

from typing import ClassVar

import pytest

from llm_sandbox.backends.containers.creation.arguments import PROCESS_ALLOWANCE
from llm_sandbox.testing.backend_suite import BackendSuite
from llm_sandbox.testing.session_suite import SessionSuite


class TestMachines(BackendSuite):
    backend_name = "micromamba"
    process_allowance = PROCESS_ALLOWANCE
    known_deviations: ClassVar[dict[str, str]] = {
        "test_nothing_outlives_the_host": "its host process knows the backend by name only, and "
        "so asks for the official image, which these tests do not pull",
        "test_the_hosts_files_are_not_there": "the image has a home of its own: /home/mambauser",
        "test_the_one_user_can_be_named": "the image has no name for the user that code runs as",
    }

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls, backend_for):
        return backend_for("science")


class TestSessions(SessionSuite):
    backend_name = "micromamba"

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _works(cls, backend_for):
        # The suite's tests make sessions by this name for the backend.
        cls.backend_name = backend_for("science")
