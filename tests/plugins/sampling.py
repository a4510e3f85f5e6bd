"""Sample of the tests with the marker `sampled`: every fourth case in a usual run, each with
`--cases=all`.

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
        "--cases",
        choices=("sample", "all"),
        default="sample",
        help="cases of tests with the marker `sampled`: every fourth (sample), or all",
    )


@pytest.fixture(scope="session")
def all_cases(pytestconfig: pytest.Config) -> bool:
    """Provide whether each case is run, for a test that makes its own."""
    return bool(pytestconfig.getoption("cases") == "all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("cases") == "all" or any("::" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("sampled") and not chosen(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        left = set(left_out)
        items[:] = [item for item in items if item not in left]


def chosen(item: pytest.Item) -> bool:
    """Return whether a case is one of the sample."""
    return zlib.crc32(item.nodeid.encode()) % PART == 0
