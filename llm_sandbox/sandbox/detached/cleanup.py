"""Removing what daemons that were killed have left."""

import contextlib
import logging

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.sandbox.detached.record import Record
from llm_sandbox.sandbox.detached.registry import sweep
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.sandbox.snapshots import sweep_snapshots

__all__ = ["clean"]

logger = logging.getLogger(__name__)


def clean() -> list[str]:
    """Clean up after the daemons that were killed; returns the ids of their sandboxes.

    Their processes have ended with them. A container that its engine has not removed is removed,
    and so are snapshots whose time to live is over.
    """
    with StateDir() as state_dir:
        lost = sweep(state_dir, everything=True)
    for one in lost:
        if isinstance(one, Record) and one.machine is not None:
            _remove_container(one.backend, one.machine)
    sweep_snapshots()
    return [one.id if isinstance(one, Record) else one for one in lost]


def _remove_container(backend_name: str, machine: str) -> None:
    """Remove a container, if it is ours and its process has ended."""
    from llm_sandbox.backends.containers.backend import ContainerBackend
    from llm_sandbox.backends.containers.gc.collector import GarbageCollector
    from llm_sandbox.backends.containers.gc.inventory import list_resources

    with contextlib.suppress(SandboxError):
        backend = get_backend(backend_name)
        if not isinstance(backend, ContainerBackend):
            return
        # trust: the id comes from a file; what it names is removed only if its labels say that it
        # is ours and nobody's any more.
        held = [one for one in list_resources(backend.engine) if one.id.startswith(machine)]
        found = [one for one in held if one.kind == "sandbox"]
        sweeper = GarbageCollector(backend.engine)
        for verdict in sweeper.collect(sweeper.decide(found)):
            logger.debug("container %s: %s", verdict.resource.id, verdict.why)
