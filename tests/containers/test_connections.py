"""Number of open connections to an engine."""

from __future__ import annotations

import contextlib
import gc
import weakref
from pathlib import Path

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.containers.gc.removal import wait_until_removed
from llm_sandbox.backends.docker.backend import DockerBackend
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from tests.containers.conftest import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.engine("docker", image="python")]


def sockets() -> int:
    """Number of open sockets of this process."""
    gc.collect()
    found = 0
    for opened in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists
            found += str(opened.readlink()).startswith("socket:")
    return found


def test_sandboxes_leave_no_connection(engine):
    def one_more() -> None:
        with Sandbox.create(backend=engine.name) as sandbox:
            sandbox.exec("true").wait()
        wait_until_removed()

    one_more()
    before = sockets()
    for _ in range(8):
        one_more()
    assert wait_for(lambda: sockets() <= before + 4)


def test_requests_share_a_connection(engine):
    """Each asks for another address, for which docker-py would keep a pool of its own."""
    engine.client.ping()
    before = sockets()
    for number in range(20):
        assert [] == engine.api.containers(filters={"label": f"none={number}"})
    assert sockets() <= before + 2


def test_backends_of_other_options_share_a_connection(engine):
    backend = get_backend(engine.name)
    assert engine is backend.engine
    other = backend.with_options(ContainerOptions(image="another"))
    assert other is not backend
    assert engine is other.engine


def test_a_backend_that_nobody_holds_goes():
    """It would otherwise stay until the exit of the process, and its connections with it."""
    backend = DockerBackend()
    backend.engine.client.close()
    gone = weakref.ref(backend)
    del backend
    gc.collect()
    assert gone() is None
