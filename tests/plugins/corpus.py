"""Sample of the tests with the marker `corpus`: every fourth case in a usual run, each with
`--corpus=all`.

They are many cases of one kind, or a suite that runs whole on another engine of the same code.
The choice is that of the test's name, so it is the same in every run, and a new case changes none
of the others. Tests named on the command line with `::` run whole.
"""

from __future__ import annotations

import zlib

import pytest

PART = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--corpus",
        choices=("sample", "all"),
        default="sample",
        help="cases of tests with the marker `corpus`: every fourth (sample), or all",
    )


@pytest.fixture(scope="session")
def whole_corpus(pytestconfig: pytest.Config) -> bool:
    """Whether each case is run, for a test that makes its own."""
    return bool(pytestconfig.getoption("corpus") == "all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("corpus") == "all" or any("::" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("corpus") and not chosen(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left = set(left_out)
        items[:] = [item for item in items if item not in left]


def chosen(item: pytest.Item) -> bool:
    """Return whether a case of a corpus is one of the sample."""
    return zlib.crc32(item.nodeid.encode()) % PART == 0
