"""Access of a call to the sandbox of its client."""

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
    """Lookup of sandboxes for calls.

    Args:
        sessions: Sandboxes of the server.
        one_client: Whether there is only one client.
    """

    def __init__(self, sessions: Sessions, *, one_client: bool) -> None:
        self.sessions = sessions
        self._one_client = one_client

    def caller(self, context: Context[Any, Any]) -> Caller:
        """Return the caller of a request."""
        return caller_of(context, one_client=self._one_client)

    @asynccontextmanager
    async def acquire(
        self,
        context: Context[Any, Any],
        session: str | None,
        roots: ListRootsResult,
        language: str | None = None,
    ) -> AsyncIterator[ClientSandbox]:
        """Return the sandbox of a call for the ``with`` block, and report errors to the client.

        Args:
            context: Context of the call.
            session: Id of the sandbox; None for the client's default.
            roots: Roots of the client, mounted in a new sandbox.
            language: Required language; None for any.
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
                    # The client will not learn its id.
                    await self.sessions.end(held, "")
                raise

    @asynccontextmanager
    async def find_existing(
        self, context: Context[Any, Any], session: str | None
    ) -> AsyncIterator[ClientSandbox]:
        """Return the existing sandbox of a call, like `acquire`, without creating one.

        Args:
            context: Context of the call.
            session: Id of the sandbox, as for `acquire`.
        """
        caller = self.caller(context)
        with client_errors():
            if session is None:
                yield self.sessions.latest(caller)
            else:
                yield self.sessions.find(session, caller)


@contextmanager
def client_errors() -> Iterator[None]:
    """Turn errors of the library into errors for the client, with their hints."""
    try:
        yield
    except SandboxError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise ToolError(f"{error.message}{hint}") from None
