"""Sessions for the tests of JavaScript and TypeScript."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.session.session import BaseSession

LIBRARIES = ["vega@5", "vega-lite@5", "d3@7", "jsdom@24", "chart.js@4", "@napi-rs/canvas@0.1"]


@pytest.fixture(scope="session", autouse=True)
def toolchain() -> None:
    """Skip where there is no Node.js."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed (Debian: nodejs)")


@pytest.fixture(scope="module")
def shared() -> Iterator[BaseSession]:
    """A session that the tests of a module share; each must leave it usable."""
    with SandboxSession(lang="javascript", backend="bubblewrap") as session:
        yield session


@pytest.fixture(scope="module")
def typed() -> Iterator[BaseSession]:
    """The same for TypeScript."""
    if shutil.which("tsc") is None:
        pytest.skip("TypeScript is not installed (Debian: node-typescript)")
    with SandboxSession(lang="typescript", backend="bubblewrap") as session:
        yield session


@pytest.fixture(scope="session")
def plotter() -> Iterator[BaseSession]:
    """A session with the libraries that draw, which are installed once and then kept."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed (Debian: npm)")
    with SandboxSession(lang="javascript", backend="bubblewrap") as session:
        try:
            session.install(LIBRARIES)
        except LibraryInstallationError as error:
            if "reach" in f"{error.message} {error.hint or ''}":
                pytest.skip(
                    f"npm's packages cannot be reached from here: {error.hint or error.message}"
                )
            raise
        yield session
