"""Fixtures of the scanner's tests."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.scanner.corpus.benign import Program, fetched
from tests.scanner.corpus.fetching import FetchError


@pytest.fixture(scope="session")
def floors() -> dict[str, Any]:
    """What must be reached."""
    return tomllib.loads((Path(__file__).parent / "floors.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def programs() -> tuple[Program, ...]:
    """The ordinary programs of others."""
    try:
        return fetched()
    except FetchError as error:
        pytest.skip(str(error))
