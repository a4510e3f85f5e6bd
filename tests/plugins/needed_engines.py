"""Skip of tests with the marker `engine` where the engine does not answer, with the remedy.

`@pytest.mark.engine` needs Docker, `@pytest.mark.engine("podman", image="python")` Podman and the
image of Python sessions in it.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError

START = "start it, or have `make test` do it as root"
NEEDS = "LLM_SANDBOX_TEST_NEEDS"
"""Variable that names a file for the needed images; `tests/engines.py` sets and reads it."""


def pytest_collection_finish(session: pytest.Session) -> None:
    place = os.environ.get(NEEDS)
    if place:
        Path(place).write_text(json.dumps(needed_images(session.items)))


def needed_images(items: list[pytest.Item]) -> dict[str, list[str]]:
    """Return the images that tests need, by engine; Python's where they name none."""
    needed: dict[str, set[str]] = {}
    for item in items:
        # The image of a cluster is Docker's, with one more layer.
        if os.environ.get("LLM_SANDBOX_TEST_LOAD_IMAGE") and item.get_closest_marker("cluster"):
            needed.setdefault("docker", set()).add("python")
        for mark in item.iter_markers("engine"):
            name = mark.args[0] if mark.args else "docker"
            needed.setdefault(name, set()).add(mark.kwargs.get("image") or "python")
    return {name: sorted(images) for name, images in needed.items()}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("engine"):
        name = mark.args[0] if mark.args else "docker"
        reason = missing_engine(name, mark.kwargs.get("image"))
        if reason is not None:
            pytest.skip(reason)


@cache
def missing_engine(name: str, image: str | None) -> str | None:
    """Return why tests that need an engine, and an image in it, are skipped; None where they are
    not.
    """
    from llm_sandbox.backends.containers.backend import ContainerBackend
    from llm_sandbox.backends.recipes import image_name

    try:
        backend = get_backend(name)
        backend.check()
        assert isinstance(backend, ContainerBackend)
        if image is not None and backend.engine.find_image(image_name(image)) is None:
            build = f"python -m llm_sandbox images build {image} --engine {name}"
            return f"{name} has no image {image_name(image)}: {build}"
    except SandboxError as error:
        return f"{name}: {error.message}; {START}"
    return None
