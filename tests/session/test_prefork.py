"""Sandboxes that are made ahead of need: what a session gets that claims one."""

import time
from pathlib import Path

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.limits import Limits
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.testing.suite import usable_backend

pytestmark = pytest.mark.slow

READY_S = 90.0
PROBE = "import os, random; print(os.getpid(), random.random(), 'x' in globals())"


@pytest.fixture(
    params=[
        "bubblewrap",
        "gvisor",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ]
)
def backend(request):
    shared_pool().clear()
    yield usable_backend(request.param)
    shared_pool().clear()


def open_descriptors():
    """Return the open descriptors of this process."""
    return list(Path("/proc/self/fd").iterdir())


def wait_for_ready(count):
    """Wait until as many are ready."""
    deadline = time.monotonic() + READY_S
    while shared_pool().ready_count() != count:
        assert time.monotonic() < deadline, shared_pool().ready_count()
        time.sleep(0.05)


@pytest.mark.prefork
def test_a_session_claims_one_that_is_new(backend):
    limits = Limits(processes=40)
    with ArtifactSandboxSession(backend, limits=limits) as session:
        assert session.run("x = 1").success
        first = session.run(PROBE).stdout.split()
        wait_for_ready(2)
        ready = {machine.id for pairs in shared_pool()._ready.values() for machine, _ in pairs}
        with ArtifactSandboxSession(backend, limits=limits) as other:
            assert other.sandbox.id in ready
            second = other.run(PROBE).stdout.split()
    assert ("True", "False") == (first[2], second[2])
    assert first[1] != second[1]


@pytest.mark.prefork
def test_those_of_other_limits_are_ended(backend):
    for processes in (40, 41):
        with ArtifactSandboxSession(backend, limits=Limits(processes=processes)) as session:
            assert "1\n" == session.run("print(1)").stdout
            wait_for_ready(2)
    (spec,) = [spec for _, spec in shared_pool()._ready]
    assert 41 == spec.limits.processes


@pytest.mark.prefork
def test_those_that_died_are_put_away(backend):
    """A session gets none of them, and nothing of theirs stays open in this process."""
    limits = Limits(processes=42)
    with ArtifactSandboxSession(backend, limits=limits) as session:
        assert "1\n" == session.run("print(1)").stdout
        wait_for_ready(2)
        dead = [machine for pairs in shared_pool()._ready.values() for machine, _ in pairs]
        for machine in dead:
            machine.destroy()
        opened = len(open_descriptors())
        with ArtifactSandboxSession(backend, limits=limits) as other:
            assert other.sandbox.id not in {machine.id for machine in dead}
            assert "2\n" == other.run("print(2)").stdout
    shared_pool().clear()
    deadline = time.monotonic() + READY_S
    while len(found := open_descriptors()) > opened:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
