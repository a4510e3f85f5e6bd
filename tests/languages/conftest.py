"""Kernels for the tests of languages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.languages.wrapped import INTERPRETER, Wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def wrap(tmp_path: Path) -> Iterator[Callable[..., Wrapped]]:
    """Make wrapper kernels, around the tests' interpreter unless another is named."""
    program = tmp_path / "interpreter.py"
    program.write_text(INTERPRETER)
    made: list[Wrapped] = []

    def make(*argv: str, env: dict[str, str] | None = None) -> Wrapped:
        made.append(Wrapped(argv or (sys.executable, "-I", str(program)), env))
        return made[-1]

    yield make
    for wrapped in made:
        wrapped.close()


@pytest.fixture
def wrapped(wrap: Callable[..., Wrapped]) -> Wrapped:
    """A wrapper kernel."""
    return wrap()
