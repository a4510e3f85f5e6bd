"""Sessions on a server, by the suite that ships with the library."""

from typing import Any, ClassVar

import pytest

from llm_sandbox import create_session
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_suite import SessionSuite
from tests.server.servers import Served


@pytest.mark.sampled
class TestRemote(SessionSuite):
    backend_name = "remote"
    url: ClassVar[str]

    # What takes seconds, and goes the way of other tests here.
    test_a_million_prints = None  # type: ignore[assignment]
    test_a_cold_interpreter_works = None  # type: ignore[assignment]
    test_random_numbers_differ_between_sessions = None  # type: ignore[assignment]
    test_what_was_shown_before_a_timeout_is_there = None  # type: ignore[assignment]

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _works(cls, server: Served) -> None:
        cls.url = server.url

    @classmethod
    def make(cls, **options: Any) -> BaseSession:
        return create_session(server=cls.url, **options)
