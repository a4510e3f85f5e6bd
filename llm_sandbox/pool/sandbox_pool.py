"""Pool of warm sessions: created and prepared ahead of need, each for one tenant."""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, language_name
from llm_sandbox.create import SessionOptions
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.pool.bounds import PoolBounds, check_count, check_wait
from llm_sandbox.pool.member import PooledContainer
from llm_sandbox.pool.metrics import PoolMetrics
from llm_sandbox.pool.preparation import FileSource, Preparation
from llm_sandbox.pool.stock import Stock, Ticket
from llm_sandbox.session.config import SessionConfig

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.lock import Busy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["ClaimOptions", "PoolSessionOptions", "SandboxPool"]

_REFUSED = {
    "container_id": "tenants would share the container",
    "commit_container": "sessions that nobody has used would be saved, too",
    "commit_image_tag": "sessions that nobody has used would be saved, too",
    "name": "its sessions have no names",
    "on_exit": "its sessions end with the pool",
    "idle_timeout": "its sessions live in this process",
    "pool": "it is one itself",
}
"""Options of `create_session` that a pool cannot honour, with the reason."""
_INSTEAD = {
    "container_id": "image=, with what the container has",
    "idle_timeout": "idle= ends ready sessions, and session_timeout= those that are claimed",
}


class PoolSessionOptions(SessionOptions, total=False):
    """Keyword arguments for the sessions of a pool: those of `create_session`."""

    backend: SandboxBackend | str | Backend | None
    image: str | None
    dockerfile: str | None
    lang: str


class ClaimOptions(TypedDict, total=False):
    """Keyword arguments of `SandboxPool.claim`: what is individual to each tenant."""

    busy: "Busy"
    default_timeout: float | None
    enable_plotting: bool
    execution_timeout: float | None
    observers: "Sequence[RunObserver]"
    security_policy: "SecurityPolicy | None"
    session_timeout: float | None
    verbose: bool


_OF_A_TENANT = frozenset(ClaimOptions.__annotations__)
_ACCEPTED = frozenset({"encoding_errors", "pool", "stream"})
"""Further arguments of a session with ``pool=``, which it checks itself."""


class SandboxPool:
    """Pool of warm sessions; use it in a with block, or call `close`. Thread-safe.

    ``size`` sessions are kept ready: open, with their libraries, files and warm-up cell. A claimed
    session is used by one tenant; its end ends the sandbox, and another one takes its place, so
    that no variable, file or process reaches a second tenant. Claims are served in their order.

    A ready session whose sandbox or interpreter has ended is replaced, and never handed out. A
    failed creation is reported to the claim that has waited longest, and tried again, after 0.5 s
    at first and 15 s at last.

    In a forked child the pool is empty, and creates sessions for the child's own claims.

    Args:
        size: Number of sessions to keep ready, as far as `max_sessions` has room.
        min_size: Number of sessions to keep ready after `idle` seconds without a claim.
        max_sessions: Maximum number of sessions at once, ready and claimed together; None for
            twice the `size`, or 1.
        max_waiting: Maximum number of claims that wait for a claimed session to end; further ones
            are refused at once. None for no limit.
        claim_timeout: Seconds that a claim waits for a session; None for no limit.
        idle: Seconds without a claim after which ready sessions beyond `min_size` end; the next
            claim fills the pool again. None keeps them.
        max_age: Seconds after which a ready session is replaced, unused; None for no limit. Some
            are replaced up to a tenth earlier, so that not all are at once.
        check_interval: Seconds between checks whether ready sessions live.
        files: Files and folders to write into each session, by path inside: a path of the host, or
            the content as bytes.
        warm_up: Code to run in each session before it is ready, such as imports; at most five
            minutes. Its variables are there for the tenant.
        **session: Other arguments of `create_session`, such as ``backend``, ``image``, ``lang``,
            ``libraries``, ``limits``, ``network``. Those of `ClaimOptions`, such as
            ``security_policy``, are defaults for claims: the pool's own libraries, files and
            warm-up cell are not judged, and ``session_timeout`` counts from the claim.

    Raises:
        ValidationError: A value is invalid.
        UnsupportedError: An option of `create_session` that would let tenants share a sandbox, or
            that the backend cannot honour.
        SandboxError: Such sessions cannot be created here; see `create_session`.
    """

    def __init__(
        self,
        size: int = 2,
        *,
        min_size: int = 0,
        max_sessions: int | None = None,
        max_waiting: int | None = 100,
        claim_timeout: float | None = 60.0,
        idle: float | None = None,
        max_age: float | None = 3600.0,
        check_interval: float = 5.0,
        files: Mapping[str, FileSource] | None = None,
        warm_up: str | None = None,
        **session: Unpack[PoolSessionOptions],
    ) -> None:
        check_count("size", size, 0)
        bounds = PoolBounds(
            size=size,
            min_size=min_size,
            max_sessions=max(2 * size, 1) if max_sessions is None else max_sessions,
            max_waiting=max_waiting,
            claim_timeout=claim_timeout,
            idle=idle,
            max_age=max_age,
            check_interval=check_interval,
        )
        self._set_up(bounds, Preparation(files or {}, warm_up), dict(session))

    def _set_up(
        self, bounds: PoolBounds, preparation: Preparation, options: dict[str, Any]
    ) -> None:
        _refuse(options)
        self._bounds = bounds
        self._preparation = preparation
        self._pattern = ArtifactSandboxSession(**options)
        self._given: dict[str, Any] = {}
        """Options of one claim."""
        self._timeout = bounds.claim_timeout
        self._common = {name: options[name] for name in options if name not in _OF_A_TENANT}
        self._stock = Stock(bounds, self._create)

    def _create(self) -> ArtifactSandboxSession:
        session = ArtifactSandboxSession(**self._common)
        try:
            session.open()
            self._preparation.apply(session)
        except BaseException:
            session.close()
            raise
        return session

    # --- claims

    def claim(
        self, timeout: float | None = None, **options: Unpack[ClaimOptions]
    ) -> ArtifactSandboxSession:
        """Return an open session that nobody has used; use it in a with block, or close it.

        Its end ends the sandbox. Opened again, it claims another one.

        Args:
            timeout: Seconds to wait for a session, 0 for one that is ready now; None for the
                pool's `claim_timeout`.
            **options: Policy, timeouts, observers and plots of this session; those that are left
                out are the pool's.

        Raises:
            PoolExhaustedError: None was ready in time, or too many claims wait already.
            PoolCreationError: Creating a session failed; its ``__cause__`` says why.
            PoolClosedError: The pool is closed.
            ValidationError: A value is invalid.
        """
        session = self._offer(timeout, options)
        session.open()
        return session

    def _offer(self, timeout: float | None, options: ClaimOptions) -> ArtifactSandboxSession:
        """Return a new session that claims when it is opened."""
        for name in options:
            if name not in _OF_A_TENANT:
                raise ValidationError(
                    f"invalid option {name}: expected one of {', '.join(sorted(_OF_A_TENANT))}",
                    parameter=name,
                    hint=f"give it to the pool: {type(self).__name__}({name}=...)",
                )
        view = copy.copy(self)
        view._given = dict(options)
        if timeout is not None:
            view._timeout = check_wait(timeout, "timeout")
        return ArtifactSandboxSession(pool=view)

    def _lend(self, tenant: ArtifactSandboxSession) -> PooledContainer:
        """Claim a session for a tenant, which calls `_take_back` in the end."""
        ticket = tenant._ticket = Ticket()
        try:
            member = self._stock.claim(ticket, self._timeout)
            self._stock.occupy(member, tenant)
        except BaseException:
            self._stock.withdraw(ticket)
            raise
        return member

    def _withdraw(self, ticket: Ticket) -> None:
        """Give up a claim that waits."""
        self._stock.withdraw(ticket)

    def _take_back(self, member: PooledContainer) -> None:
        """End a claimed session."""
        self._stock.release(member)

    # --- life

    def wait_until_ready(self, timeout: float | None = None) -> None:
        """Wait until the pool has as many ready sessions as it keeps.

        Args:
            timeout: Seconds to wait; None for no limit.

        Raises:
            PoolCreationError: Creating a session failed; its ``__cause__`` says why.
            PoolClosedError: The pool is closed.
            SandboxTimeoutError: The time was up.
        """
        self._wait_until_ready(timeout)

    def _wait_until_ready(
        self, timeout: float | None, check: Callable[[], object] | None = None
    ) -> None:
        """Wait until the pool is ready; `check` is called now and then, and raises to end that."""
        self._stock.wait_until_ready(check_wait(timeout, "timeout"), check)

    def close(self, timeout: float | None = 30.0) -> None:
        """End the pool. Closing twice does nothing.

        No further claim is accepted, waiting ones get `PoolClosedError`, ready sessions end.
        Claimed sessions may finish until the timeout; code that still runs then is stopped, and its
        session ends. The exit of the interpreter waits for none.

        Args:
            timeout: Seconds for claimed sessions to finish; 0 ends them now, None waits for them.
        """
        self._stock.close(check_wait(timeout, "timeout"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    # --- facts

    @property
    def metrics(self) -> PoolMetrics:
        """Metrics of this moment: sessions, claims, waits."""
        return self._stock.metrics()

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._pattern.backend

    @property
    def lang(self) -> str:
        """Language of the code."""
        return self._pattern.config.lang

    def __repr__(self) -> str:
        metrics = self.metrics
        state = "closed" if metrics.closed else f"{metrics.ready} of {metrics.size} ready"
        return f"<{type(self).__name__} {self.lang} on {self.backend}, {state}>"

    # --- what its sessions are like

    def _admit(
        self, given: Mapping[str, Any]
    ) -> tuple[SessionConfig, Backend, str, AbstractLanguageHandler]:
        """Return the configuration of a session of the pool.

        Args:
            given: Arguments of the session by name. Those equal to a default of `create_session`
                are taken as left out.

        Raises:
            ValidationError: An argument does not match the sessions of the pool.
        """
        mine = self._pattern
        same = {"lang": mine.config.lang, "workdir": mine.config.workdir, "backend": mine.backend}
        own: dict[str, Any] = {}
        for name, parameter in _PARAMETERS.items():
            value = given.get(name, parameter.default)
            if name in _ACCEPTED or value == parameter.default:
                continue
            if name in _OF_A_TENANT:
                own[name] = value
                continue
            value = language_name(value) if name == "lang" else value
            if name not in same or str(value).lower() != same[name].lower():
                raise ValidationError(
                    f"{name}= cannot be given to a session of a pool, whose sandboxes are made "
                    "already",
                    parameter=name,
                    hint=f"give it to the pool: {type(self).__name__}({name}=...)",
                )
        own.update(self._given)
        own = {name: own[name] for name in own if name in _SETTINGS}
        return replace(mine.config, **own), mine._backend, "it is the pool's", mine.language_handler


_PARAMETERS = {
    name: parameter
    for name, parameter in inspect.signature(ArtifactSandboxSession.__init__).parameters.items()
    if name != "self"
}
_SETTINGS = frozenset(one.name for one in fields(SessionConfig))


def _refuse(options: Mapping[str, Any]) -> None:
    for name, reason in _REFUSED.items():
        if name in options and options[name] != _PARAMETERS[name].default:
            raise UnsupportedError(
                f"{name}=", reason=f"a pool has none: {reason}", hint=_INSTEAD.get(name)
            )
