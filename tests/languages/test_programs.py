"""Small real programs in every language, run one after the other in one session."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.language_handlers.registry import BUILTIN
from llm_sandbox.testing.language_fixtures import LanguageFixtures, SharedSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.session.session import BaseSession

PROGRAMS = Path(__file__).with_name("programs")
LEAST = 20
SHARED = {"typescript": "javascript"}
"""Languages whose programs are mostly those of another one."""

pytestmark = pytest.mark.timeout(240)


class Sessions(LanguageFixtures):
    backend_name = "bubblewrap"


def programs_of(language: str) -> list[Path]:
    """The programs of a language: what has an expected output beside it."""
    outputs = sorted((PROGRAMS / language).glob("*.out"))
    return [
        next(path for path in output.parent.glob(f"{output.stem}.*") if path.suffix != ".out")
        for output in outputs
    ]


CASES = [
    pytest.param(language, path, id=f"{language}-{path.stem}")
    for language in sorted(BUILTIN)
    for path in programs_of(language)
]


@pytest.fixture(scope="module")
def session_of() -> Iterator[Callable[[str], BaseSession]]:
    """Give the session of a language."""
    shared: dict[str, SharedSession] = {}

    def session_of(language: str) -> BaseSession:
        if language not in shared:
            # Of one language at a time: tests come in that order.
            for name in list(shared):
                shared.pop(name).close()
            shared[language] = SharedSession(Sessions, language)
        return shared[language].get()

    with contextlib.ExitStack() as stack:
        stack.callback(lambda: [session.close() for session in shared.values()])
        yield session_of


@pytest.mark.sampled
@pytest.mark.parametrize(("language", "path"), CASES)
def test_program(session_of: Callable[[str], BaseSession], language: str, path: Path) -> None:
    """A program prints what is written beside it, and leaves nothing else."""
    result = session_of(language).run(path.read_text(encoding="utf-8"), timeout=100)

    assert path.with_suffix(".out").read_text(encoding="utf-8") == result.stdout, result.stderr
    assert ("", 0) == (result.stderr, result.exit_code)
    assert () == result.files


@pytest.mark.parametrize("language", sorted(set(BUILTIN) - set(SHARED)))
def test_there_are_enough_programs(language: str) -> None:
    assert len(programs_of(language)) >= LEAST


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*/*")), ids=lambda path: path.name)
def test_each_program_has_an_output(path: Path) -> None:
    """No program is passed over because nobody wrote what it prints."""
    assert path.suffix == ".out" or path.with_suffix(".out").exists()
