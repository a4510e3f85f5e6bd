"""Accounts: the marker `root`, and an ordinary user for tests that root starts."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs uid 0")


@pytest.fixture(scope="session")
def plain_user() -> Iterator[int]:
    """An unprivileged uid of the host: this one, or that of an account made for the test."""
    if os.geteuid() != 0:
        yield os.geteuid()
        return
    name = f"tests{secrets.token_hex(3)}"
    if shutil.which("useradd") is None:
        pytest.skip("there is no useradd, and root is no unprivileged user")
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", name], check=True)
    user = pwd.getpwnam(name).pw_uid
    yield user
    # An account that something runs for is not removed: podman, for one, leaves a process.
    for attempt in range(100):
        left = _processes(user)
        if not left:
            break
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05 * min(attempt, 4))
    done = subprocess.run(["userdel", "--remove", name], capture_output=True, text=True)
    assert name not in {account.pw_name for account in pwd.getpwall()}, done.stderr


def _processes(user: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if folder.stat().st_uid == user:
                found.append(int(folder.name))
    return found
