"""Sandboxes that are made ahead of need: none where a test runs on an engine or on gVisor.

There each session would make two more for the next one, with all libraries loaded, and most tests
want another one next. Tests of sandboxes made ahead have the marker `prefork`.
"""

import os

import pytest

from llm_sandbox.settings import get_settings

VARIABLE = "LLM_SANDBOX_PREFORK"
_BEFORE = os.environ.get(VARIABLE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the number for a test and for what it starts, before its fixtures."""
    is_dear = item.get_closest_marker("engine") is not None or "gvisor" in item.nodeid.lower()
    wanted = "0" if is_dear and item.get_closest_marker("prefork") is None else _BEFORE
    if os.environ.get(VARIABLE) == wanted:
        return
    if wanted is None:
        del os.environ[VARIABLE]
    else:
        os.environ[VARIABLE] = wanted
    get_settings.cache_clear()
