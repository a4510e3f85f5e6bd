"""The sandbox of a call, lent to it while it is answered."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ListRootsResult

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.integrations.mcp.callers import Caller, caller_of
from llm_sandbox.integrations.mcp.roots import RootMounts
from llm_sandbox.integrations.mcp.sessions import ClientSandbox, Sessions

__all__ = ["SandboxAccess", "client_errors"]


class SandboxAccess:
    """Gives calls their sandboxes.

    Args:
        sessions: The sandboxes.
        one_client: Whether there is one client only.
    """

    def __init__(self, sessions: Sessions, *, one_client: bool) -> None:
        self.sessions = sessions
        self._one_client = one_client

    def caller(self, context: Context[Any, Any]) -> Caller:
        """Return who makes a call."""
        return caller_of(context, one_client=self._one_client)

    @asynccontextmanager
    async def acquire(
        self,
        context: Context[Any, Any],
        session: str | None,
        roots: ListRootsResult,
        language: str | None = None,
    ) -> AsyncIterator[ClientSandbox]:
        """Have a call's sandbox while the body runs, and tell the client what goes wrong.

        Args:
            context: The call.
            session: The sandbox that it names; None for the client's own.
            roots: What the client lets a new one see.
            language: The language that it asks for; None for any.
        """
        caller = self.caller(context)
        with client_errors():
            if session is not None:
                yield self.sessions.find(session, caller, language)
                return
            held = await self.sessions.default(caller, language, RootMounts.of(roots))
            try:
                yield held
            except BaseException:
                if not held.is_claimed:
                    # Nobody will hear its name.
                    await self.sessions.end(held, "")
                raise

    @asynccontextmanager
    async def find_existing(
        self, context: Context[Any, Any], session: str | None
    ) -> AsyncIterator[ClientSandbox]:
        """As `acquire`, for what there is no use in asking of a fresh one.

        Args:
            context: The call.
            session: As for `acquire`.
        """
        caller = self.caller(context)
        with client_errors():
            if session is None:
                yield self.sessions.latest(caller)
            else:
                yield self.sessions.find(session, caller)


@contextmanager
def client_errors() -> Iterator[None]:
    """Tell a client the library's errors, which say what to do next."""
    try:
        yield
    except SandboxError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise ToolError(f"{error.message}{hint}") from None
