"""Choice of the tests of a usual run: none with the marker `slow`, and every fourth case of those
with the marker `sampled`.

`--slow` adds the slow ones, and `--cases=all` every case. Sampled are many cases of one kind, or a
suite that runs whole on another engine of the same code. The sample is chosen by the test's name,
so it is the same in every run, and a new case changes none of the others. Slow files that are named
on the command line run, and tests named with `::` run whole.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

PART = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        choices=("sample", "all"),
        default="sample",
        help="cases of tests with the marker `sampled`: every fourth (sample), or all",
    )
    parser.addoption("--slow", action="store_true", help="run tests with the marker `slow`, too")


@pytest.fixture(scope="session")
def all_cases(pytestconfig: pytest.Config) -> bool:
    """Provide whether each case is run, for a test that makes its own."""
    return bool(pytestconfig.getoption("cases") == "all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any("::" in argument for argument in config.args):
        return
    named = {Path(argument).resolve() for argument in config.args}
    slow, every = config.getoption("slow"), config.getoption("cases") == "all"
    left_out = [
        item
        for item in items
        if (item.get_closest_marker("slow") and not slow and item.path not in named)
        or (item.get_closest_marker("sampled") and not every and not chosen(item))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left = set(left_out)
        items[:] = [item for item in items if item not in left]


def chosen(item: pytest.Item) -> bool:
    """Return whether a case is one of the sample."""
    return zlib.crc32(item.nodeid.encode()) % PART == 0
