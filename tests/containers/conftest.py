"""The container engines that answer here."""

import time

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError


def engine_or_skip(name):
    """The engine of a backend; skips where it does not answer, with what to type."""
    backend = get_backend(name)
    try:
        backend.check()
    except SandboxError as error:
        pytest.skip(f"{name}: {error}")
    return backend.engine


@pytest.fixture(params=["docker", "podman"])
def engine(request):
    """Each container engine."""
    return engine_or_skip(request.param)


@pytest.fixture
def container(engine):
    """Makes containers that are not ours, as somebody else would; they are removed afterwards."""
    made = []

    def make(image, command=("sleep", "600"), **options):
        arguments = {"detach": True, "network_mode": "none", **options}
        if engine.name == "podman":
            limits = [{"Name": "nofile", "Soft": 1024, "Hard": 1024}]
            arguments["ulimits"] = [*limits, {"Name": "nproc", "Soft": 4096, "Hard": 4096}]
        one = engine.client.containers.create(image, list(command), **arguments)
        made.append(one)
        return one

    yield make
    for one in made:
        one.remove(force=True, v=True)


def wait_for(claim, within_s=10.0):
    """Whether `claim` becomes true in time."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def bare_image(engine):
    """An image without Python: the local Debian root that ours are made from, or one made of it."""
    from llm_sandbox import __version__

    name = f"llm-sandbox/base:{__version__}"
    if not engine.client.images.list(name):
        pytest.skip(f"{engine.name} has no {name}: llm-sandbox images build base")
    return name
