"""What a client asks of a new daemon, and what a daemon says of its sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from llm_sandbox.backends.base import Isolation, MachineSpec
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.network import Network
from llm_sandbox.sandbox.detached.record import OnExit
from llm_sandbox.sandbox.readiness import ReadinessFacts
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.secrets.plan import SecretPlan

__all__ = ["Claim", "CreateRequest", "DetachedSession", "SandboxInfo"]


@dataclass(frozen=True)
class DetachedSession:
    """What a daemon holds of a session for those who attach to it; it reads none of the words."""

    language: str
    """Its language, for people."""
    words: str = field(repr=False)
    """Its settings, which may hold secrets."""


@dataclass(frozen=True)
class Claim:
    """What a client finds of a session that is its own from now on."""

    kernel: str | None
    """Id of its interpreter; None while it has none."""
    cold: bool
    """Whether that shares no memory layout with others."""
    state: str
    """What the last client noted; empty before the first."""
    lost: str
    """Why the interpreter that it had is gone; empty where it is not."""


@dataclass(frozen=True)
class CreateRequest:
    """A sandbox to be made. It travels on a socket that nobody else has, and is written nowhere."""

    id: str
    name: str | None
    namespace: str
    tags: Mapping[str, str]
    on_exit: OnExit
    idle_timeout: float | None
    command: tuple[str, ...]
    """The entry command; empty without one."""
    terminal: Terminal | None
    """The terminal that it has; None for pipes."""
    backend: str
    options: ContainerOptions | None
    """What is asked of a container; None for backends that make none."""
    spec: MachineSpec
    network: Network
    """Which way out it has."""
    ports: tuple[int | TlsPort, ...]
    """Which tunnels lead in."""
    ready: ReadinessFacts | None
    """How it is looked at whether it is ready."""
    snapshot: Snapshot | None
    """What it begins from; None for nothing, or what `options` have the image of."""
    session: DetachedSession | None
    """The session that lives in it; None for a sandbox without one."""
    owner: int
    """Process id of who asks."""
    env: Mapping[str, str] = field(repr=False)
    secrets: SecretPlan = field(repr=False)


@dataclass(frozen=True)
class SandboxInfo:
    """What a client needs to know of a sandbox that it attaches to."""

    id: str
    name: str | None
    namespace: str
    tags: Mapping[str, str]
    on_exit: OnExit
    spec: MachineSpec
    isolation: Isolation
    base_env: Mapping[str, str] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    secrets: SecretPlan = field(repr=False)
    python: str
    library_path: str | None
    has_packages: bool
    saves_file_systems: bool
    ready: ReadinessFacts | None
    """How it is looked at whether it is ready."""
    session: DetachedSession | None
    """The session that lives in it."""
    options: ContainerOptions | None
    """What was asked of its container; None for backends that make none."""
    images: tuple[str, str] | None
    """See `Machine.images`."""
    counts_activity: bool
    """Whether anything depends on when its files were last used."""
    warnings: tuple[tuple[str, str, str], ...] = ()
    """Module, class and text of what was warned of while it was made."""
