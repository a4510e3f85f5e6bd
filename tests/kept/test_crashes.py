"""Clients that are killed at any moment leave what they should and nothing else."""

# ruff: noqa: PTH208
# Because: what the kernel has is read as it is.

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from tests.kept.conftest import until

if TYPE_CHECKING:
    from collections.abc import Callable

OWNERS = 10
VISITORS = 10
"""How often a client is killed: 20 times together."""

FORKING = """
import os, signal, sys
from llm_sandbox import Sandbox
import llm_sandbox.sandbox.kept.start, llm_sandbox.backends.bubblewrap.backend

def work(kind):
    os.write(1, f"{os.getpid()}\\n".encode())
    sandbox = Sandbox.from_name("lasting") if kind == "visitor" \\
        else Sandbox.create(backend="bubblewrap", name="crash")
    if kind != "beginner":
        os.write(1, b"at work\\n")
    while True:
        sandbox.exec("sleep", "54321")
        sandbox.files.write_bytes("big", bytes(8 << 20))
        sandbox.check("sh", "-c", "head -c 100000 /dev/zero | tr '\\\\0' x")

# What is ignored here, a keeper would have ignored from its start.
for number in (signal.SIGCHLD, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
for line in sys.stdin:
    if os.fork() == 0:
        try:
            work(line.strip())
        finally:
            os._exit(1)
"""


def programs() -> list[int]:
    """The programs of these tests that run."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if b"54321" in Path("/proc", entry, "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry))
    return found


def test_owners_that_are_killed_leave_nothing(client: Callable[[str], Any], registry: Any) -> None:
    """Killed while a keeper starts, a program is started and a file is uploaded."""
    forking = client(FORKING)
    moments = random.Random(8)
    for number in range(OWNERS):
        forking.say("owner" if number % 2 else "beginner")
        pid = int(forking.line())
        if number % 2:
            assert forking.line() == "at work"
            time.sleep(moments.uniform(0, 0.3))
        else:
            # Any moment of its beginning; it may be at work already.
            time.sleep(moments.uniform(0, 0.6))
        os.kill(pid, signal.SIGKILL)
        assert until(lambda: registry.is_empty() and not programs()), (
            registry.keepers(),
            registry.files(),
            programs(),
        )
    assert Sandbox.gc() == []


def test_visitors_that_are_killed_change_nothing(
    client: Callable[[str], Any], registry: Any
) -> None:
    """The sandbox serves the next one, has what their programs are, and its keeper no descriptor
    more once those have ended.
    """
    with Sandbox.create(backend="bubblewrap", name="lasting") as sandbox:
        folder = Path(f"/proc/{registry.keeper_of(sandbox)}/fd")
        sandbox.files.write_text("mine", "before")
        sandbox.check("true")
        before = len(os.listdir(folder))
        forking = client(FORKING)
        moments = random.Random(9)
        for _ in range(VISITORS):
            forking.say("visitor")
            pid = int(forking.line())
            assert forking.line() == "at work"
            time.sleep(moments.uniform(0, 0.15))
            os.kill(pid, signal.SIGKILL)
            assert sandbox.check("echo", "served").stdout == "served\n"
        left = sandbox.processes()
        assert left
        assert all(one.command == ("sleep", "54321") for one in left if one.command[0] != "sh")
        for process in left:
            process.kill()
            process.wait(30)
        assert until(lambda: len(os.listdir(folder)) <= before + 2), (before, os.listdir(folder))
        assert sandbox.files.read_text("mine") == "before"
        sandbox.files.write_bytes("big", b"whole")
        assert sandbox.files.read_bytes("big") == b"whole"
    assert until(lambda: registry.is_empty() and not programs())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_keeper_that_is_told_to_end_tidies_up(registry: Any, number: int) -> None:
    """SIGTERM ends it in order; a terminal that is closed is not its own."""
    with Sandbox.create(backend="bubblewrap", name="told") as sandbox:
        sandbox.exec("sleep", "54321")
        os.kill(registry.keeper_of(sandbox), number)
        if number == signal.SIGHUP:
            time.sleep(0.6)
            assert sandbox.check("echo", "here").stdout == "here\n"
        else:
            assert until(lambda: sandbox.end_reason == "terminated")
            assert sandbox.poll() == 137
    assert until(lambda: not registry.keepers() and not programs())
    Sandbox.gc()
    assert registry.files() == []
