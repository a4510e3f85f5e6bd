"""`Sandbox.isolation`, tried: enforced controls hold, absent ones do not.

Local is the control: there every attack gets through that its report does not rule out.
"""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Limits, Sandbox
from llm_sandbox.backends.hardening.cgroups import explain_missing, find_tree
from llm_sandbox.testing.suite import eventually, usable_backend
from tests.conformance.test_options import BACKENDS
from tests.plugins.cluster import POD

if TYPE_CHECKING:
    from collections.abc import Iterator

INSIDE = (Path(__file__).parent / "attacks.py").read_text()
MIB = 1 << 20
SMALL = Limits(
    memory_bytes=160 * MIB,
    processes=24,
    cpus=0.5,
    workdir_bytes=2 * MIB,
    tmp_bytes=2 * MIB,
    shm_bytes=2 * MIB,
    inodes=100,
    open_files=64,
    file_size_bytes=3 * MIB,
)
RESOURCES = {
    "files": ["files"],
    "network": ["network"],
    "processes": ["other_processes"],
    "privileges": ["privileges"],
    "system_calls": ["system_calls"],
    "process_count": ["processes"],
    "disk": ["workdir_bytes", "tmp_bytes", "shm_bytes", "inodes"],
    "lifetime": ["lifetime"],
    "memory": ["memory_bytes"],
    "cpu": ["cpus"],
}
"""Of each resource in a report, the attacks on it."""
HELD_EVERYWHERE = ["open_files", "file_size_bytes"]
OTHERS = {"landlock": "a second wall around files: behind the first there is nothing to attack"}
LIMITS_ELSEWHERE = {
    "cpu_seconds": "EndingSuite",
    "output_bytes": "StreamSuite",
    "display_bytes": "SessionEndingSuite",
    "displays": "SessionEndingSuite",
    "artifact_bytes": "SessionFilesSuite",
    "artifacts": "SessionFilesSuite",
    "cpus_requested": "tests/mounts",
    "memory_requested_bytes": "tests/mounts",
}
"""Limits that no attack here has the name of, and where they are tried."""


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a server on this machine's loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.sendall(b"reached")
                connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


@pytest.mark.parametrize("backend", [*BACKENDS, POD])
def test_a_report_is_true(backend: str, listener: int, tmp_path: Path) -> None:
    usable_backend(backend)
    canary = tmp_path / "canary"
    canary.write_text(word := uuid.uuid4().hex)
    token = f"7{uuid.uuid4().int % 10**8:08}"
    with subprocess.Popen(["sleep", token]) as sleeper:
        facts = {"canary": str(canary), "word": word, "port": listener, "process": token}
        try:
            states, through = attack(backend, facts)
        finally:
            sleeper.kill()
    wrong = [name for name in HELD_EVERYWHERE if through[name]]
    for resource, state in states.items():
        for name in RESOURCES.get(resource, ()):
            # Only root's programs can do everything that is not held, on a machine that is idle.
            is_certain = os.geteuid() == 0 and name != "cpus"
            if state == "enforced" and through[name]:
                wrong.append(f"{resource} is said to be enforced, and {name} got through")
            elif state == "absent" and is_certain and not through[name]:
                wrong.append(f"{resource} is said to be absent, and {name} was stopped")
    assert not wrong, states


def attack(backend: str, facts: dict[str, Any]) -> tuple[dict[str, str], dict[str, bool]]:
    """Return a sandbox's report, by resource, and which attacks got through."""
    left = f"8{uuid.uuid4().int % 10**8:08}"
    through: dict[str, bool] = {}
    # CPUs are refused there: see test_options.
    is_refused = {
        "local": True,
        "bubblewrap": explain_missing(find_tree(), "cpu") is not None,
    }.get(backend, False)
    limits = dataclasses.replace(SMALL, cpus=None) if is_refused else SMALL
    with Sandbox.create(backend=backend, limits=limits) as sandbox:
        states = {name: control.state for name, control in sandbox.isolation.controls.items()}
        for part in ("walls", "counts", "cpus"):
            done = sandbox.check("python3", "-c", INSIDE, part, json.dumps(facts), timeout=60)
            through |= json.loads(done.stdout)
        # Last, and without an answer: it is killed where it is stopped.
        done = sandbox.exec("python3", "-c", INSIDE, "memory_bytes", "{}", timeout=60).collect()
        through["memory_bytes"] = "all of it" in done.stdout
        sandbox.sh(f"setsid setsid sleep {left} >/dev/null 2>&1 &").wait()
        seen = eventually(lambda: runs(left))
        if not seen and backend == "kubernetes":
            pytest.skip("the nodes of the cluster are other machines, whose processes are not seen")
        assert seen
    return states, through | {"lifetime": not eventually(lambda: not runs(left))}


def runs(word: str) -> bool:
    """Return whether a process with that word in its command line runs on this machine."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize("backend", [*BACKENDS, POD])
def test_every_resource_of_a_report_is_attacked(backend: str) -> None:
    report = usable_backend(backend).check()

    assert set(report.controls) - OTHERS.keys() == RESOURCES.keys()


def test_every_limit_is_tried() -> None:
    """A limit more without an attack here, or a place where it is tried, fails."""
    names = {field.name for field in dataclasses.fields(Limits)}
    here = {name for attacks in RESOURCES.values() for name in attacks} | set(HELD_EVERYWHERE)

    assert names <= here | LIMITS_ELSEWHERE.keys()
    assert names >= LIMITS_ELSEWHERE.keys()
    assert not here & LIMITS_ELSEWHERE.keys()
