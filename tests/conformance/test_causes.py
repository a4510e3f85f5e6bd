"""Causes of a run's end, on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from llm_sandbox import ArtifactSandboxSession
from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.backends.hardening.cgroups import find_tree
from llm_sandbox.const import RunCause, RunStatus, StateOutcome
from llm_sandbox.limits import Limits
from llm_sandbox.testing.session_cause_suite import SessionCauseSuite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.base import Backend

KILLED_FOR_MEMORY = {
    "status": RunStatus.OOM,
    "exit_code": 137,
    "signal": 9,
    "cause": RunCause.MEMORY,
    "state": StateOutcome.RESET,
    "measured": True,
    "note": "memory_bytes",
}


OR_KILLED = {**KILLED_FOR_MEMORY, "or_not": True}
"""An allocation fails, or what has grown that large is killed: both limits lie close together."""
COUNTED = {"measured": True}
"""The engine's control group counts the processes that it refused."""


@pytest.mark.skipif(find_tree() is None, reason="no control group can be made: see below")
class TestBubblewrap(SessionCauseSuite):
    backend_name = "bubblewrap"
    otherwise: ClassVar[dict[str, Any]] = {"memory-by-growth": OR_KILLED}


class TestBubblewrapWithoutGroups(SessionCauseSuite):
    """As an ordinary user has it: no control group can be made."""

    backend_name = "bubblewrap"
    # The sum is looked at four times a second, and all are killed when it is too much.
    otherwise: ClassVar[dict[str, Any]] = {
        "memory-of-children": KILLED_FOR_MEMORY,
        "memory-by-growth": OR_KILLED,
    }
    lacks: ClassVar[dict[str, str]] = {
        "memory_group": "files in memory are not counted without a control group"
    }

    @pytest.fixture(scope="class")
    @classmethod
    def cause_backend(cls) -> Iterator[BubblewrapBackend]:
        backend = BubblewrapBackend()
        backend._tree = None
        yield backend
        backend.close()


class TestLocal(SessionCauseSuite):
    backend_name = "local"


@pytest.mark.engine("docker", image="python")
class TestDocker(SessionCauseSuite):
    backend_name = "docker"
    otherwise: ClassVar[dict[str, Any]] = {
        "memory-by-growth": OR_KILLED,
        "processes": COUNTED,
        "threads": COUNTED,
    }


@pytest.mark.sampled
@pytest.mark.engine("podman", image="python")
class TestPodman(SessionCauseSuite):
    backend_name = "podman"
    otherwise: ClassVar[dict[str, Any]] = {
        "memory-by-growth": OR_KILLED,
        "processes": COUNTED,
        "threads": COUNTED,
    }
    lacks: ClassVar[dict[str, str]] = {"inodes": "its file systems have no limit on files"}


@pytest.mark.sampled
class TestGvisor(SessionCauseSuite):
    backend_name = "gvisor"
    # Its memory is watched, and all are killed when it is too much, or the kernel ends the sandbox
    # first, if it grows faster than that; its limit on CPU time counts a
    # child for its parent as well.
    otherwise: ClassVar[dict[str, Any]] = {
        "memory-at-once": {**OR_KILLED, "state": None},
        "memory-by-growth": {**OR_KILLED, "state": None},
        "memory-of-children": {**KILLED_FOR_MEMORY, "state": None},
        "cpu-of-a-child": {
            "status": RunStatus.KILLED,
            "exit_code": 152,
            "signal": 24,
            "state": StateOutcome.RESET,
            "measured": True,
            "or_not": True,
        },
    }
    lacks: ClassVar[dict[str, str]] = {
        "memory_group": "it counts the whole sandbox and kills all of it",
        "inodes": "gVisor has no limit on files",
    }

    def test_memory_that_grows_too_fast_to_be_watched(self, cause_backend: Backend) -> None:
        """The kernel ends a sandbox that is far over the limit before gVisor's count is looked at:
        that is told as want of memory too.
        """
        grow = "x = bytearray(b'x') * (500 << 20); import time; time.sleep(9)"
        code = (
            "import subprocess, sys\n"
            f"parts = [subprocess.Popen([sys.executable, '-c', {grow!r}]) for _ in range(12)]\n"
            "print([part.wait() for part in parts])"
        )
        limits = Limits(memory_bytes=256 << 20)
        with ArtifactSandboxSession(cause_backend, limits=limits) as session:
            result = session.run(code)

        assert (result.status, result.cause) == (RunStatus.OOM, RunCause.MEMORY)
        if result.state is StateOutcome.LOST:
            assert "The sandbox has ended: it used more memory than it may." in result.notes
