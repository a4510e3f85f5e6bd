"""Scheduling of tests on processes (`pytest -n`): related tests stay together, and tests that
measure the machine run alone.

A folder whose tests share something of the machine, such as an image that the first of them builds
or an account that one of them makes, goes to one process as a whole; elsewhere a class or the
functions of a module do, and of the languages' suite each language. What takes longest comes first,
and the tests that run alone come last, when the other processes have little left to do.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = (
    "tests/documents/",
    "tests/images/",
    "tests/lifecycle/",
    "tests/micromamba/",
    "tests/packaging/",
    "tests/redteam/",
    "tests/server/jupyter_gateway/",
    "tests/server/v1/",
)
LANGUAGES = ("tests/conformance/test_languages.py::Test", "tests/languages/test_programs.py::")
"""Module with a session for each language, whose name is the first of a test's parameters."""
ALONE = (
    "tests/lifecycle/",
    "tests/redteam/test_files_of_a_run.py",
    "tests/redteam/test_resources.py",
)
"""Modules that compare times and sizes with the whole machine's."""
SECONDS = {
    "adapters": 0.4,
    "capture": 0.8,
    "cli": 1.2,
    "conformance": 0.5,
    "containers": 0.5,
    "detached": 1.7,
    "documents": 1.1,
    "gvisor": 1.0,
    "hosts": 8.0,
    "images": 1.7,
    "integrations": 2.0,
    "languages": 0.4,
    "matrix": 0.4,
    "micromamba": 0.5,
    "podman": 1.0,
}
"""Seconds that a test of a folder takes, about; in the others it is a fifth of a second."""


def share(nodeid: str) -> str:
    """Return the name of the share that a test belongs to."""
    if nodeid.startswith(ALONE):
        return "alone"
    folder = next((folder for folder in WHOLE if nodeid.startswith(folder)), None)
    scope, _, test = nodeid.rpartition("::")
    if nodeid.startswith(LANGUAGES):
        return f"{scope}[{test.partition('[')[2].rstrip(']').partition('-')[0]}]"
    return folder or scope


def order(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return tests by share, the longest share first and those that run alone last."""
    shares: dict[str, list[pytest.Item]] = {}
    for item in items:
        shares.setdefault(share(item.nodeid), []).append(item)

    def length(name: str) -> float:
        if name == "alone":
            return -1.0
        return sum(SECONDS.get(item.nodeid.split("/")[1], 0.2) for item in shares[name])

    return [item for name in sorted(shares, key=length, reverse=True) for item in shares[name]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share(nodeid)

    # The order is that of the items.
    config.option.loadscopereorder = False
    return Shares(config, log)


class _Turns:
    """Locks in a worker process: one test of `ALONE` runs while no other does.

    A test that wants its turn first takes the gate, and one that wants to be alone holds it while
    waiting, so that none waits for ever.
    """

    def __init__(self, run: str) -> None:
        folder = Path(tempfile.gettempdir())
        self._gate = folder / f"pytest-gate-{run}"
        self._floor = folder / f"pytest-floor-{run}"

    # Outside of what counts towards a test's time limit.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        alone = item.nodeid.startswith(ALONE)
        with contextlib.ExitStack() as turn:
            with _locked(self._gate, fcntl.LOCK_EX):
                turn.enter_context(_locked(self._floor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
            yield


@contextlib.contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        config.pluginmanager.register(_Turns(worker["testrunuid"]))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items[:] = order(items)


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("dsession"):
        for path in Path(tempfile.gettempdir()).glob(f"pytest-*-{_uid(config)}"):
            path.unlink(missing_ok=True)


def _uid(config: pytest.Config) -> str:
    return str(config.pluginmanager.getplugin("dsession").nodemanager.testrunuid)
