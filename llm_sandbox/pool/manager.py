"""Pool manager: creates sandboxes ahead of need, and hands each to one session."""

import atexit
import inspect
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage, language_name
from llm_sandbox.exceptions import (
    PoolClosedError,
    PoolExhaustedError,
    SandboxError,
    ValidationError,
)
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.pool.config import ExhaustionStrategy, PoolConfig
from llm_sandbox.session.config import SessionConfig

__all__ = ["ContainerPoolManager", "ContainerState", "PooledContainer", "create_pool_manager"]

logger = logging.getLogger("llm_sandbox")

_OF_THE_SESSION = (
    "busy",
    "default_timeout",
    "enable_plotting",
    "encoding_errors",
    "execution_timeout",
    "observers",
    "pool",
    "security_policy",
    "session_timeout",
    "stream",
    "verbose",
)
"""Options of `create_session` that are individual to each session of a pool."""
_RETRY_S = 5.0


class ContainerState(StrEnum):
    """State of a sandbox in a pool."""

    INITIALIZING = "initializing"
    """Being created."""
    IDLE = "idle"
    """Ready."""
    BUSY = "busy"
    """In use by a session."""
    UNHEALTHY = "unhealthy"
    """Ended while ready."""
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


class ContainerPoolManager:
    """Pool of sandboxes; use it in a ``with`` block, or call `close`. Thread-safe.

    Args:
        client: For a container backend: client of its engine; None for the default.
        config: Settings of the pool; None for the defaults.
        lang: Language of the code.
        **session: Other arguments of `create_session`, such as ``backend``, ``image``,
            ``libraries``, ``limits``, ``network``, for all sandboxes of the pool.

    Raises:
        ValidationError: An option is individual to each session.
        SandboxError: Such sandboxes cannot be created; see `create_session`.
    """

    def __init__(
        self,
        client: object = None,
        config: PoolConfig | None = None,
        lang: str = SupportedLanguage.PYTHON,
        **session: Any,
    ) -> None:
        own = [name for name in session if name in _OF_THE_SESSION]
        if own:
            raise ValidationError(
                f"{own[0]}= is for each session of a pool, not for the pool",
                parameter=own[0],
                hint=f"create_session(pool=pool, {own[0]}=...)",
            )
        self.config = config or PoolConfig()
        self._options: dict[str, Any] = {"client": client, "lang": lang, **session}
        self._pattern = ArtifactSandboxSession(**self._options)
        self._changed = threading.Condition()
        self._members: list[PooledContainer] = []
        self._queue: list[object] = []
        self._making = 0
        self._closed = False
        self._keeper = threading.Thread(target=self._keep, name="llm-sandbox-pool", daemon=True)
        self._keeper.start()
        atexit.register(self.close)

    @property
    def lang(self) -> str:
        """Language of the code."""
        return self._pattern.config.lang

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._pattern.backend

    @property
    def client(self) -> object:
        """Client of the engine; None on backends without containers."""
        return self._pattern.client if self._pattern._backend.has_containers else None

    def acquire(self) -> PooledContainer:
        """Acquire a fresh sandbox; `release` ends it.

        Sessions with ``pool=`` call both.

        Raises:
            PoolExhaustedError: All sandboxes are in use, and none was released in time.
            PoolClosedError: The pool is closed.
            SandboxError: A sandbox could not be created.
        """
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                ready = self._await_turn(ticket)
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        return _lend(ready or self._make())

    def _await_turn(self, ticket: object) -> PooledContainer | None:
        """Wait for a ready sandbox, or for room to create one, and return it or None.

        Waiting threads are served in order: otherwise a thread that releases a sandbox and acquires
        another would overtake them.
        """
        timeout = self.config.acquisition_timeout
        limit = None if timeout is None else time.monotonic() + timeout
        strategy = self.config.exhaustion_strategy
        while True:
            if self._closed:
                raise PoolClosedError()
            if self._queue[0] is ticket:
                ready = self._take_ready()
                if ready is not None:
                    ready.state = ContainerState.BUSY
                    return ready
                if self._size() < self.config.max_pool_size:
                    break
            if strategy is ExhaustionStrategy.TEMPORARY:
                break
            if strategy is ExhaustionStrategy.FAIL_FAST:
                raise PoolExhaustedError(self.config.max_pool_size)
            left = None if limit is None else limit - time.monotonic()
            if left is not None and left <= 0:
                raise PoolExhaustedError(self.config.max_pool_size, timeout)
            self._changed.wait(left)
        self._making += 1
        return None

    def release(self, container: PooledContainer) -> None:
        """Release and end a sandbox; no effect if it is not in use."""
        with self._changed:
            if container not in self._members:
                return
            container.state = ContainerState.REMOVING
        try:
            container.session.close()
        finally:
            with self._changed:
                if container in self._members:
                    self._members.remove(container)
                self._changed.notify_all()

    def close(self) -> None:
        """Close the pool and end its ready sandboxes; those in use end with their sessions."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            ready = [member for member in self._members if member.state is ContainerState.IDLE]
            self._changed.notify_all()
        atexit.unregister(self.close)
        for member in ready:
            self.release(member)
        # What it makes at this moment, it ends.
        self._keeper.join()

    def get_stats(self) -> dict[str, Any]:
        """Return sizes, number of sandboxes in each state, and whether the pool is closed.

        The keys are ``total_size, max_size, min_size, state_counts, closed``.
        """
        with self._changed:
            counts = dict.fromkeys(map(str, ContainerState), 0)
            for member in self._members:
                counts[member.state] += 1
            counts[ContainerState.INITIALIZING] += self._making
            return {
                "total_size": self._size(),
                "max_size": self.config.max_pool_size,
                "min_size": self.config.min_pool_size,
                "state_counts": counts,
                "closed": self._closed,
            }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    # --- what sessions of the pool are like

    def admit(
        self, given: Mapping[str, Any]
    ) -> tuple[SessionConfig, Backend, str, AbstractLanguageHandler]:
        """Return the configuration of a session of the pool.

        Args:
            given: Arguments of the session by name.

        Raises:
            ValidationError: An argument does not match the sandboxes of the pool.
        """
        mine = self._pattern
        same = {"lang": mine.config.lang, "workdir": mine.config.workdir, "backend": mine.backend}
        for name, parameter in _PARAMETERS.items():
            value = given.get(name, parameter.default)
            if name in _OF_THE_SESSION or value == parameter.default:
                continue
            value = language_name(value) if name == "lang" else value
            if name not in same or str(value).lower() != same[name].lower():
                raise ValidationError(
                    f"{name}= cannot be given to a session of a pool, whose sandboxes are made "
                    "already",
                    parameter=name,
                    hint=f"give it to the pool: create_pool_manager({name}=...)",
                )
        own = {name: given[name] for name in _OF_THE_SESSION if name in given and name in _SETTINGS}
        config = replace(mine.config, **own)
        return config, mine._backend, "it is the pool's", mine.language_handler

    # --- keeping it filled

    def _size(self) -> int:
        return len(self._members) + self._making

    def _idle(self) -> list[PooledContainer]:
        return [member for member in self._members if member.state is ContainerState.IDLE]

    def _take_ready(self) -> PooledContainer | None:
        for member in self._idle():
            if _ended(member):
                member.state = ContainerState.UNHEALTHY
            else:
                return member
        return None

    def _make(self) -> PooledContainer:
        """Create a sandbox, for which the caller has incremented `_making`."""
        session = ArtifactSandboxSession(**self._options)
        try:
            session.open()
            member = PooledContainer(session, session.sandbox.id, ContainerState.BUSY)
        except BaseException:
            session.close()
            with self._changed:
                self._making -= 1
                self._changed.notify_all()
            raise
        with self._changed:
            self._making -= 1
            self._members.append(member)
        return member

    def _keep(self) -> None:
        while True:
            with self._changed:
                old = [member for member in self._members if self._is_over(member)]
                for member in old:
                    member.state = ContainerState.UNHEALTHY
                lacks = self._lacks()
                if not old and not lacks:
                    if self._closed:
                        return
                    self._changed.wait(self._until_next_look())
                    continue
                if lacks:
                    self._making += 1
            for member in old:
                self.release(member)
            if lacks:
                self._add()

    def _lacks(self) -> bool:
        config = self.config
        if self._closed or not config.enable_prewarming:
            return False
        ready = len(self._idle()) + self._making
        return ready < config.min_pool_size and self._size() < config.max_pool_size

    def _add(self) -> None:
        try:
            member = self._make()
        except SandboxError as error:
            # The next caller of acquire then creates one itself, and gets the error.
            logger.warning("a pool could not make a sandbox: %s", error)
            with self._changed:
                if not self._closed:
                    self._changed.wait(_RETRY_S)
            return
        with self._changed:
            member.state = ContainerState.IDLE
            closed = self._closed
            self._changed.notify_all()
        if closed:
            self.release(member)

    def _is_over(self, member: PooledContainer) -> bool:
        if member.state is ContainerState.UNHEALTHY:
            return True
        if member.state is not ContainerState.IDLE:
            return False
        age = time.time() - member.created_at
        most = (self.config.idle_timeout, self.config.max_container_lifetime)
        return _ended(member) or any(limit is not None and age > limit for limit in most)

    def _until_next_look(self) -> float:
        limits = (self.config.idle_timeout, self.config.max_container_lifetime)
        waits = [limit for limit in limits if limit is not None and self._idle()]
        return min([self.config.health_check_interval, *waits])


def create_pool_manager(
    client: object = None,
    backend: SandboxBackend | str | Backend | None = None,
    config: PoolConfig | None = None,
    lang: str = SupportedLanguage.PYTHON,
    **session: Any,
) -> ContainerPoolManager:
    """Return a new pool; see `ContainerPoolManager`.

    Args:
        client: For a container backend: client of its engine; None for the default.
        backend: Backend; None for the strongest that works.
        config: Settings of the pool; None for the defaults.
        lang: Language of the code.
        **session: Other arguments of `create_session`.

    Raises:
        UnsupportedBackendError: The backend is unknown.
    """
    return ContainerPoolManager(client, config, lang, backend=backend, **session)


_PARAMETERS = {
    name: parameter
    for name, parameter in inspect.signature(ArtifactSandboxSession.__init__).parameters.items()
    if name != "self"
}


_SETTINGS = frozenset(one.name for one in fields(SessionConfig))


def _ended(member: PooledContainer) -> bool:
    return member.session.sandbox.end_reason is not None


def _lend(member: PooledContainer) -> PooledContainer:
    member.state = ContainerState.BUSY
    member.last_used_at = time.time()
    member.use_count += 1
    return member
