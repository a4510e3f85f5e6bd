"""The sandboxes of a server's clients: made when they are first used, ended when nobody does."""

import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from llm_sandbox.aio import AsyncSession
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
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the call that uses it: a session is for one at a time."""
    used: float = field(default_factory=time.monotonic)
    """When it was last used, on the monotonic clock."""


class Sessions:
    """All sandboxes of one server. For one event loop.

    Args:
        options: What they are like.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._held: dict[str, Held] = {}
        self._defaults: dict[tuple[str, str], str] = {}
        self._making = anyio.Lock()

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
            with anyio.CancelScope(shield=True):
                for held in list(self._held.values()):
                    await self._end(held)

    async def create(self, language: str | None = None) -> Held:
        """Make and open one.

        Raises:
            ValidationError: Clients may not have that language, or there are too many already.
            SandboxError: It could not be made.
        """
        name = language or self._options.languages[0]
        session = self._options.make_session(name)
        async with self._making:
            if len(self._held) >= self._options.sessions:
                raise ValidationError(
                    f"there are {len(self._held)} sessions, and no more are allowed",
                    parameter="session",
                    hint="close one with close_session",
                )
            await session.open()
            held = Held(secrets.token_urlsafe(12), name, session)
            self._held[held.id] = held
            return held

    def find(self, session: str) -> Held:
        """Return one by its id.

        Raises:
            ValidationError: There is none, or it has ended.
        """
        held = self._held.get(session)
        if held is None:
            raise ValidationError(
                f"there is no session {session!r}; one that is not used ends by itself",
                parameter="session",
                hint="leave session out, and take the one that the answer names",
            )
        return held

    async def default(self, client: str | None, language: str | None) -> Held:
        """Return a client's own one for a language, made when it is first asked for.

        Args:
            client: What stands for the client; None for one that cannot be known again, which gets
                a new one.
            language: The language; None for the server's first.
        """
        if client is None:
            return await self.create(language)
        key = (client, language or self._options.languages[0])
        known = self._defaults.get(key)
        if known is None or known not in self._held:
            self._defaults[key] = (await self.create(language)).id
        return self._held[self._defaults[key]]

    @asynccontextmanager
    async def using(self, held: Held) -> AsyncIterator[AsyncSession]:
        """Have one for a call; others that want it wait."""
        async with held.lock:
            held.used = time.monotonic()
            try:
                yield held.session
            finally:
                held.used = time.monotonic()

    async def close(self, session: str) -> None:
        """End one; code that runs in it is stopped.

        Raises:
            ValidationError: There is none of that id.
        """
        await self._end(self.find(session))

    async def _end(self, held: Held) -> None:
        self._held.pop(held.id, None)
        # One that has ended by itself is what was wanted.
        with contextlib.suppress(SandboxError):
            await held.session.close()

    async def _end_idle(self) -> None:
        while True:
            await anyio.sleep(min(_LOOK_S, self._options.idle_s))
            limit = time.monotonic() - self._options.idle_s
            for held in list(self._held.values()):
                if held.used < limit and not held.lock.statistics().locked:
                    await self._end(held)
