"""Identification of clients across calls."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any

from mcp.server.mcpserver import Context
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

__all__ = ["SCOPE_KEY", "SESSION_HEADER", "Caller", "Cookies", "caller_of"]

SESSION_HEADER = "mcp-session-id"
"""HTTP header with the session id, in protocol versions with sessions."""
SCOPE_KEY = "llm_sandbox.caller"
"""Key of the caller in the ASGI scope of a request."""

_COOKIE = "llm-sandbox-client"


@dataclass(frozen=True)
class Caller:
    """Client that makes a call, as far as the transport identifies it."""

    key: str | None
    """Identifier across calls; None if the client is unknown."""
    owns: bool = False
    """Whether only this client may use its sandboxes, even if others know their names."""
    is_new: bool = False
    """Whether the key was issued with this call, and may never be sent back."""


_ONLY = Caller("the only client", owns=True)


class Cookies:
    """Signed cookies that identify clients in protocol versions without sessions.

    Each holds a random number signed by this server; forged ones are ignored.

    Args:
        path: URL path of the server.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._secret = secrets.token_bytes(32)

    def read(self, header: str) -> Caller:
        """Return the caller of a ``Cookie`` header; a new one if it is missing or invalid."""
        try:
            morsel = SimpleCookie(header).get(_COOKIE)
        except CookieError:
            morsel = None
        # trust: anyone can send anything; only values signed here are used.
        number, _, signature = (morsel.value if morsel else "").partition(".")
        known = number.isalnum() and number.isascii()
        if known and hmac.compare_digest(signature.encode(), self._sign(number).encode()):
            return Caller(number)
        return Caller(secrets.token_hex(16), is_new=True)

    def write(self, caller: Caller) -> str:
        """Return the ``Set-Cookie`` header for a new caller."""
        value = f"{caller.key}.{self._sign(caller.key or '')}"
        return f"{_COOKIE}={value}; Path={self._path}; HttpOnly; SameSite=Strict"

    def _sign(self, number: str) -> str:
        return hmac.new(self._secret, number.encode(), hashlib.sha256).hexdigest()


def caller_of(context: Context[Any, Any], *, one_client: bool) -> Caller:
    """Return the caller of a request.

    Args:
        context: Context of the call.
        one_client: Whether there is only one client, as over standard input and output.
    """
    if one_client:
        return _ONLY
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        # There the header means nothing: anybody may write anything into it.
        scope = getattr(context.request_context.request, "scope", None) or {}
        found = scope.get(SCOPE_KEY)
        return found if isinstance(found, Caller) else Caller(None, is_new=True)
    key = (context.headers or {}).get(SESSION_HEADER)
    return Caller(key, owns=True) if key else Caller(None, is_new=True)
