"""Sessions of languages for the suites that test them."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError, SandboxTimeoutError, ToolchainNotFoundError
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.language_samples import (
    BUILTIN_SAMPLES,
    TABLES,
    LanguageSamples,
    Sample,
    languages_in,
)
from llm_sandbox.testing.suite import usable_backend

__all__ = ["GREETING", "RUN_S", "LanguageFixtures", "SharedSession", "timed_out"]

GREETING = "good day, wörld"
"""What the environment variable GREETING is in every session."""
RUN_S = 60.0
"""Seconds after which a run that should have ended long ago is given up."""


class LanguageFixtures:
    """Gives tests one session for each language, on the backend that a subclass names."""

    backend_name: ClassVar[str]
    samples_place: ClassVar[Path] = BUILTIN_SAMPLES
    """The samples: a folder with a file for each language, or one file."""
    languages: ClassVar[Sequence[str] | None] = None
    """The languages that are tried; None for all that have samples."""
    options: ClassVar[dict[str, Any]] = {}
    """What sessions are opened with besides, such as an image."""

    @classmethod
    def marks_of(cls, language: str) -> list[pytest.MarkDecorator]:
        """Marks of a language's tests; none."""
        return []

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run every test of a language with every language."""
        if "language" not in metafunc.fixturenames:
            return
        names = languages_in(self.samples_place) if self.languages is None else self.languages
        cases = [pytest.param(name, marks=self.marks_of(name)) for name in names]
        metafunc.parametrize("language", cases, indirect=True, scope="class")

    @pytest.fixture(scope="class")
    @classmethod
    def language(cls, request: pytest.FixtureRequest) -> str:
        """Name of the language."""
        usable_backend(cls.backend_name)
        return str(request.param)

    @pytest.fixture(scope="class")
    @classmethod
    def samples(cls, language: str) -> LanguageSamples:
        """The language's samples."""
        place = cls.samples_place
        return LanguageSamples.load(place / f"{language}.toml" if place.is_dir() else place)

    @pytest.fixture(scope="class")
    @classmethod
    def _shared(cls, language: str, samples: LanguageSamples) -> "Iterator[SharedSession]":
        shared = SharedSession(cls, language)
        yield shared
        shared.close()

    @pytest.fixture
    def session(
        self, request: pytest.FixtureRequest, _shared: "SharedSession"
    ) -> Iterator[BaseSession]:
        """The language's session, a new one after a test that failed in it."""
        failed = request.session.testsfailed
        yield _shared.get()
        if request.session.testsfailed > failed:
            _shared.close()

    @classmethod
    def open(cls, language: str, **options: Any) -> BaseSession:
        """Return an open session; skips the test where the language is not installed."""
        options = {"env": {"GREETING": GREETING}, **cls.options, **options}
        try:
            session = ArtifactSandboxSession(cls.backend_name, lang=language, **options)
            session.open()
        except ToolchainNotFoundError as error:
            pytest.skip(f"not installed: {error.message}")
        return session

    @staticmethod
    def need(samples: LanguageSamples, name: str) -> Sample:
        """Return a sample; skips the test with the reason where the language has none."""
        if name in samples.absent:
            pytest.skip(f"absent: {samples.absent[name]}")
        if name not in samples.samples:
            pytest.fail(f"the samples of {samples.language} say nothing of {name}: {TABLES[name]}")
        return samples.samples[name]


class SharedSession:
    """A session for many tests.

    Args:
        opener: Opens it.
        language: Its language.
    """

    def __init__(self, opener: type[LanguageFixtures], language: str) -> None:
        self._opener = opener
        self._language = language
        self._session: BaseSession | None = None
        self._absence: str | None = None

    def get(self) -> BaseSession:
        """The session, a new one if there is none that works."""
        if self._absence is not None:
            pytest.skip(self._absence)
        if self._session is not None and not self._session.is_open:
            self.close()
        if self._session is None:
            try:
                self._session = self._opener.open(self._language)
            except pytest.skip.Exception as skipped:
                self._absence = str(skipped.msg)
                raise
        return self._session

    def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            # What was wrong with it has failed its own test.
            with contextlib.suppress(SandboxError):
                session.close()


def timed_out(session: BaseSession, code: str, timeout: float) -> ExecutionResult:
    """Run code that does not end in time, and return what it came to."""
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=timeout)
    result = caught.value.result
    assert isinstance(result, ExecutionResult)
    return result
