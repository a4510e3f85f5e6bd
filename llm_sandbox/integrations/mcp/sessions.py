"""The sandboxes of a server's clients: made when they are first used, ended with their client, or
when nobody uses them.
"""

import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from llm_sandbox.aio import AsyncSession
from llm_sandbox.const import language_name
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.integrations.mcp.options import ServerOptions

__all__ = ["Held", "Sessions"]

_LOOK_S = 1.0


@dataclass
class Held:
    """One client's sandbox."""

    id: str
    """What the client names it by; nobody can guess it."""
    language: str
    """Its language."""
    session: AsyncSession
    """The session."""
    client: str | None
    """Whose it is; None for a client that cannot be known again, which names it in its calls."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the call that uses it: a session is for one at a time."""
    used: float = field(default_factory=time.monotonic)
    """When it was last used, on the monotonic clock."""
    was_named: bool = False
    """Whether a call has named it."""

    @property
    def is_in_use(self) -> bool:
        """Whether a call uses it."""
        return self.lock.statistics().locked


@dataclass
class _Client:
    """A client that is known from call to call."""

    own: dict[str, str] = field(default_factory=dict)
    """Language to the session of the calls that name none."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    has_gone: bool = False


class Sessions:
    """All sandboxes of one server. For one event loop.

    Args:
        options: What they are like.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._held: dict[str, Held] = {}
        self._clients: dict[str, _Client] = {}
        self._opening = 0

    @asynccontextmanager
    async def kept(self) -> AsyncIterator["Sessions"]:
        """End idle ones while the body runs, and all of them after it."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._end_idle)
                try:
                    yield self
                finally:
                    tasks.cancel_scope.cancel()
        finally:
            await self._end_all(list(self._held.values()))

    async def create(self, client: str | None, language: str | None = None) -> Held:
        """Make and open one.

        Args:
            client: Whose it is; None for one that cannot be known again.
            language: The language; None for the server's first.

        Raises:
            ValidationError: Clients may not have that language, or there are too many already.
            SandboxError: It could not be made.
        """
        name = self._language(language)
        known = None if client is None else self._known(client)
        session = self._options.make_session(name)
        await self._make_room()
        self._opening += 1
        try:
            await session.open()
        finally:
            self._opening -= 1
        held = Held(secrets.token_urlsafe(12), name, session, client)
        self._held[held.id] = held
        if known is not None and known.has_gone:
            await self.end(held)
            raise ValidationError("the client has ended its session", parameter="session")
        return held

    def find(self, session: str, client: str | None, language: str | None = None) -> Held:
        """Return one by its id.

        Args:
            session: The id.
            client: Who asks.
            language: What it has to be of; None for any.

        Raises:
            ValidationError: There is none, it has ended, or it is of another language.
        """
        held = self._held.get(session)
        if held is None or held.client != client:
            raise ValidationError(
                f"there is no session {session!r}; one that is not used ends by itself",
                parameter="session",
                hint="leave session out, and take the one that the answer names",
            )
        if language is not None and self._language(language) != held.language:
            raise ValidationError(
                f"session {session!r} runs {held.language}, not {language}",
                parameter="language",
                hint="leave session out, or create a session of that language",
            )
        held.was_named = True
        return held

    async def default(self, client: str, language: str | None) -> Held:
        """Return a client's own one for a language, made when it is first asked for.

        Args:
            client: Whose it is.
            language: The language; None for the server's first.

        Raises:
            ValidationError: As `create`.
            SandboxError: As `create`.
        """
        name = self._language(language)
        known = self._known(client)
        async with known.lock:
            held = self._held.get(known.own.get(name, ""))
            if held is None:
                held = await self.create(client, name)
                known.own[name] = held.id
            return held

    @asynccontextmanager
    async def using(self, held: Held) -> AsyncIterator[AsyncSession]:
        """Have one for a call; others that want it wait."""
        async with held.lock:
            held.used = time.monotonic()
            try:
                yield held.session
            finally:
                held.used = time.monotonic()

    async def end(self, held: Held) -> None:
        """End one; code that runs in it is stopped. Done even if the call is cancelled."""
        self._held.pop(held.id, None)
        # One that has ended by itself is what was wanted.
        with contextlib.suppress(SandboxError):
            await held.session.close()

    async def end_client(self, client: str) -> None:
        """End all that a client has, and what is being made for it."""
        known = self._clients.pop(client, None)
        if known is not None:
            known.has_gone = True
        await self._end_all([held for held in self._held.values() if held.client == client])

    # --- inside

    def _language(self, language: str | None) -> str:
        return language_name(language) if language else self._options.languages[0]

    def _known(self, client: str) -> _Client:
        return self._clients.setdefault(client, _Client())

    async def _make_room(self) -> None:
        """See that there is room for one more.

        A client that cannot be known again may not have heard of the session that it was given, or
        not have understood it. What no call has named makes room first.

        Raises:
            ValidationError: There is none.
        """
        if len(self._held) + self._opening < self._options.sessions:
            return
        idle = [
            held
            for held in self._held.values()
            if held.client is None and not held.was_named and not held.is_in_use
        ]
        if not idle:
            raise ValidationError(
                f"there are {len(self._held) + self._opening} sessions, and no more are allowed",
                parameter="session",
                hint="close one with close_session",
            )
        await self.end(min(idle, key=lambda held: held.used))

    async def _end_all(self, ending: list[Held]) -> None:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for held in ending:
                    tasks.start_soon(self.end, held)

    async def _end_idle(self) -> None:
        while True:
            await anyio.sleep(min(_LOOK_S, self._options.idle_s))
            limit = time.monotonic() - self._options.idle_s
            idle = [h for h in self._held.values() if h.used < limit and not h.is_in_use]
            for held in idle:
                await self.end(held)
            there = {held.client for held in self._held.values()}
            for name, known in list(self._clients.items()):
                if name not in there and not known.lock.statistics().locked:
                    del self._clients[name]
