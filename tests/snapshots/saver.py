"""Clients of the library that save a sandbox again and again, until they are killed.

This process forks one for each line that it reads, which says how it saves; what it is then told is
the process to kill, and how long it takes to save once.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llm_sandbox import Sandbox
from llm_sandbox.sandbox.detached.state_dir import default_state_dir

if TYPE_CHECKING:
    from llm_sandbox import Snapshot

SIZE = 4 << 20
PR_SET_PDEATHSIG = 1
FILL = f"head -c {SIZE} /dev/zero | tr '\\0' x > first && echo whole > zlast"
ROOT = "mkdir -p /var/lib/own && cp first zlast /var/lib/own && rmdir /usr/local/src"


def open_sandbox(how: str) -> Sandbox:
    """The sandbox to save."""
    wanted: dict[str, Any] = {"backend": "bubblewrap"}
    if how == "engine":
        wanted = {"backend": "docker", "writable_root": True}
    elif how in ("filesystem", "daemon"):
        wanted["writable_root"] = True
    if how == "daemon":
        wanted["name"] = f"saved-{os.getpid()}"
    sandbox = Sandbox.create(**wanted)
    sandbox.check("sh", "-c", FILL)
    if how in ("filesystem", "daemon"):
        sandbox.check("sh", "-c", ROOT)
    return sandbox


def save(sandbox: Sandbox, how: str, number: int) -> Snapshot:
    if how == "directory":
        return sandbox.snapshot(kind="directory")
    name = f"llm-sandbox-test/killed:{os.getpid()}-{number}" if how == "engine" else None
    return sandbox.snapshot(name)


def work(how: str) -> None:
    sandbox = open_sandbox(how)
    victim = os.getpid()
    if how == "daemon":
        record = json.loads((Path(default_state_dir()) / f"{sandbox.id}.json").read_bytes())
        victim = int(record["daemon"])
    started = time.monotonic()
    save(sandbox, how, 0).delete()
    os.write(1, f"{victim} {os.getpid()} {time.monotonic() - started}\n".encode())
    for number in itertools.count(1):
        save(sandbox, how, number)


def main() -> None:
    # Nothing is forked from a process with threads, and nothing is imported twice.
    for module in (
        "sandbox.detached.start",
        "backends.bubblewrap.backend",
        "backends.docker.backend",
    ):
        importlib.import_module(f"llm_sandbox.{module}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.write(1, b"ready\n")
    for line in sys.stdin:
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            with contextlib.suppress(BaseException):
                # One whose daemon was killed has nothing to save.
                work(line.strip())
            os._exit(1)


if __name__ == "__main__":
    main()
