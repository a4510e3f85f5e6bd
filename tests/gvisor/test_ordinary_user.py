"""The gVisor backend when the host process is an ordinary user's, started by root."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.testing.suite import eventually
from tests.gvisor.processes import processes_of, still

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
USER = 54_321
"""A user id that is nobody's."""

HOST = """
import json, os, sys, time
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
said = {"host": os.getuid()}
try:
    Sandbox.create(backend="gvisor", limits=Limits(cpus=1))
except UnsupportedError as error:
    said["cpus"] = error.feature
sandbox = Sandbox.create(backend="gvisor", limits=Limits(memory_bytes=128 << 20))
said["inside"] = sandbox.sh("id -u; test -e /proc/sentry-meminfo && echo gVisor").collect().stdout
grow = "x = b'x' * 300_000_000; import time; time.sleep(20)"
said["oom"] = sandbox.exec("python3", "-c", grow).collect(timeout=60).oom_killed
said["state"] = sandbox.isolation.state("memory")
said["after"] = sandbox.exec("echo", "works").collect().stdout
print(json.dumps(said), flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A copy of the library that every user may read, with a home folder in it."""
    if os.geteuid() != 0:
        pytest.skip("every test runs as an ordinary user already")
    try:
        get_backend("gvisor").check()
    except BackendUnavailableError as error:
        pytest.skip(f"gvisor: {error.message}")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        copy = Path(name)
        copy.chmod(0o755)
        shutil.copytree(
            ROOT / "llm_sandbox",
            copy / "llm_sandbox",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (copy / "home").mkdir()
        os.chown(copy / "home", USER, USER)
        yield copy


def test_an_ordinary_user_has_the_same(folder: Path) -> None:
    """Sandboxes are gVisor's, hold their memory, refuse what they cannot hold, and end with their
    host, with no right that root has.
    """
    program = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if program is None or version not in subprocess.check_output([program, "-V"], text=True):
        pytest.skip(f"there is no Python {version} that other users may start")
    host = subprocess.Popen(
        [program, "-B", "-c", HOST],
        stdout=subprocess.PIPE,
        cwd="/",
        env={"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)},
        user=USER,
        group=USER,
        extra_groups=[],
    )
    try:
        assert host.stdout is not None
        said = json.loads(host.stdout.readline() or "{}")
        ours = processes_of(host.pid)
        users = {Path(f"/proc/{row.pid}").stat().st_uid for row in ours}
        host.send_signal(signal.SIGKILL)
    finally:
        host.kill()
        host.communicate()

    assert said == {
        "host": USER,
        "cpus": "limits.cpus",
        "inside": "65532\ngVisor\n",
        "oom": True,
        "state": "approximated",
        "after": "works\n",
    }
    assert users == {USER}
    assert len(ours) >= 5
    assert eventually(lambda: not still(ours)), still(ours)
