"""An R session for the tests of R."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.session.session import BaseSession


@cache
def has_package(name: str) -> bool:
    """Whether R has a package."""
    program = f'quit(status = !requireNamespace("{name}", quietly = TRUE))'
    done = subprocess.run(["Rscript", "-e", program], capture_output=True, timeout=60, check=False)
    return done.returncode == 0


@pytest.fixture(scope="session")
def needs() -> Callable[[str], None]:
    """Skip a test where R lacks a package that it needs."""

    def needs(*names: str) -> None:
        for name in names:
            if not has_package(name):
                pytest.skip(f"R has no package {name} here (Debian: r-cran-{name})")

    return needs


@pytest.fixture(scope="session", autouse=True)
def toolchain() -> None:
    """Skip where there is no R."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed (Debian: r-base-core)")


@pytest.fixture(scope="module")
def shared() -> Iterator[BaseSession]:
    """A session that the tests of a module share; each must leave it as it was."""
    with SandboxSession(lang="r", backend="bubblewrap") as session:
        yield session


@pytest.fixture
def session() -> Iterator[BaseSession]:
    """A session of the test's own."""
    with SandboxSession(lang="r", backend="bubblewrap") as session:
        yield session
