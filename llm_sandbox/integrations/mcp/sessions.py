"""Sandboxes of a server's clients: created on first use, ended with their client or when idle."""

import contextlib
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio

from llm_sandbox.aio import AsyncSession
from llm_sandbox.const import language_name
from llm_sandbox.exceptions import ContainerGoneError, SandboxError, ValidationError
from llm_sandbox.integrations.mcp.callers import Caller
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.roots import RootMounts

__all__ = ["ClientSandbox", "Sessions"]

_LOOK_S = 1.0
_MOST_REMEMBERED = 1000
_SPARED = 1 / 30
"""Share of the idle time during which an unused sandbox is not ended to make room for others."""


@dataclass
class ClientSandbox:
    """Sandbox of a client."""

    id: str
    """Unguessable id of the sandbox, for the client."""
    language: str
    """Language of the session."""
    session: AsyncSession
    """Session in the sandbox."""
    owner: str | None
    """Key of the owner; None if anyone who knows the id may use it."""
    is_claimed: bool
    """Whether a client has used the id."""
    is_kept: bool = False
    """Whether the session outlives the server."""
    news: tuple[str, ...] = ()
    """News for the client with the next answer."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the call that uses it: a session is for one at a time."""
    used: float = field(default_factory=time.monotonic)
    """Time of the last use, on the monotonic clock."""

    @property
    def is_in_use(self) -> bool:
        """Whether a call is using the sandbox."""
        return self.lock.statistics().locked

    def take_news(self) -> tuple[str, ...]:
        """Return and clear the news for the client."""
        news, self.news = self.news, ()
        return news


@dataclass
class _Client:
    """Client that is identified across calls."""

    own: dict[str, str] = field(default_factory=dict)
    """Default session id by language."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    has_gone: bool = False


class Sessions:
    """Sandboxes of one server. Not thread-safe: for one event loop.

    Args:
        options: Options of the sandboxes.
    """

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._held: dict[str, ClientSandbox] = {}
        self._clients: OrderedDict[str, _Client] = OrderedDict()
        self._ended: OrderedDict[str, str] = OrderedDict()
        """Why sessions are no more, by their ids."""
        self._opening = 0
        self._newcomer_opens = False

    @asynccontextmanager
    async def kept(self) -> AsyncIterator["Sessions"]:
        """End idle sandboxes during the ``with`` block, and all of them after it."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._end_idle)
                try:
                    yield self
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            await self._end_all(list(self._held.values()), "the server ends")

    async def create(
        self,
        caller: Caller,
        language: str | None = None,
        *,
        root_mounts: RootMounts | None = None,
        is_claimed: bool = True,
        is_kept: bool = False,
    ) -> ClientSandbox:
        """Create and open a sandbox.

        Args:
            caller: Client of the sandbox.
            language: Language; None for the first of the server.
            root_mounts: Mounts of the caller's roots, in addition to those of the options.
            is_claimed: Whether the caller learns the id immediately.
            is_kept: Whether it is the detached session, which may already exist.

        Raises:
            ValidationError: The language is not allowed, or there are too many sandboxes.
            SandboxError: The sandbox could not be created.
        """
        name = self._language(language)
        known = self._known(caller)
        root_mounts = root_mounts or RootMounts()
        # An invalid request must not take the room of another client.
        made = None if is_kept else self.options.make_session(name, root_mounts.mounts)
        await self._make_room()
        self._opening += 1
        try:
            session = await self._opened(made)
        finally:
            self._opening -= 1
        owner = caller.key if caller.owns else None
        id = secrets.token_urlsafe(12)
        held = ClientSandbox(id, name, session, owner, is_claimed, is_kept, root_mounts.problems)
        self._held[held.id] = held
        if known is not None and known.has_gone:
            await self.end(held, "its client has ended")
            raise ValidationError("the client has ended its session", parameter="session")
        return held

    def find(self, session: str, caller: Caller, language: str | None = None) -> ClientSandbox:
        """Return a sandbox by id.

        Args:
            session: Id of the sandbox.
            caller: Client of the call.
            language: Required language; None for any.

        Raises:
            ValidationError: The sandbox does not exist, has ended, or has another language.
        """
        held = self._held.get(session)
        if held is None or not _may_use(caller, held):
            why = self._ended.get(session)
            raise ValidationError(
                _lost(session, why) if why else f"there is no session {session!r}",
                parameter="session",
                hint="leave session out, and take the one that the answer names",
            )
        if language is not None and self._language(language) != held.language:
            raise ValidationError(
                f"session {session!r} runs {held.language}, not {language}",
                parameter="language",
                hint="leave session out, or create a session of that language",
            )
        held.is_claimed = True
        return held

    def by_id(self, id: str) -> ClientSandbox | None:
        """Return a sandbox by id for any client; None if it does not exist."""
        return self._held.get(id)

    def of(self, caller: Caller) -> list[ClientSandbox]:
        """Return the existing sandboxes of a caller."""
        known = self._clients.get(caller.key) if caller.key is not None else None
        own = set(known.own.values()) if known is not None else set()
        return [
            held
            for held in self._held.values()
            if held.id in own or (caller.owns and held.owner == caller.key)
        ]

    def latest(self, caller: Caller) -> ClientSandbox:
        """Return the sandbox that a caller used last, without creating one.

        Raises:
            ValidationError: The caller has none, or is not identified.
        """
        found = self.of(caller)
        if found:
            held = max(found, key=lambda held: held.used)
            held.is_claimed = True
            return held
        if caller.is_new:
            raise ValidationError(
                "this call names no session",
                parameter="session",
                hint="each answer of run_code and others names one",
            )
        known = self._clients.get(caller.key or "")
        gone = [id for id in known.own.values() if id in self._ended] if known is not None else []
        if gone:
            raise ValidationError(_lost(gone[-1], self._ended[gone[-1]]), parameter="session")
        raise ValidationError("nothing has been run yet", parameter="session")

    async def default(
        self, caller: Caller, language: str | None, root_mounts: RootMounts | None = None
    ) -> ClientSandbox:
        """Return the default sandbox of a caller, created on first use.

        Args:
            caller: Client of the sandbox.
            language: Language; None for the first of the server.
            root_mounts: Mounts of the caller's roots, if the sandbox is created now.

        Raises:
            ValidationError: As for `create`; or the caller is not identified, and an unclaimed
                sandbox exists already.
            SandboxError: As for `create`.
        """
        name = self._language(language)
        known = self._known(caller)
        if known is None or caller.is_new:
            return await self._newcomers(caller, name, known, root_mounts)
        async with known.lock:
            before = known.own.get(name, "")
            held = self._held.get(before)
            if held is None:
                is_kept = self.options.session is not None and name == self.options.languages[0]
                held = await self.create(caller, name, root_mounts=root_mounts, is_kept=is_kept)
                known.own[name] = held.id
                why = self._ended.get(before)
                if why is not None:
                    held.news = (f"This is a new session: {_lost(before, why)}.", *held.news)
            held.is_claimed = True
            return held

    async def _newcomers(
        self,
        caller: Caller,
        name: str,
        known: _Client | None,
        root_mounts: RootMounts | None,
    ) -> ClientSandbox:
        """Create the first sandbox of a caller that may never identify itself again.

        At most one such sandbox may be unclaimed: otherwise clients that forget the id would
        silently get a new one with each call, and lose their state.
        """
        if self._newcomer_opens or any(not held.is_claimed for held in self._held.values()):
            raise ValidationError(
                "this server cannot tell whose call this is, and an earlier call of somebody "
                "without a session has one that no call has named yet",
                parameter="session",
                hint="name the session of an earlier answer; if there is none, call "
                "create_session, and name that in every call",
            )
        self._newcomer_opens = True
        try:
            held = await self.create(caller, name, root_mounts=root_mounts, is_claimed=False)
        finally:
            self._newcomer_opens = False
        if known is not None:
            known.own[name] = held.id
        return held

    @asynccontextmanager
    async def using(self, held: ClientSandbox) -> AsyncIterator[AsyncSession]:
        """Lock a sandbox for a call."""
        async with held.lock:
            held.used = time.monotonic()
            try:
                yield held.session
            except ContainerGoneError:
                await self.end(held, "its sandbox has ended by itself")
                raise
            finally:
                held.used = time.monotonic()

    async def end(self, held: ClientSandbox, why: str, *, lets_go: bool = False) -> None:
        """End a sandbox and stop its code, even if the call is cancelled.

        Args:
            held: Sandbox to end.
            why: Reason for the client, after "it is gone, because"; empty if no client knows the
                id.
            lets_go: Whether a detached session lives on.
        """
        if self._held.pop(held.id, None) is not None and why:
            self._ended[held.id] = why
            while len(self._ended) > _MOST_REMEMBERED:
                self._ended.popitem(last=False)
        # One that has ended by itself is what was wanted.
        with contextlib.suppress(SandboxError):
            if held.is_kept and lets_go:
                await held.session.detach()
            else:
                await held.session.close()

    async def end_client(self, key: str) -> None:
        """End all sandboxes of a client, including those being created."""
        known = self._clients.pop(key, None)
        if known is not None:
            known.has_gone = True
        ending = [held for held in self._held.values() if held.owner == key]
        await self._end_all(ending, "its client has ended")

    # --- inside

    async def _opened(self, made: AsyncSession | None) -> AsyncSession:
        """Open a session; without one, the detached session, which may already be open."""
        session = made or await self.options.make_kept()
        if session.is_open:
            return session
        await session.open()
        try:
            await self.options.fill(session)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await session.close()
            raise
        return session

    def _language(self, language: str | None) -> str:
        return language_name(language) if language else self.options.languages[0]

    def _known(self, caller: Caller) -> _Client | None:
        if caller.key is None:
            return None
        known = self._clients.setdefault(caller.key, _Client())
        self._clients.move_to_end(caller.key)
        return known

    async def _make_room(self) -> None:
        """Make room for one more sandbox.

        Clients that own sandboxes announce their end. Sandboxes of other clients are ended after a
        while without use.

        Raises:
            ValidationError: No sandbox can be ended.
        """
        if len(self._held) + self._opening < self.options.sessions:
            return
        limit = time.monotonic() - self.options.idle_s * _SPARED
        idle = [
            held
            for held in self._held.values()
            if held.owner is None and held.used < limit and not held.is_in_use
        ]
        if not idle:
            raise ValidationError(
                f"there are {len(self._held) + self._opening} sessions, and no more are allowed",
                parameter="session",
                hint="close one with close_session",
            )
        oldest = min(idle, key=lambda held: held.used)
        why = f"the server has room for {self.options.sessions} sessions, and others needed one"
        await self.end(oldest, why)

    async def _end_all(self, ending: list[ClientSandbox], why: str) -> None:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for held in ending:
                    tasks.start_soon(partial(self.end, held, why, lets_go=True))

    async def _end_idle(self) -> None:
        seconds = self.options.idle_s
        while True:
            await anyio.sleep(min(_LOOK_S, seconds))
            limit = time.monotonic() - seconds
            idle = [
                held
                for held in self._held.values()
                if held.used < limit and not held.is_in_use and not held.is_kept
            ]
            for held in idle:
                await self.end(held, f"nobody used it for {seconds:g} seconds")
            self._forget()

    def _forget(self) -> None:
        """Remove the oldest clients without sandboxes, when there are many."""
        for key, known in list(self._clients.items()):
            if len(self._clients) <= _MOST_REMEMBERED:
                return
            has_one = any(id in self._held for id in known.own.values())
            if not has_one and not known.lock.statistics().locked:
                del self._clients[key]


def _lost(session: str, why: str) -> str:
    return f"{session} is gone, because {why}; the variables and files in it are lost"


def _may_use(caller: Caller, held: ClientSandbox) -> bool:
    """Return whether a caller may use a sandbox: its owner, or anyone if it has none."""
    return held.owner == (caller.key if caller.owns else None)
