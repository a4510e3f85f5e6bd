"""An ordinary user of this machine, for tests that root starts."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    yield pwd.getpwnam(name).pw_uid
    subprocess.run(["userdel", "--remove", name], capture_output=True)
