"""Scheduling of tests on processes (`pytest -n`): related tests stay together, and tests that
measure the machine run alone.

A folder whose tests share something of the machine, such as an image that the first of them builds
or an account that one of them makes, goes to one process as a whole; elsewhere a class or the
functions of a module do, and of the languages' suite each language.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

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
)
LANGUAGES = ("tests/conformance/test_languages.py::Test", "tests/languages/test_programs.py::")
"""Module with a session for each language, whose name is the first of a test's parameters."""
ALONE = (
    "tests/lifecycle/",
    "tests/redteam/test_files_of_a_run.py",
    "tests/redteam/test_resources.py",
)
"""Modules that compare times and sizes with the whole machine's."""


def share(nodeid: str) -> str:
    """Return the name of the share that a test belongs to."""
    folder = next((folder for folder in WHOLE if nodeid.startswith(folder)), None)
    scope, _, test = nodeid.rpartition("::")
    if nodeid.startswith(LANGUAGES):
        return f"{scope}[{test.partition('[')[2].rstrip(']').partition('-')[0]}]"
    return folder or scope


class _Scheduling:
    """Scheduler, in the controlling process."""

    @pytest.hookimpl(trylast=True)
    def pytest_xdist_make_scheduler(self, config, log):
        from xdist.scheduler import LoadScopeScheduling

        class Shares(LoadScopeScheduling):
            def _split_scope(self, nodeid: str) -> str:
                return share(nodeid)

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
    if config.pluginmanager.hasplugin("dsession"):
        config.pluginmanager.register(_Scheduling())
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        config.pluginmanager.register(_Turns(worker["testrunuid"]))


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("dsession"):
        for path in Path(tempfile.gettempdir()).glob(f"pytest-*-{_uid(config)}"):
            path.unlink(missing_ok=True)


def _uid(config: pytest.Config) -> str:
    return str(config.pluginmanager.getplugin("dsession").nodemanager.testrunuid)
