"""Contract of an inventory: what this library holds in a container engine, and its removal."""

import abc
import datetime
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

__all__ = [
    "Decision",
    "Inventory",
    "Kind",
    "Owner",
    "OwnerState",
    "Resource",
    "current_owner",
]

Kind = Literal["sandbox", "filler", "container", "volume", "image"]
"""``filler``: a container that is never started, through which files are copied into a volume or an
image. ``container``: one that a user made from an image of this library or from a snapshot."""
OwnerState = Literal["alive", "dead", "unknown", "none"]
"""``unknown``: a process of another machine, or of another process namespace."""


@dataclass(frozen=True)
class Owner:
    """Unique identity of a process, as process ids are reused.

    Attributes:
        boot: Identity of the boot and of the process namespace.
        pid: Process id.
        started: Start of the process, in clock ticks since the boot.
        host: Name of the machine, for people.
    """

    boot: str
    pid: int
    started: int
    host: str

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        """Return the owner that a label's value names; None for any other text."""
        boot, _, rest = text.partition(":")
        pid, _, rest = rest.partition(":")
        started, _, host = rest.partition(":")
        if not (boot and pid.isdecimal() and started.isdecimal()):
            return None
        return cls(boot, int(pid), int(started), host)

    def __str__(self) -> str:
        return f"{self.boot}:{self.pid}:{self.started}:{self.host}"

    @property
    def is_here(self) -> bool:
        """Whether it is, or was, a process of this boot and process namespace."""
        return self.boot == _boot()

    @property
    def is_alive(self) -> bool | None:
        """Whether it still runs; None if that cannot be known here."""
        if not self.is_here:
            return None
        return _started(self.pid) == self.started


def current_owner() -> Owner:
    """Return the identity of this process."""
    pid = os.getpid()
    return Owner(_boot(), pid, _started(pid) or 0, socket.gethostname())


@cache
def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # A container has process ids of its own, and the same boot.
        return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in brackets, may hold anything.
    return int(text.rpartition(")")[2].split()[19])


@dataclass(frozen=True)
class Resource:
    """Container, volume or image of this library in an engine."""

    engine: str
    """``docker`` or ``podman``."""
    kind: Kind
    id: str
    """The engine's id; for a volume, its name."""
    name: str
    """Name for people: the short id of a container, the name of a volume or image."""
    state: str = ""
    """State of a container: ``running``, ``paused``, ``created``, ``exited``, ...; else empty."""
    image: str = ""
    """The image that a container was made from."""
    network: str | None = None
    """A container's network; ``none`` for none."""
    owner: Owner | None = None
    """Process that created it; None if unknown."""
    started: datetime.datetime | None = None
    """Time of creation, in UTC."""
    in_use: bool = False
    """Whether a container uses it, for a volume or image."""
    tags: tuple[str, ...] = ()
    """Every name of an image."""
    memory_bytes: int | None = None
    """Memory that a running container uses; None before `Inventory.measure`."""
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def owner_state(self) -> OwnerState:
        """State of its owner."""
        if self.owner is None:
            return "none"
        alive = self.owner.is_alive
        return "unknown" if alive is None else "alive" if alive else "dead"

    def age_s(self, now: datetime.datetime | None = None) -> float:
        """Return the seconds since its creation; 0 if unknown."""
        if self.started is None:
            return 0.0
        now = now or datetime.datetime.now(datetime.UTC)
        return max(0.0, (now - self.started).total_seconds())

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON-able data."""
        owner = self.owner
        return {
            "engine": self.engine,
            "kind": self.kind,
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "image": self.image,
            "network": self.network,
            "owner": None if owner is None else {"pid": owner.pid, "host": owner.host},
            "owner_state": self.owner_state,
            "started": None if self.started is None else self.started.isoformat(),
            "age_s": round(self.age_s()),
            "in_use": self.in_use,
            "memory_bytes": self.memory_bytes,
        }


@dataclass(frozen=True)
class Decision:
    """Decision of garbage collection about one resource."""

    resource: Resource
    remove: bool
    why: str
    """Reason as a clause, such as ``its process 4711 has ended``."""

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON-able data."""
        return {**self.resource.to_dict(), "removed": self.remove, "why": self.why}


class Inventory(abc.ABC):
    """Containers, volumes and images of this library in one engine.

    Every method raises BackendUnavailableError if the engine does not answer, and BackendError if
    it refuses.
    """

    @abc.abstractmethod
    def resources(self) -> list[Resource]:
        """Return the containers, volumes and images, in this order and each oldest first."""

    @abc.abstractmethod
    def measure(self, resources: Iterable[Resource]) -> list[Resource]:
        """Return the resources with the memory that running containers use, where it is known."""

    @abc.abstractmethod
    def decide(self, resources: Iterable[Resource], min_age_s: float = 0.0) -> list[Decision]:
        """Return which resources can be removed, and why; nothing is removed yet.

        What a living process owns stays, and so does what may belong to somebody else.

        Args:
            resources: All that the engine holds of this library, or a part of it.
            min_age_s: Seconds; what is younger stays in any case.
        """

    @abc.abstractmethod
    def collect(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Carry out decisions; returns them as they came out, with the reasons of failures."""

    @abc.abstractmethod
    def remove(self, container: str) -> None:
        """Remove a container, whatever it does, and return when it is gone.

        Args:
            container: Its id.

        Raises:
            BackendError: It is not gone after 30 seconds.
        """
