"""Java sessions for the tests of Java."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import ArtifactSandboxSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.session.session import BaseSession

ARCHIVES = Path("/usr/share/java")


@pytest.fixture(scope="session", autouse=True)
def toolchain() -> None:
    """Skip where there is no Java."""
    if shutil.which("javac") is None:
        pytest.skip("Java is not installed (Debian: default-jdk-headless)")


@pytest.fixture(scope="session")
def needs() -> Callable[..., None]:
    """Skip a test where an archive that it needs is not installed."""

    def needs(*names: str) -> None:
        for name in names:
            if not (ARCHIVES / f"{name}.jar").exists():
                pytest.skip(f"there is no {name}.jar here (Debian: lib{name}-java)")

    return needs


@pytest.fixture(scope="module")
def shared() -> Iterator[BaseSession]:
    """A session that the tests of a module share; each must leave it usable."""
    with ArtifactSandboxSession(lang="java", backend="bubblewrap") as session:
        yield session


@pytest.fixture
def session() -> Iterator[BaseSession]:
    """A session of the test's own."""
    with ArtifactSandboxSession(lang="java", backend="bubblewrap") as session:
        yield session
