"""A sandbox that the tests of a module share, and ways to look at what programs do in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox import Process

WAIT_S = 40.0


def until(look: Callable[[], Any], seconds: float = WAIT_S) -> Any:
    """Look again and again until there is something to see; what was seen last."""
    end = time.monotonic() + seconds
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return seen


def shown(process: Process, text: str) -> str:
    """What a program has written when it has come to this text."""
    seen = ""
    for piece in process.stdout.chunks():
        seen += piece
        if text in seen:
            return seen
    raise AssertionError(seen)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox of the default backend."""
    with Sandbox.create(backend="bubblewrap") as made:
        yield made
