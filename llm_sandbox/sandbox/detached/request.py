"""Messages between a client and a sandbox daemon: the create request and its answer."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Isolation, MachineSpec
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.network import Network
from llm_sandbox.sandbox.detached.record import OnExit, Record
from llm_sandbox.sandbox.readiness import ProbeSpec
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.secrets.plan import SecretPlan

if TYPE_CHECKING:
    from llm_sandbox.backends.options.container_options import ContainerOptions

__all__ = ["Claim", "CreateRequest", "DetachedSession", "SandboxInfo"]


@dataclass(frozen=True)
class DetachedSession:
    """Session in a sandbox, held by the daemon for clients that attach to it."""

    language: str
    """Name of the language, for messages."""
    words: str = field(repr=False)
    """Settings, opaque to the daemon; they may hold secrets."""


@dataclass(frozen=True)
class Claim:
    """State of a session when a client claims it."""

    kernel: str | None
    """Id of the kernel; None while there is none."""
    cold: bool
    """Whether the kernel shares no memory layout with others."""
    state: str
    """Note of the last client; empty before the first."""
    lost: str
    """Why the previous kernel is gone; empty if it is not."""


def _new_id() -> str:
    return f"sb-{os.urandom(8).hex()}"


@dataclass(frozen=True)
class CreateRequest:
    """Options of a new sandbox.

    For a detached sandbox they travel over a private socket pair and are never written to disk.
    """

    spec: MachineSpec
    env: Mapping[str, str] = field(repr=False)
    secrets: SecretPlan = field(repr=False)
    network: Network = "blocked"
    ports: Sequence[int | TlsPort] = ()
    """Ports inside that have a tunnel."""
    command: tuple[str, ...] = ()
    """Entry command; empty without one."""
    terminal: Terminal | None = None
    """Terminal of the entry command; None for pipes."""
    ready: ProbeSpec | None = None
    """Readiness probe."""
    snapshot: Snapshot | None = None
    """Snapshot to restore; None for none, or for the image in `options`."""
    name: str | None = None
    namespace: str = "default"
    tags: Mapping[str, str] | None = None
    on_exit: OnExit = "destroy"
    idle_timeout: float | None = None
    session: DetachedSession | None = None
    """Session of the sandbox; None for a sandbox without one."""
    backend: str = ""
    options: "ContainerOptions | None" = None
    """Options of a container; None for other backends."""
    id: str = field(default_factory=_new_id)
    owner: int = field(default_factory=os.getpid)
    """Process id of the creator."""

    def make_record(self, daemon: int | None = None) -> Record:
        """Return the record of the sandbox before it is created.

        Args:
            daemon: Process id of its daemon; None where it needs none.
        """
        shown = self.command[0] if self.command else None
        if shown is not None:
            for value in self.secrets.hidden:
                shown = shown.replace(value, "***")
            shown = shown[:200]
        return Record(
            id=self.id,
            name=self.name,
            namespace=self.namespace,
            tags=dict(self.tags or {}),
            backend=self.backend,
            workdir=self.spec.workdir,
            on_exit=self.on_exit,
            created_at=time.time(),
            command=shown,
            daemon=daemon,
            owner=self.owner if self.on_exit == "destroy" else None,
            idle_timeout=self.idle_timeout,
            session=None if self.session is None else self.session.language,
        )


@dataclass(frozen=True)
class SandboxInfo:
    """Description of a detached sandbox for clients that attach."""

    request: CreateRequest
    """The request that the sandbox was created by."""
    tags: Mapping[str, str]
    """Current tags."""
    spec: MachineSpec
    """Specification of the machine as created, with its current limits."""
    isolation: Isolation
    base_env: Mapping[str, str] = field(repr=False)
    python: str
    """Path of the machine's Python interpreter."""
    library_path: str | None
    has_packages: bool
    saves_file_systems: bool
    images: tuple[str, str] | None
    """See `Machine.images`."""
    warnings: tuple[tuple[str, str, str], ...] = ()
    """Warnings of the creation: module and name of the category, and the text."""
