"""Check of each module for open descriptors, at its last test.

A process that serves for days must not run out of them: descriptors that a module leaves are
counted after the teardown of its last test. Intended ones of the whole process, such as a warm
sandbox or the connection to an engine, are opened once and are few.
"""

from __future__ import annotations

import collections
import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_LEFT = 40
"""Descriptors that the first use of every backend opens together."""
MOST_HELD = 200
"""Limit in one process after any module."""
WAIT_S = 5.0
"""Seconds for closing in the background, such as that of an unneeded sandbox of a pool."""


class _Module:
    """Module whose tests run, and the descriptors that were open before the first of them."""

    name = ""
    before = 0


def _open() -> collections.Counter[str]:
    """Return the number of open descriptors by kind."""
    found: collections.Counter[str] = collections.Counter()
    for opened in Path("/proc/self/fd").iterdir():
        try:
            target = str(opened.readlink())
        except OSError:  # the one that lists
            continue
        found[target if target.startswith("/") else target.partition(":")[0]] += 1
    return found


def _excess(before: int) -> str | None:
    """Return a description of the descriptors beyond the limit; None without any."""
    deadline = time.monotonic() + WAIT_S
    while True:
        now = _open()
        left, held = now.total() - before, now.total()
        if left <= MOST_LEFT and held <= MOST_HELD:
            return None
        if time.monotonic() > deadline:
            kinds = ", ".join(f"{count} {name}" for name, count in now.most_common(8))
            return f"left {left} descriptors open, of {held} in this process: {kinds}"
        gc.collect()
        time.sleep(0.1)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    yield
    module = item.nodeid.partition("::")[0]
    if nextitem is None or nextitem.nodeid.partition("::")[0] != module:
        excess = _excess(_Module.before)
        if excess is not None:
            pytest.fail(f"{module} {excess}", pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    module = item.nodeid.partition("::")[0]
    if module != _Module.name:
        _Module.name, _Module.before = module, _open().total()
