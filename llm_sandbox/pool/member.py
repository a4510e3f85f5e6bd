"""Member of a pool: an open session that nobody has used, from its creation to its end."""

import random
import time
from dataclasses import dataclass, field
from enum import StrEnum

from llm_sandbox.artifact_session import ArtifactSandboxSession

__all__ = ["ContainerState", "Member", "PooledContainer"]

_YOUNGEST = 0.9
"""Part of the maximum age at which the first of the sessions created together are replaced."""


class ContainerState(StrEnum):
    """State of a sandbox in a pool."""

    INITIALIZING = "initializing"
    """Being created."""
    IDLE = "idle"
    """Ready."""
    BUSY = "busy"
    """In use by a session."""
    UNHEALTHY = "unhealthy"
    """Ended while ready, or to be replaced."""
    REMOVING = "removing"
    """Being ended."""


@dataclass(eq=False)
class PooledContainer:
    """Sandbox in a pool."""

    session: ArtifactSandboxSession = field(repr=False)
    """Session that created the sandbox, open until another takes over."""
    container_id: str
    """Id of the sandbox."""
    state: ContainerState = ContainerState.IDLE
    """State of the sandbox."""
    created_at: float = field(default_factory=time.time)
    """Time of creation, in seconds since the epoch."""
    last_used_at: float = field(default_factory=time.time)
    """Time of the last acquisition, or of creation."""
    use_count: int = 0
    """Number of sessions served: 0 or 1."""

    @property
    def container(self) -> object:
        """Container object of the engine; the `Sandbox` on backends without containers."""
        backend = self.session._backend
        return self.session.container if backend.has_containers else self.session.sandbox


class Member(PooledContainer):
    """Sandbox in a pool, with what decides whether it is handed out.

    Args:
        session: Open session that nobody has used.
    """

    def __init__(self, session: ArtifactSandboxSession) -> None:
        super().__init__(session, session.sandbox.id)
        self._ready_at = time.monotonic()
        # Sessions created together are not replaced together, which would leave none ready.
        self._youth = random.uniform(_YOUNGEST, 1.0)  # noqa: S311

    @property
    def is_healthy(self) -> bool:
        """Whether its sandbox and its interpreter live."""
        runtime = self.session._life.current
        return runtime is not None and runtime.kernel.is_alive and not runtime.kernel.is_lost

    def ready_s(self, now: float) -> float:
        """Return the seconds since it was ready, at a time of the monotonic clock."""
        return now - self._ready_at

    def left_s(self, max_age: float | None, now: float) -> float | None:
        """Return the seconds until it is too old: below 0 if it is; None if it never is."""
        return None if max_age is None else max_age * self._youth - self.ready_s(now)

    def lend(self) -> None:
        """Note that a session uses it from now on."""
        self.state = ContainerState.BUSY
        self.last_used_at = time.time()
        self.use_count += 1
