"""Sandboxes that `llm-sandbox ps`, `stop` and `gc` find in an engine, and their removal."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from llm_sandbox import __version__
from llm_sandbox.backends.containers.gc.inventory import GarbageCollector, list_resources
from llm_sandbox.backends.containers.gc.labels import MARK, OWNER, STARTED, new_labels
from llm_sandbox.backends.inventory import Owner, Resource, current_owner
from llm_sandbox.sandbox import Sandbox
from tests.containers.conftest import wait_for

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
IMAGE = f"llm-sandbox/python:{__version__}"
HERE = current_owner()
DEAD = Owner(HERE.boot, HERE.pid, HERE.started + 1, HERE.host)
"""Whoever had this process's number before it."""
ELSEWHERE = Owner("another-system", 1, 1, "elsewhere")


def cli(*words, code=0, **environment):
    """Run the command line; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "llm_sandbox", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=100,
        env={**os.environ, **environment},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def held(engine, identity):
    """Return the inventory's entry of one thing; None when it is not among them."""
    return next((one for one in list_resources(engine) if one.id == identity), None)


def ago(seconds):
    """A moment before now."""
    return datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=seconds)


@pytest.fixture
def engine():
    """Docker alone: what is decided is the same for each."""
    from tests.containers.conftest import engine_or_skip

    return engine_or_skip("docker")


@pytest.fixture
def volume(engine):
    """Makes volumes; they are removed afterwards."""
    made = []

    def make(name, owner):
        labels = {**new_labels(), OWNER: str(owner)}
        made.append(engine.client.volumes.create(name, labels=labels))
        return made[-1]

    yield make

    def gone(name):
        with contextlib.suppress(docker.errors.APIError):
            engine.api.remove_volume(name)
        return held(engine, name) is None

    for one in made:
        assert wait_for(lambda one=one: gone(one.name), 30), one.name


@pytest.mark.parametrize(
    ("owner", "state", "age_s", "goes"),
    [
        (HERE, "running", 9e9, False),
        (HERE, "created", 9e9, False),
        (DEAD, "running", 1, True),
        (DEAD, "paused", 1, True),
        (DEAD, "initialized", 1, True),
        (ELSEWHERE, "running", 9e9, False),
        (ELSEWHERE, "paused", 9e9, False),
        (ELSEWHERE, "exited", 60, False),
        (ELSEWHERE, "exited", 7200, True),
    ],
)
def test_whose_containers_go(engine, owner, state, age_s, goes):
    """Those of the dead, and of the unknown only when they are old and do not run."""
    one = Resource("docker", "sandbox", "x" * 64, "x", state, owner=owner, started=ago(age_s))
    (verdict,) = GarbageCollector(engine).decide([one])
    assert verdict.remove is goes
    assert verdict.why


def test_what_is_younger_stays(engine):
    """`--older-than` goes before everything else."""
    one = Resource("docker", "sandbox", "x", "x", "exited", owner=DEAD, started=ago(60))
    assert GarbageCollector(engine, 50).decide([one])[0].remove
    assert not GarbageCollector(engine, 70).decide([one])[0].remove


@pytest.mark.parametrize(
    ("tags", "labels", "age_s", "in_use", "goes"),
    [
        ((IMAGE,), {}, 9e9, False, False),
        (("mine:1",), {}, 9e9, False, False),
        (("llm-sandbox/from-dockerfile:a",), {}, 9e9, False, True),
        (("llm-sandbox/from-dockerfile:a",), {}, 9e9, True, False),
        (("llm-sandbox/from-dockerfile:a",), {}, 60, False, False),
        (("llm-sandbox/from-dockerfile:a", "mine:1"), {}, 9e9, False, False),
        (("llm-sandbox/snapshot:a",), {"llm-sandbox.snapshot": "workdir"}, 9e9, False, False),
        ((), {"llm-sandbox.snapshot": "workdir"}, 9e9, False, False),
        ((), {}, 9e9, False, True),
        ((), {}, 60, False, False),
    ],
)
def test_which_images_go(engine, tags, labels, age_s, in_use, goes):
    """Those that nobody has named, and that nothing is made of any more."""
    one = Resource(
        *("docker", "image", "sha256:0", "x"),
        started=ago(age_s),
        in_use=in_use,
        tags=tags,
        labels={MARK: "0", **labels},
    )
    assert GarbageCollector(engine).decide([one])[0].remove is goes


def test_a_filler_of_a_snapshot(engine, container):
    """Nobody is named on it: it goes once it is old, and a container of somebody's never does."""
    filler = container(IMAGE, ["true"], labels={MARK: __version__})
    theirs = container(IMAGE, ["sleep", "600"])
    assert held(engine, filler.id).kind == "filler"
    assert held(engine, theirs.id).kind == "container"
    old = [Resource(**{**vars(held(engine, filler.id)), "started": ago(700)})]
    assert not GarbageCollector(engine).decide([held(engine, filler.id)])[0].remove
    assert GarbageCollector(engine).decide(old)[0].remove
    assert not GarbageCollector(engine).decide([held(engine, theirs.id)])[0].remove


def test_labels_that_an_image_has_handed_on(engine, container):
    """An image saved by the engine's own means hands the labels of its sandbox to containers."""
    dead = container(IMAGE, labels={**new_labels(), OWNER: str(DEAD)})
    assert GarbageCollector(engine).decide([held(engine, dead.id)])[0].remove  # the control
    name = "llm-sandbox-test/handed-on"
    saved = engine.client.api.commit(dead.id, name, "1")["Id"]
    made = engine.api.create_container(saved, ["true"])["Id"]
    try:
        found = held(engine, made)
        assert found.kind == "container"
        assert not GarbageCollector(engine).decide([found])[0].remove
    finally:
        engine.api.remove_container(made, force=True)
        engine.api.remove_image(f"{name}:1")


@pytest.mark.slow
def test_gc_takes_what_the_dead_have_left(engine, container, volume):
    """Containers in every state, a volume of another version, and one that is half-filled."""
    labels = {**new_labels(), OWNER: str(DEAD)}
    made, paused, exited, alive = (
        container(IMAGE, words, labels=given)
        for words, given in (
            (["sleep", "600"], labels),
            (["sleep", "600"], labels),
            (["true"], labels),
            (["sleep", "600"], new_labels()),
        )
    )
    paused.start()
    paused.pause()
    exited.start()
    exited.wait()
    other = volume(f"llm-sandbox-guest-{secrets.token_hex(6)}", DEAD)
    mine = volume(f"llm-sandbox-guest-{secrets.token_hex(6)}", HERE)
    dry = json.loads(cli("gc", "--engine", "docker", "--dry-run", "--json"))
    would = {item["id"] for item in dry["items"] if item["removed"]}
    assert {made.id, paused.id, exited.id, other.name} <= would
    assert not {alive.id, mine.name} & would
    assert held(engine, made.id) is not None
    said = cli("gc", "--engine", "docker", "--older-than", "1h")
    assert "younger than" in said
    assert held(engine, made.id) is not None
    said = cli("gc", "--engine", "docker")
    assert f"process {DEAD.pid}, which made it, has ended" in said
    for gone in (made, paused, exited, other):
        identity = getattr(gone, "id", "") if gone is not other else other.name
        assert held(engine, identity) is None
        gone.remove = lambda **_: None
    assert held(engine, alive.id) is not None
    assert held(engine, mine.name) is not None


@pytest.mark.slow
def test_ps_and_stop(engine):
    """A sandbox is listed with its owner and what it uses, and ended by the start of its id."""
    with Sandbox.create(backend="docker") as sandbox:
        found = json.loads(cli("ps", "--engine", "docker", "--json"))
        (mine,) = [one for one in found["sandboxes"] if one["id"].startswith(sandbox.id)]
        assert mine["owner"]["pid"] == os.getpid()
        assert mine["owner_state"] == "alive"
        assert mine["state"] == "running"
        assert mine["network"] == "none"
        assert mine["memory_bytes"] > 1_000_000
        assert 0 <= mine["age_s"] < 100
        assert "listed nowhere" in found["note"]
        listed = cli("ps", "--engine", "docker")
        assert f"process {os.getpid()}" in listed
        assert "there is no sandbox 'ffffffffffff0'" in cli("stop", "ffffffffffff0", code=125)
        assert "which sandboxes?" in cli("stop", code=2)
        assert sandbox.end_reason is None
        assert sandbox.id in cli("stop", sandbox.id, "--engine", "docker")
        assert wait_for(lambda: sandbox.end_reason == "gone")


def test_an_engine_that_does_not_answer(tmp_path):
    """It is named, and is an error only for who has asked for it."""
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/none", "CONTAINER_HOST": f"unix://{tmp_path}/no"}
    found = json.loads(cli("ps", "--json", **nowhere))
    assert found["sandboxes"] == []
    assert set(found["unreachable"]) == {"docker", "podman"}
    assert "docker" in cli("ps", "--engine", "docker", code=1, **nowhere)
    assert "docker" in cli("gc", "--engine", "docker", code=1, **nowhere)
    assert "invalid age" in cli("gc", "--older-than", "soon", code=2, **nowhere)


def test_owners():
    """An owner survives its label, and is known for what it is."""
    assert Owner.parse(str(HERE)) == HERE
    assert HERE.is_alive
    assert DEAD.is_alive is False
    assert ELSEWHERE.is_alive is None
    assert Owner.parse("") is None
    assert STARTED in new_labels()
