"""Clients that are killed at any moment leave what they should and nothing else.

Two hundred by each backend: fifty while programs run, fifty while files are uploaded, fifty while
bytes pass through a tunnel, fifty while a snapshot is made.
"""

# ruff: noqa: PTH208
# Because: what the kernel has is read as it is.

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, Snapshot
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.containers.gc.inventory import list_resources
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendError
from tests.detached import killed
from tests.detached.conftest import ROOT, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

AT_ONCE = 10
ROLES: dict[str, dict[str, int]] = {
    "bubblewrap": {"beginner": 8, "owner": 24, "keeping": 3, "visitor": 15},
    "docker": {"owner": 6, "keeping": 2, "visitor": 42},
}
"""Clients of each kind that are killed in each activity, fifty together: at any moment of its
beginning, at work with a sandbox of its own, with one of its own that has a daemon, and with one
that is somebody else's.
"""


class Killer:
    """Starts clients, a few at a time, and kills them at random moments."""

    def __init__(self, forking: Any, activity: str, backend: str, word: str) -> None:
        self._forking = forking
        self._order = f"{activity} {backend} {word}"
        self._moments = random.Random(f"{activity} {backend}")
        assert forking.line() == "ready"

    def kill(self, roles: list[str]) -> list[tuple[int, int]]:
        """Kill clients of these kinds; returns what they had started."""
        clients: list[int] = []
        # Beginners last: the others take their time to get to work.
        for these in (set(roles) - {"beginner"}, {"beginner"}):
            chosen = [role for role in roles if role in these]
            for role in chosen:
                self._forking.say(f"{role} {self._order}")
            clients += [int(self._forking.line()) for _ in chosen]
        self._moments.shuffle(clients)
        left = [row for client in clients for row in descendants(client)]
        for client in clients:
            os.kill(client, signal.SIGUSR1)
        for client in clients:
            time.sleep(self._moments.uniform(0, 0.05))
            left += descendants(client)
            # One that has ended by itself is an error here: it is no process any more.
            os.kill(client, signal.SIGKILL)
        return left


def table() -> dict[int, tuple[int, int]]:
    """The parent of each living process, and when it was started."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                words = Path("/proc", entry, "stat").read_bytes().rpartition(b")")[2].split()
                if words[0] not in (b"Z", b"X"):
                    found[int(entry)] = int(words[1]), int(words[19])
    return found


def descendants(client: int) -> list[tuple[int, int]]:
    """A process and what descends from it: process ids, and when they were started."""
    processes, found = table(), {client}
    while more := {pid for pid, (parent, _) in processes.items() if parent in found} - found:
        found |= more
    return [(pid, processes[pid][1]) for pid in found if pid in processes]


def living() -> set[tuple[int, int]]:
    """Every process, and when it was started."""
    return {(pid, started) for pid, (_, started) in table().items()}


def still(rows: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the processes that do not end."""
    until(lambda: not living() & set(rows))
    return living() & set(rows)


def programs() -> list[int]:
    """The programs of these tests that run."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if b"54321" in Path("/proc", entry, "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry))
    return found


def containers(*states: str) -> list[str]:
    """Return the containers of sandboxes whose process has ended, in these states or in any."""
    backend = get_backend("docker")
    assert isinstance(backend, ContainerBackend)
    return [
        one.name
        for one in list_resources(backend.engine)
        if one.kind in ("sandbox", "filler") and one.owner_state == "dead"
        if not states or one.state in states
    ]


def check_lasting(sandbox: Sandbox, activity: str) -> None:
    """Check the files that killed clients have left in a sandbox that lives on."""
    assert sandbox.files.read_text("mine") == "before"
    if activity == "exec":
        found = sandbox.processes()
        assert found
        assert all(one.command == ("sleep", "54321") for one in found if one.command[0] != "sh")
        for process in found:
            process.kill()
            process.wait(30)
    elif activity == "upload":
        sandbox.files.write_bytes("big", b"whole")
        assert sandbox.files.read_bytes("big") == b"whole"
        sandbox.files.upload(Path(killed.__file__).parent, "folder")
        own = Path(killed.__file__).read_text()
        assert sandbox.files.read_text("folder/killed.py") == own
    elif activity == "tunnel":
        assert killed.converse(sandbox, 20) == 20
    else:
        check_saved(sandbox.backend)


def check_saved(backend: str) -> None:
    """Every snapshot that clients have left is whole, and can be deleted."""
    left = saved()
    assert left
    files = [one for one in left if one.is_file]
    assert files
    # To begin from an image takes its time, and an engine makes all of them in the same way.
    for one in files + [image for image in left if not image.is_file][:3]:
        # A directory is restored by every backend, and by this one the quickest.
        by = "bubblewrap" if one.kind == "directory" else backend
        with Sandbox.create(backend=by, image=one) as again:
            assert again.files.read_bytes("content") == bytes(killed.SIZE)
    assert until(are_deleted)


def saved() -> list[Snapshot]:
    return [one for one in Snapshot.list() if one.name.startswith("llm-sandbox-test/snapshot-")]


def are_deleted() -> bool:
    """Delete all; an engine may still finish what a killed client has asked it for."""
    for one in saved():
        is_deleted(one)
    time.sleep(2)
    return not saved()


def is_deleted(snapshot: Snapshot) -> bool:
    """Delete it; an engine refuses until the container that was made of it has gone."""
    try:
        return snapshot.delete()
    except BackendError:
        return False


def waves(roles: dict[str, int], count: int) -> Iterator[list[str]]:
    """Kinds of clients, mixed, a few at a time; the first of them, up to a number."""
    mixed = [role for role, count in roles.items() for _ in range(count)]
    random.Random(8).shuffle(mixed)
    assert len(mixed) == 50
    for start in range(0, count, AT_ONCE):
        yield mixed[start : start + AT_ONCE]


@pytest.mark.parametrize("activity", ["exec", "upload", "tunnel", "snapshot"])
@pytest.mark.parametrize(
    "backend", ["bubblewrap", pytest.param("docker", marks=pytest.mark.engine("docker", "python"))]
)
def test_clients_that_are_killed_leave_nothing(
    client: Callable[[str], Any], registry: Any, backend: str, activity: str, all_cases: bool
) -> None:
    """No process, container, record or descriptor; a sandbox that lives on serves the next one;
    what was saved is whole, and collecting garbage finds nothing that holds it up.
    """
    word = f"{activity}-{backend}"
    with Sandbox.create(backend=backend, name=word, ports=(killed.PORT,)) as lasting:
        killed.prepare(lasting, activity)
        lasting.files.write_text("mine", "before")
        daemons = {registry.daemon_of(lasting)}
        descriptors = Path(f"/proc/{min(daemons)}/fd")
        lasting.check("true")
        before = len(os.listdir(descriptors))
        killer = Killer(
            client("from tests.detached.killed import main; main()"), activity, backend, word
        )
        for roles in waves(ROLES[backend], 50 if all_cases else 20):
            assert not still(killer.kill(roles)), roles
            assert until(lambda: set(registry.daemons()) == daemons), (roles, registry.daemons())
            assert lasting.check("echo", "served").stdout == "served\n"
        assert Sandbox.gc() == []
        check_lasting(lasting, activity)
        # To save, the daemon has an engine's client, which keeps connections: fewer than there
        # were clients.
        more = 30 if (backend, activity) == ("docker", "snapshot") else 2
        assert until(lambda: len(os.listdir(descriptors)) <= before + more)
    assert until(lambda: not programs())
    assert Sandbox.gc() == []
    assert until(registry.is_empty), (registry.daemons(), registry.files())
    if backend == "docker":
        assert until(lambda: not containers("running", "paused")), containers()
        collect = [sys.executable, "-m", "llm_sandbox", "gc", "--engine", "docker", "--json"]
        subprocess.run(collect, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=100)
        assert until(lambda: not containers()), containers()


def test_what_a_killed_client_leaves_is_seen(client: Callable[[str], Any], registry: Any) -> None:
    """The control: a sandbox that was to be kept is left, by every way of looking."""
    killer = Killer(
        client("from tests.detached.killed import main; main()"), "exec", "bubblewrap", "left"
    )
    killer.kill(["leaving"])
    (sandbox,) = Sandbox.list()
    daemon = registry.daemon_of(sandbox)
    assert {daemon} == set(registry.daemons())
    assert programs()
    assert set(programs()) <= {pid for pid, _ in descendants(daemon)}
    sandbox.destroy()
    assert until(lambda: registry.is_empty() and not programs())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_daemon_that_is_asked_to_end_tidies_up(registry: Any, number: int) -> None:
    """SIGTERM ends it in order; a terminal that is closed is not its own."""
    with Sandbox.create(backend="bubblewrap", name="told") as sandbox:
        sandbox.exec("sleep", "54321")
        os.kill(registry.daemon_of(sandbox), number)
        if number == signal.SIGHUP:
            time.sleep(0.6)
            assert sandbox.check("echo", "here").stdout == "here\n"
        else:
            assert until(lambda: sandbox.end_reason == "terminated")
            assert sandbox.poll() == 137
    assert until(lambda: not registry.daemons() and not programs())
    Sandbox.gc()
    assert registry.files() == []
