"""Volumes of an engine that are filled by us, and by nobody else."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import docker.errors
import pytest

from llm_sandbox.backends.containers.gc.labels import OWNER
from llm_sandbox.backends.containers.volumes.engine_volume import READ_ONLY, EngineVolume
from llm_sandbox.backends.containers.volumes.guest_volume import GuestVolume
from llm_sandbox.backends.inventory import Owner, current_owner
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.runtime import describe_runtime
from llm_sandbox.exceptions import ContainerGoneError, SandboxTimeoutError
from llm_sandbox.limits import Deadline
from llm_sandbox.sandbox import Sandbox
from tests.containers.conftest import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.containers.engine import Engine

pytestmark = [pytest.mark.slow, pytest.mark.engine]


@pytest.fixture
def volume(engine: Engine) -> Iterator[EngineVolume]:
    made = EngineVolume(engine, f"llm-sandbox-test-{os.urandom(4).hex()}")
    yield made
    left = engine.client.containers.list(all=True, filters={"name": made.name})
    assert [container.name for container in left] == []
    engine.api.remove_volume(made.name, force=True)


@pytest.fixture
def image(engine: Engine) -> str:
    """Any image that the engine has."""
    name = image_name("python")
    if not engine.client.images.list(name):
        pytest.skip(f"{engine.name} has no {name}: llm-sandbox images build python")
    return name


def archive(*names: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(name))
    return packed.getvalue()


def soon() -> Deadline:
    return Deadline.after(30)


def test_a_volume_is_filled_once(image: str, volume: EngineVolume) -> None:
    assert volume.make()
    assert not volume.make()
    # Another process may still be filling it.
    assert volume.is_young
    full = archive("one", "two", "complete")
    assert volume.fill(image, "complete", lambda: full, soon())
    assert not volume.fill(image, "complete", lambda: pytest.fail("again"), soon())


def test_a_volume_that_a_crash_left_half_is_filled_again(image: str, volume: EngineVolume) -> None:
    volume.make()

    def half() -> Iterator[bytes]:
        yield archive("one")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        volume.fill(image, "complete", half, soon())
    assert volume.fill(image, "complete", lambda: archive("one", "complete"), soon())


def test_threads_fill_a_volume_once(image: str, volume: EngineVolume) -> None:
    volume.make()
    answers: list[bool] = []

    def fill() -> None:
        answers.append(volume.fill(image, "complete", lambda: archive("complete"), soon()))

    threads = [threading.Thread(target=fill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False, False, False, True]


@pytest.mark.parametrize("is_dead", [True, False])
def test_who_died_while_filling_is_told_from_who_is_at_it(
    image: str, volume: EngineVolume, engine: Engine, *, is_dead: bool
) -> None:
    volume.make()
    owner = current_owner()
    dead = Owner(owner.boot, owner.pid, owner.started + 1, owner.host)
    labels = {OWNER: str(dead if is_dead else owner)}
    other = engine.api.create_container(image, ["true"], name=f"{volume.name}-fill", labels=labels)
    deadline = Deadline.after(30 if is_dead else 0.5)
    try:
        if is_dead:
            assert volume.fill(image, "complete", lambda: archive("complete"), deadline)
        else:
            with pytest.raises(SandboxTimeoutError, match="another program"):
                volume.fill(image, "complete", lambda: archive("complete"), deadline)
    finally:
        if not is_dead:
            engine.api.remove_container(other["Id"], force=True)


@pytest.fixture
def evil_image(image: str, engine: Engine) -> Iterator[str]:
    """An image with a file where layers are mounted."""
    api = engine.api
    made = api.create_container(image, ["true"])
    api.put_archive(made["Id"], "/", archive("opt/layers/evil"))
    tag = f"llm-sandbox-test/evil:{os.urandom(4).hex()}"
    name, _, version = tag.partition(":")
    api.commit(made["Id"], name, version)
    api.remove_container(made["Id"], force=True)
    yield tag
    assert wait_for(lambda: _removed(engine, tag))


@pytest.mark.redteam
@pytest.mark.parametrize("mode", [READ_ONLY, "ro"])
def test_nothing_of_an_image_gets_into_a_volume(
    evil_image: str, engine: Engine, volume: EngineVolume, container: Any, mode: str
) -> None:
    """Engines copy what an image has at a volume's place into the volume, if that is empty."""

    def sees_evil() -> bool:
        mounted = {volume.name: {"bind": LAYERS_ROOT, "mode": mode}}
        one = container(evil_image, ("true",), volumes=mounted)
        one.start()
        one.wait()
        try:
            with engine.errors("look"):
                engine.api.get_archive(one.id, f"{LAYERS_ROOT}/evil")
        except ContainerGoneError:
            return False
        return True

    volume.make()
    assert sees_evil() == (mode != READ_ONLY), "without `nocopy` it gets there: negative control"
    if mode == READ_ONLY:
        assert volume.fill(evil_image, "complete", lambda: archive("complete"), soon())
        assert not sees_evil()


def _removed(engine: Engine, image: str) -> bool:
    try:
        engine.client.images.remove(image, force=True)
    except Exception as error:  # noqa: BLE001 - engines say it differently
        return "no such image" in str(error).lower()
    return True


@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_what_runs_inside_is_there_again_after_its_volume_was_removed(
    engine: Engine, image: str, how: str
) -> None:
    """A volume that another program removed, and an empty one in its place, are filled again."""
    runtime = describe_runtime(engine.architecture)
    backend = type(get_backend(engine.name))(ContainerOptions(image=image))
    own = replace(runtime, digest=f"test-{os.urandom(4).hex()}")
    backend._volume = GuestVolume(engine, own)
    name = backend._volume.name
    try:
        with Sandbox.create(backend=backend) as sandbox:
            assert sandbox.check("echo", "-n", "before").stdout == "before"
        assert wait_for(lambda: removed(engine, name))
        if how == "emptied":
            engine.api.create_volume(name)
        with Sandbox.create(backend=backend) as sandbox:
            assert sandbox.check("echo", "-n", "after").stdout == "after"
    finally:
        backend.close()
        assert wait_for(lambda: removed(engine, name))


def removed(engine: Engine, volume: str) -> bool:
    """Remove a volume; False while a container that ends still uses it."""
    try:
        engine.api.remove_volume(volume)
    except docker.errors.NotFound:
        return True
    except docker.errors.APIError:
        return False
    return True
