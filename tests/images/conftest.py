"""A real engine, its Python image, and a registry on this machine."""

from __future__ import annotations

import contextlib
import io
import tarfile
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.backends.containers.images.build import ImageBuilder
from llm_sandbox.backends.docker.backend import connect_docker
from llm_sandbox.backends.recipes import get_recipe
from llm_sandbox.exceptions import SandboxError
from tests.images.loopback_registry import LoopbackRegistry

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from llm_sandbox.backends.containers.engine import Engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    try:
        found = connect_docker()
        found.check()
    except SandboxError as error:
        pytest.skip(f"no docker engine: {error.message}")
    return found


@pytest.fixture(scope="session")
def python_image(engine: Engine) -> str:
    """The name of the real Python image; built once, and found there ever after."""
    told: list[str] = []
    try:
        return ImageBuilder(engine, on_step=told.append).build(get_recipe("python")).name
    except SandboxError as error:
        pytest.fail(f"the python image cannot be built: {error}\nso far: {told}")


def tiny_archive(text: str) -> io.BytesIO:
    """A root file system of one file."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        member = tarfile.TarInfo("hello")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text.encode()))
    archive.seek(0)
    return archive


@pytest.fixture
def tiny(engine: Engine) -> Iterator[str]:
    """The name of an image with one file that no other image has."""
    mark = uuid.uuid4().hex
    name = f"llm-sandbox-test/tiny:{mark}"
    api: Any = engine.api
    repository, _, tag = name.partition(":")
    api.import_image_from_data(tiny_archive(mark).read(), repository=repository, tag=tag)
    yield name
    remove(engine, name)


@pytest.fixture
def registry(engine: Engine, tiny: str) -> Iterator[tuple[LoopbackRegistry, str]]:
    """A registry with one image that the engine does not have, and the image's name there."""
    saved = io.BytesIO(b"".join(engine.api.get_image(tiny)))
    remove(engine, tiny)
    served = LoopbackRegistry(saved)
    with served.serving() as address:
        name = f"{address}/some/tiny:test"
        yield served, name
        remove(engine, name)


def remove(engine: Engine, name: str) -> None:
    import docker.errors

    with contextlib.suppress(docker.errors.ImageNotFound):
        engine.api.remove_image(name, force=True)


@pytest.fixture
def children() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that a test starts, and that must not outlive it."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()
