"""Kept sandboxes in a registry of the test's own, and clients that are other processes.

After each module nothing is left: no daemon, no record, no socket.
"""

# ruff: noqa: PTH208
# Because: what the kernel has is read as it is.

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
DAEMON = "llm-sandboxd"
WAIT_S = 40.0


def until(look: Callable[[], Any], seconds: float = WAIT_S) -> Any:
    """Look again and again until there is something to see; what was seen last."""
    end = time.monotonic() + seconds
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


def daemons(folder: Path) -> dict[int, str]:
    """The daemons that live and are registered in a folder: process id to command line."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError):
            proc = Path("/proc", entry)
            stat = (proc / "stat").read_text()
            name = stat[stat.index("(") + 1 : stat.rindex(")")]
            if name != DAEMON or stat[stat.rindex(")") + 2] in "ZX":
                continue
            if f"XDG_STATE_HOME={folder}".encode() in (proc / "environ").read_bytes().split(b"\0"):
                found[int(entry)] = (proc / "cmdline").read_bytes().decode()
    return found


class Registry:
    """The folder in which this module's sandboxes are registered."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "llm-sandbox" / "kept"

    def daemons(self) -> dict[int, str]:
        return daemons(self.home)

    def files(self) -> list[str]:
        """What is there but for the lock of the registry itself."""
        if not self.folder.exists():
            return []
        return sorted(set(os.listdir(self.folder)) - {"registry.lock"})

    def record(self, sandbox_id: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / f"{sandbox_id}.json").read_text())
        return found

    def daemon_of(self, sandbox: Sandbox) -> int:
        return int(self.record(sandbox.id)["daemon"])

    def is_empty(self) -> bool:
        return not self.daemons() and not self.files()


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """A registry of the module's own; it is empty in the end."""
    home = tmp_path_factory.mktemp("state")
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(home)
    found = Registry(home)
    try:
        yield found
        for sandbox in Sandbox.list():
            sandbox.destroy()
        Sandbox.gc()
        assert until(found.is_empty), (found.daemons(), found.files())
    finally:
        for pid in found.daemons():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before


class Client:
    """Another process that uses the library."""

    def __init__(self, code: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-u", "-c", textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.pid = self.process.pid

    def line(self) -> str:
        """What it says next."""
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said, "the client has ended"
        return said.rstrip("\n")

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()


@pytest.fixture
def client(registry: Registry) -> Iterator[Callable[[str], Client]]:
    """Start another process that runs this code."""
    started: list[Client] = []

    def start(code: str) -> Client:
        started.append(Client(code))
        return started[-1]

    yield start
    for one in started:
        one.close()
