"""Fixtures with sessions."""

from collections.abc import Iterator
from typing import ClassVar, Unpack

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.create import SessionOptions
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.suite import usable_backend

__all__ = ["SessionFixtures"]


class SessionFixtures:
    """Fixtures with sessions on the backend that a subclass names."""

    backend_name: ClassVar[str]
    stopped_within_s: ClassVar[float] = 4.0
    """Maximum seconds after the timeout of a run that resists, including a new interpreter."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _works(cls) -> None:
        usable_backend(cls.backend_name)

    @classmethod
    def make(cls, **options: Unpack[SessionOptions]) -> BaseSession:
        """Return a new session, with options of `create_session`."""
        return ArtifactSandboxSession(cls.backend_name, **options)

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[BaseSession]:
        """Provide one session for the whole class."""
        with cls.make() as session:
            yield session

    @pytest.fixture
    def own(self) -> Iterator[BaseSession]:
        """Provide a session for one test."""
        with self.make() as session:
            yield session
