"""Fixtures with sessions of languages."""

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
"""Value of the environment variable GREETING in every session."""
RUN_S = 60.0
"""Seconds after which a run is given up."""


class LanguageFixtures:
    """Fixtures with one session for each language, on the backend that a subclass names."""

    backend_name: ClassVar[str]
    samples_place: ClassVar[Path] = BUILTIN_SAMPLES
    """Folder with a file of samples for each language, or one file."""
    languages: ClassVar[Sequence[str] | None] = None
    """Languages to test; None for all that have samples."""
    options: ClassVar[dict[str, Any]] = {}
    """Further options of sessions, such as an image."""

    @classmethod
    def marks_of(cls, language: str) -> list[pytest.MarkDecorator]:
        """Return the pytest marks for the tests of a language; none."""
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
        """Provide the name of the language."""
        usable_backend(cls.backend_name)
        return str(request.param)

    @pytest.fixture(scope="class")
    @classmethod
    def samples(cls, language: str) -> LanguageSamples:
        """Provide the samples of the language."""
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
        """Provide the session of the language, a new one after a failed test."""
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
    """Session shared by many tests.

    Args:
        opener: Function that opens the session.
        language: Language of the session.
    """

    def __init__(self, opener: type[LanguageFixtures], language: str) -> None:
        self._opener = opener
        self._language = language
        self._session: BaseSession | None = None
        self._absence: str | None = None

    def get(self) -> BaseSession:
        """Return the session, a new one if none works."""
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
    """Run code that exceeds its timeout, and return the partial result."""
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=timeout)
    result = caught.value.result
    assert isinstance(result, ExecutionResult)
    return result
