"""Snapshots that docker and podman hold: what is in them, how long, and who removes them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, Snapshot, __version__
from llm_sandbox.backends.containers.gc.inventory import GarbageCollector, list_resources
from llm_sandbox.backends.containers.gc.labels import OWNER, STARTED
from llm_sandbox.backends.containers.snapshots import EXPIRES, SAVING, SNAPSHOT
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendError, ImageNotFoundError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.backends.containers.engine import Engine

    Deleted = Callable[[Snapshot], Snapshot]

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.usefixtures("store")]


def test_nothing_binds_it_to_anybody(engine: Engine, deleted: Deleted) -> None:
    """Not in its labels, not in its history, not in its settings; a sweep lets it be."""
    with Sandbox.create(
        backend=engine.name,
        writable_root=True,
        name="owner-name",
        tags={"team": "tag-value"},
        secrets={"TOKEN": "very-secret-value"},
        env={"PLAIN": "variable-value"},
    ) as sandbox:
        sandbox.check("sh", "-c", 'test "$TOKEN$PLAIN" && touch x /dev/shm/y /tmp/z')
        ids = sandbox.id, sandbox._machine.id
        one = deleted(sandbox.snapshot("llm-sandbox-test/bound:1"))
        assert "" == sandbox.check("sh", "-c", "true").stderr  # it goes on
    facts = engine.api.inspect_image(one.ref)
    text = json.dumps([facts, engine.api.history(one.ref)])
    for secret in ("very-secret-value", "variable-value", "owner-name", "tag-value", ids[0]):
        assert secret not in text, secret
    labels = facts["Config"]["Labels"]
    assert ("", "", "", "") == tuple(labels[name] for name in (OWNER, STARTED, SAVING, EXPIRES))
    verdict = next(
        one_
        for one_ in GarbageCollector(engine).decide(list_resources(engine))
        if one_.resource.id == one.ref
    )
    assert not verdict.remove
    with Sandbox.create(image=one) as again:
        assert again.id not in ids
        assert "x" == again.check("sh", "-c", "ls . /dev/shm /tmp | grep -x '[xyz]'").stdout.strip()
        assert again.name is None


def test_variables_of_a_container_are_not_in_it(
    engine: Engine, container: Callable[..., Any], deleted: Deleted
) -> None:
    """Of one that somebody else made, whose variables an engine would save."""
    given = {"A": 'se"c$ret', "LANG": "changed"}
    theirs = container(f"llm-sandbox/python:{__version__}", environment=given)
    theirs.start()
    options = ContainerOptions(container_id=theirs.id)
    backend = type(get_backend(engine.name))(options)  # type: ignore[call-arg]
    with Sandbox.create(backend=backend) as sandbox:
        assert 'se"c$ret\n' == sandbox.check("printenv", "A").stdout  # the control
        one = deleted(sandbox.snapshot("llm-sandbox-test/variables:1"))
    variables = engine.api.inspect_image(one.ref)["Config"]["Env"]
    assert "A=" in variables
    assert "LANG=C.UTF-8" in variables
    assert not [line for line in variables if "ret" in line or "changed" in line]


def test_its_time(engine: Engine, deleted: Deleted) -> None:
    with Sandbox.create(backend=engine.name) as sandbox:
        one = deleted(sandbox.snapshot("llm-sandbox-test/timed:1", ttl=1.0))
        kept = deleted(sandbox.snapshot("llm-sandbox-test/timed:2", ttl=3600))
        assert kept in [_rounded(found, kept) for found in Snapshot.list(engine.name)]
        with Sandbox.create(image=kept) as again:
            # What is made of it is saved with a time of its own.
            forever = deleted(again.snapshot("llm-sandbox-test/timed:3"))
    assert forever.expires_at is None
    assert one.expires_at is not None
    time.sleep(max(0.0, one.expires_at - time.time()) + 0.01)
    lying = Snapshot.from_dict({**one.to_dict(), "expires_at": None})
    for image in (one, lying, one.name):
        with pytest.raises(ValidationError, match="expired at"):
            Sandbox.create(backend=engine.name, image=image)
    deadline = time.monotonic() + 20
    while _has(engine, one):  # the sandbox made of it may still be on its way out
        Sandbox.gc()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert _has(engine, kept)
    assert _has(engine, forever)
    with pytest.raises(ImageNotFoundError, match="timed:1"):
        Sandbox.create(image=lying)


def _rounded(found: Snapshot, one: Snapshot) -> Snapshot:
    """What the engine knows besides is its size, and its own way to write a name."""
    return Snapshot.from_dict({**found.to_dict(), "size": None, "name": one.name})


def _has(engine: Engine, one: Snapshot) -> bool:
    return any(image["Id"] == one.ref for image in engine.api.images(filters={"label": SNAPSHOT}))


def test_deleting(engine: Engine, deleted: Deleted) -> None:
    with Sandbox.create(backend=engine.name) as sandbox:
        one = deleted(sandbox.snapshot("llm-sandbox-test/deleted:1"))
    with Sandbox.create(image=one), pytest.raises(BackendError, match="delete"):
        one.delete()
    # The engine has not removed the container yet: that is waited for.
    assert one.delete()
    assert not one.delete()
    with pytest.raises(ImageNotFoundError, match="deleted:1"):
        Sandbox.create(image=one)


def test_only_snapshots_are_deleted(engine: Engine) -> None:
    image = next(one for one in list_resources(engine) if one.tags and SNAPSHOT not in one.labels)
    other = Snapshot(engine.name, engine.identity, image.id, image.name)
    with pytest.raises(ValidationError, match="is not a snapshot"):
        other.delete()


@pytest.mark.parametrize("name", ["With Spaces", "UPPER/case:1", "-x", "a:b c"])
def test_names_that_no_image_has(engine: Engine, name: str) -> None:
    with (
        Sandbox.create(backend=engine.name) as sandbox,
        pytest.raises(ValidationError, match="invalid name of an image"),
    ):
        sandbox.snapshot(name)
