"""Host processes to kill, and a count of what they leave.

This process adopts the orphans of those it starts, so that whatever a killed host leaves behind
becomes its descendant and is counted, however often it forked.
"""

# ruff: noqa: PTH112, PTH208
# Because: what the kernel has is read as it is.

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PR_SET_CHILD_SUBREAPER = 36


def descendants(root: int, without: frozenset[int] = frozenset()) -> dict[int, str]:
    """Living descendants of a process: pid to name; those of `without` are left out."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            except OSError:
                continue
            name = text[text.index("(") + 1 : text.rindex(")")]
            state, parent = text[text.rindex(")") + 2 :].split()[:2]
            if state not in "ZX":
                parents[int(entry)] = (int(parent), name)
    found: dict[int, str] = {}
    grown = {root}
    while grown:
        grown = {p for p, (parent, _) in parents.items() if parent in grown and p not in without}
        found |= {pid: parents[pid][1] for pid in grown}
    return found


def cgroups_of(pid: int) -> list[str]:
    """Control groups that a host process made."""
    if not os.path.isdir("/sys/fs/cgroup"):
        return []
    command = ["find", "/sys/fs/cgroup", "-name", f"llm-sandbox-{pid}-*"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


class Host:
    """A process that uses the library, with a folder for temporary files of its own."""

    def __init__(self, code: str, folder: Path) -> None:
        self.folder = folder
        # This process may have sandboxes of its own, from other tests.
        self.others = frozenset(descendants(os.getpid()))
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
            start_new_session=True,
        )
        self.pid = self.process.pid

    def wait_for(self, word: str, limit: float = 60.0) -> str:
        """Read lines until one holds `word`."""
        assert self.process.stdout is not None
        signal.alarm(int(limit))
        said = []
        try:
            while line := self.process.stdout.readline():
                said.append(line)
                if word in line:
                    return "".join(said)
        finally:
            signal.alarm(0)
        raise AssertionError(f"{word!r} did not come: {''.join(said)}")

    def finish(self, limit: float = 60.0) -> tuple[int, str]:
        """Wait for its end; status and what it printed."""
        try:
            said, _ = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            said, _ = self.process.communicate()
            raise AssertionError(f"it did not end: {said}") from None
        return self.process.returncode, said

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def left(self) -> dict[str, Any]:
        """What there is of it."""
        return {
            "processes": sorted(descendants(os.getpid(), self.others).values()),
            "cgroups": cgroups_of(self.pid),
            "mounts": [
                line
                for line in Path("/proc/self/mountinfo").read_text().splitlines()
                if str(self.folder) in line or "llm-sandbox" in line
            ],
            "files": sorted(os.listdir(self.folder)),
        }


NOTHING: dict[str, Any] = {"processes": [], "cgroups": [], "mounts": [], "files": []}


@pytest.fixture(scope="session", autouse=True)
def adopt() -> None:
    """Become the parent of all orphans below."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Host]]:
    """Start a host process from code."""
    hosts = []

    def begin(code: str) -> Host:
        folder = tmp_path / f"tmp{len(hosts)}"
        folder.mkdir()
        hosts.append(Host(code, folder))
        return hosts[-1]

    yield begin
    for host in hosts:
        # The host alone: what it started has to end and tidy up by itself.
        with contextlib.suppress(ProcessLookupError):
            host.kill()
        host.process.wait()
        deadline = time.monotonic() + 6
        while host.left() != NOTHING and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in descendants(os.getpid(), host.others):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for stream in (host.process.stdin, host.process.stdout):
            if stream is not None:
                stream.close()


@pytest.fixture
def gone() -> Callable[..., dict[str, Any]]:
    """Wait up to five seconds until nothing of a host is left; what is left then."""

    def wait(host: Host, limit: float = 5.0) -> dict[str, Any]:
        deadline = time.monotonic() + limit
        while (left := host.left()) != NOTHING and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    return wait


@pytest.fixture(scope="session")
def nothing() -> dict[str, Any]:
    """What is left when nothing is."""
    return NOTHING


@pytest.fixture(scope="module", autouse=True)
def nothing_left(adopt: None) -> Iterator[None]:
    """After a module of tests this process has no descendant that it did not have before."""
    from llm_sandbox.backends.registry import get_backend
    from llm_sandbox.session.prefork import shared_pool

    before = collections.Counter(descendants(os.getpid()).values())
    get_backend("bubblewrap").check()
    yield

    def more() -> collections.Counter[str]:
        return collections.Counter(descendants(os.getpid()).values()) - before

    shared_pool().clear()
    get_backend("bubblewrap").close()
    deadline = time.monotonic() + 8
    while more() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert more() == collections.Counter()
    assert cgroups_of(os.getpid()) == []
