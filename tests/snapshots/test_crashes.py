"""Clients and daemons that are killed while they save: what can be restored is whole."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, Snapshot
from llm_sandbox.backends.containers.gc.inventory import GarbageCollector, list_resources
from llm_sandbox.backends.containers.snapshots import SAVING
from llm_sandbox.backends.inventory import Owner, Resource
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendError
from tests.containers.conftest import wait_for
from tests.snapshots import saver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.backends.containers.engine import Engine
    from llm_sandbox.backends.file_snapshots import FileSnapshots

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("LLM_SANDBOX_TEST_ROUNDS", "10"))
"""Moments of death, in all ways to save together."""
EACH = -(-ROUNDS // 4)
ORDER = random.Random(2026)


@pytest.fixture(scope="module")
def savers(home: Path) -> Iterator[Callable[[str], tuple[int, int, float]]]:
    """Starts a client that saves; who is to be killed, who it is, and how long it takes it."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", saver.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def start(how: str) -> tuple[int, int, float]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{how}\n")
        process.stdin.flush()
        victim, client, took = process.stdout.readline().split()
        return int(victim), int(client), float(took)

    yield start
    process.kill()
    process.communicate()


def kill(victim: int, client: int, after_s: float) -> None:
    """Kill one after a while, and have both be gone."""
    time.sleep(after_s)
    os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + 20
    for pid in (victim, client):
        while Path(f"/proc/{pid}").exists() and " Z " not in _stat(pid):
            assert time.monotonic() < deadline, pid
            time.sleep(0.005)


def _stat(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text()
    return " Z "


def check_whole(snapshot: Snapshot, *folders: str) -> None:
    with Sandbox.create(backend=snapshot.backend, image=snapshot) as sandbox:
        for folder in folders:
            assert saver.SIZE == sandbox.files.stat(f"{folder}/first").size
            assert "whole\n" == sandbox.files.read_text(f"{folder}/zlast")
        assert ("/var/lib/own" in folders) != sandbox.files.exists("/usr/local/src")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("how", ["directory", "filesystem", "daemon"])
def test_what_a_killed_process_leaves_of_files(
    store: FileSnapshots, savers: Callable[[str], tuple[int, int, float]], how: str
) -> None:
    folders = ["/sandbox"] if how == "directory" else ["/sandbox", "/var/lib/own"]
    halves = 0
    for _ in range(EACH):
        victim, client, took = savers(how)
        kill(victim, client, ORDER.uniform(0, 2 * took))
        names = os.listdir(store.path)  # noqa: PTH208
        halves += any(name.startswith(".new-") for name in names)
        for record in store.list():
            check_whole(record.snapshot, *folders)
            record.snapshot.delete()
        assert wait_for(lambda: _is_clean(store))
    print(f"{how}: {halves} of {EACH} were killed while writing")


@pytest.mark.timeout(600)
@pytest.mark.engine("docker", image="python")
def test_what_a_killed_process_leaves_in_an_engine(
    store: FileSnapshots, savers: Callable[[str], tuple[int, int, float]]
) -> None:
    engine: Engine = get_backend("docker").engine  # type: ignore[attr-defined]
    steps = 0
    for _ in range(EACH):
        victim, client, took = savers("engine")
        kill(victim, client, ORDER.uniform(0, 2 * took))
        _settle(engine, client)
        for one in Snapshot.list("docker"):
            if f"killed:{client}-" in one.name:
                check_whole(one, "/sandbox")
                _delete(one)
        steps += bool(_steps(engine, client))
        assert wait_for(lambda client=client: _is_swept(engine, client))
    print(f"engine: {steps} of {EACH} were killed on the way")


def _is_clean(store: FileSnapshots) -> bool:
    """Whether `gc` leaves nothing; a killed process may still be on its way out, with its lock."""
    Sandbox.gc()
    return {"store.id"} == set(os.listdir(store.path))  # noqa: PTH208


def _is_swept(engine: Engine, client: int) -> bool:
    sweep = GarbageCollector(engine)
    sweep.collect(sweep.decide(_steps(engine, client)))
    return not _steps(engine, client)


def _steps(engine: Engine, client: int) -> list[Resource]:
    """What the engine holds that was on the way to an image."""
    owners = {one.id: Owner.parse(one.labels.get(SAVING, "")) for one in list_resources(engine)}
    return [
        one
        for one in list_resources(engine)
        if (owner := owners.get(one.id)) is not None and owner.pid == client
    ]


def _settle(engine: Engine, client: int) -> None:
    """Wait until the engine has done what it was asked for."""
    seen, since = None, time.monotonic()
    deadline = since + 20
    while time.monotonic() - since < 0.3 and time.monotonic() < deadline:
        now = sorted(one.id for one in list_resources(engine) if str(client) in one.name)
        now += sorted(one.id for one in _steps(engine, client))
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.05)


def _delete(snapshot: Snapshot) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            snapshot.delete()
        except BackendError:
            # The container that was made from it is just being removed.
            assert time.monotonic() < deadline
            time.sleep(0.1)
        else:
            return
