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
"""``filler``: a container that is never started, through which files get into a volume or an image.
``container``: somebody's own, made of an image of ours or of a sandbox that was saved."""
OwnerState = Literal["alive", "dead", "unknown", "none"]
"""``unknown``: of another machine, or of a system in a container of its own."""


@dataclass(frozen=True)
class Owner:
    """A process of some machine, for all time: numbers of processes are used again.

    Attributes:
        boot: Identity of the running system that it is a process of.
        pid: Its number.
        started: When it was started, in clock ticks since that system's start.
        host: Name of the machine, for people.
    """

    boot: str
    pid: int
    started: int
    host: str

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        """Read a label's value; None for one that is not ours."""
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
        """Whether it is, or was, a process of this system."""
        return self.boot == _boot()

    @property
    def is_alive(self) -> bool | None:
        """Whether it still runs; None if that cannot be known from this machine."""
        if not self.is_here:
            return None
        return _started(self.pid) == self.started


def current_owner() -> Owner:
    """This process."""
    pid = os.getpid()
    return Owner(_boot(), pid, _started(pid) or 0, socket.gethostname())


@cache
def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # A system in a container counts its processes anew, below the same kernel.
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
    """One thing of ours in an engine."""

    engine: str
    """``docker`` or ``podman``."""
    kind: Kind
    id: str
    """What the engine knows it by; a volume's is its name."""
    name: str
    """For people: the short id of a container, the name of a volume or image."""
    state: str = ""
    """A container's: ``running``, ``paused``, ``created``, ``exited``, ...; else empty."""
    image: str = ""
    """The image that a container was made from."""
    network: str | None = None
    """A container's network; ``none`` for none."""
    owner: Owner | None = None
    """Whose it is; None where nobody is named."""
    started: datetime.datetime | None = None
    """When it was made, in UTC."""
    in_use: bool = False
    """Whether a container has it, for a volume or image."""
    tags: tuple[str, ...] = ()
    """Every name of an image."""
    memory_bytes: int | None = None
    """What a running container uses, once it is measured."""
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def owner_state(self) -> OwnerState:
        """Whether its owner lives."""
        if self.owner is None:
            return "none"
        alive = self.owner.is_alive
        return "unknown" if alive is None else "alive" if alive else "dead"

    def age_s(self, now: datetime.datetime | None = None) -> float:
        """Seconds since it was made; 0 where that is not known."""
        if self.started is None:
            return 0.0
        now = now or datetime.datetime.now(datetime.UTC)
        return max(0.0, (now - self.started).total_seconds())

    def to_dict(self) -> dict[str, object]:
        """The same as JSON types."""
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
    """What is done about one thing."""

    resource: Resource
    remove: bool
    why: str
    """A clause, such as ``its process 4711 has ended``."""

    def to_dict(self) -> dict[str, object]:
        """The same as JSON types."""
        return {**self.resource.to_dict(), "removed": self.remove, "why": self.why}


class Inventory(abc.ABC):
    """The containers, volumes and images of this library in one engine.

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
