"""Machine that is a container."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.backends import python_environment
from llm_sandbox.backends.base import Isolation, MachineSpec
from llm_sandbox.backends.connection import SupervisorConnection
from llm_sandbox.backends.containers.creation.arguments import CPU_PERIOD_US
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.snapshots import SAVED_SITE, SAVED_WORKDIR, commit_container
from llm_sandbox.backends.image_machine import ImageMachine
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import SupervisedMachine
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.limits import Limits

__all__ = ["ContainerMachine", "Origin", "find_network_process"]

_RULES = "a network with rules"
_RULES_HINT = (
    "use backend='bubblewrap', to which any user can give rules, or run this as root on the "
    "engine's machine"
)


@dataclass(frozen=True)
class Origin:
    """Container of a machine, and the image that it was made from."""

    engine: Engine
    container: str
    """Its id."""
    image: str
    """The image's id."""
    image_name: str
    """The image's name, for people."""
    saved: Collection[str] = ()
    """Parts of another machine that are saved in the image: ``workdir``, ``site``."""
    memory_allowance: int | None = None
    """Bytes that the container may use beyond `Limits.memory_bytes`; None for an existing
    container, whose limits do not change."""
    changed_root: bool = False
    """Whether files of the image may have been changed in the container."""
    guest: str = python_environment.GUEST_ROOT
    """Folder of the guest's code in the container."""

    @property
    def library_path(self) -> str | None:
        """Folder of the image with saved libraries; None without any."""
        return SAVED_SITE if "site" in self.saved else None


class ContainerMachine(ImageMachine):
    """See `Machine`.

    Args:
        origin: The container.
    """

    def __init__(
        self,
        connection: SupervisorConnection,
        spec: MachineSpec,
        isolation: Isolation,
        *,
        origin: Origin,
        confinement: Mapping[str, Any],
        loaded: threading.Event,
        on_destroyed: Callable[[SupervisedMachine], None],
    ) -> None:
        self.origin = origin
        super().__init__(
            connection,
            spec,
            isolation,
            guest=origin.guest,
            machine_id=origin.container[:12],
            confinement=confinement,
            loaded=loaded,
            on_destroyed=on_destroyed,
            library_path=origin.library_path,
            restore=SAVED_WORKDIR if "workdir" in origin.saved else None,
        )

    def live_limits(self) -> frozenset[str]:
        found = super().live_limits()
        return found if self.origin.memory_allowance is None else found | {"memory_bytes", "cpus"}

    def _enforce(self, limits: Limits, changed: frozenset[str]) -> None:
        values: dict[str, Any] = {}
        if "memory_bytes" in changed:
            whole = limits.memory_bytes + (self.origin.memory_allowance or 0)
            values |= {"mem_limit": whole, "memswap_limit": whole}
        if "cpus" in changed:
            quota = -1 if limits.cpus is None else int(limits.cpus * CPU_PERIOD_US)
            values |= {"cpu_period": CPU_PERIOD_US, "cpu_quota": quota}
        if values:
            self.origin.engine.update_container(self.origin.container, values)

    @contextlib.contextmanager
    def process_in_network(self) -> Iterator[int]:
        network = self._connection.hello.get("network")
        yield find_network_process(self.origin.engine, self.origin.container, network)

    @property
    def container(self) -> str:
        """The container's id."""
        return self.origin.container

    def engine_container(self) -> Any:
        with self.origin.engine.errors("inspect", self.container):
            return self.origin.engine.client.containers.get(self.container)

    @property
    def images(self) -> tuple[str, str]:
        return self.origin.image, self.image

    @property
    def image(self) -> str:
        """The image's name, for people."""
        return self.origin.image_name

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        origin = self.origin
        created_at = time.time()
        name = name or f"llm-sandbox/snapshot:{os.urandom(6).hex()}"
        user = self._confinement.get("user") or (0, 0)
        image = commit_container(
            origin.engine,
            origin.container,
            image=origin.image,
            changed_root=origin.changed_root,
            workdir=workdir,
            owner=(user[0], user[1]),
            site=site,
            name=name,
            backend=self.isolation.backend,
            created_at=created_at,
            expires_at=expires_at,
        )
        return Snapshot(
            self.isolation.backend,
            origin.engine.identity,
            image,
            name,
            created_at=created_at,
            expires_at=expires_at,
        )


def find_network_process(engine: Engine, container: str, network: object) -> int:
    """Return the process id of a container's process 1, in the process namespace of the caller.

    Args:
        engine: The container's engine.
        container: Its id.
        network: The network namespace that its supervisor reported; see
            `guest.linux.network_name`.

    Raises:
        UnsupportedError: This process may not enter the container's network, or the container does
            not run on this kernel.
    """
    # Exists on Linux only.
    from llm_sandbox.guest.linux import network_name

    if os.geteuid() != 0:
        raise UnsupportedError(
            _RULES,
            engine.name,
            "only root can enter the network of a container",
            hint=_RULES_HINT,
        )
    with engine.errors("inspect", container):
        process = int(engine.api.inspect_container(container)["State"].get("Pid") or 0)
    # Process ids of another machine, or of another process namespace, mean other processes here.
    found = network_name(process) if process > 0 else ""
    if not found or found != network or found == network_name():
        raise UnsupportedError(
            _RULES,
            engine.name,
            "its engine runs on another machine, in another container, or with a runtime that has "
            "a network of its own",
            hint=_RULES_HINT,
        )
    return process
