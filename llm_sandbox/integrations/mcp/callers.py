"""Who makes a call: what stands for a client from one call to the next."""

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
"""The HTTP header that names a client's session, in the protocol that has sessions."""
SCOPE_KEY = "llm_sandbox.caller"
"""Where in a request's scope the caller stands that its cookie names."""

_COOKIE = "llm-sandbox-client"


@dataclass(frozen=True)
class Caller:
    """Who makes a call, as far as the way in tells."""

    key: str | None
    """What stands for it from call to call; None where nothing does."""
    owns: bool = False
    """Whether its sandboxes are for it alone, whoever else knows their names."""
    is_new: bool = False
    """Whether it has been given its key just now, and may never show it again."""


_ONLY = Caller("the only client", owns=True)


class Cookies:
    """Cookies that tell one client from another where the protocol has no sessions.

    Each is a number of this server's choice, signed: what anybody else writes into one is nobody's.

    Args:
        path: Where clients send their requests.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._secret = secrets.token_bytes(32)

    def read(self, header: str) -> Caller:
        """Return whom a request's ``Cookie`` names; a new one where it names none of ours."""
        try:
            morsel = SimpleCookie(header).get(_COOKIE)
        except CookieError:
            morsel = None
        # trust: anybody may send anything; only what was signed here is looked at.
        number, _, signature = (morsel.value if morsel else "").partition(".")
        known = number.isalnum() and number.isascii()
        if known and hmac.compare_digest(signature.encode(), self._sign(number).encode()):
            return Caller(number)
        return Caller(secrets.token_hex(16), is_new=True)

    def write(self, caller: Caller) -> str:
        """Return the ``Set-Cookie`` that gives a new caller its key."""
        value = f"{caller.key}.{self._sign(caller.key or '')}"
        return f"{_COOKIE}={value}; Path={self._path}; HttpOnly; SameSite=Strict"

    def _sign(self, number: str) -> str:
        return hmac.new(self._secret, number.encode(), hashlib.sha256).hexdigest()


def caller_of(context: Context[Any, Any], *, one_client: bool) -> Caller:
    """Return who makes a call.

    Args:
        context: The call.
        one_client: Whether there is one client only, as over standard input and output.
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
