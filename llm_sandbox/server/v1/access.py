"""Access to sandboxes: who asks, and for which one."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import Response

from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard, Principal
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.options import ServerOptions
from llm_sandbox.server.v1.session_options import API_NAME

__all__ = ["SUBPROTOCOL", "Access", "json_response"]

SUBPROTOCOL = "llm-sandbox.v1"
"""Subprotocol of this API's websockets."""

_BEARER = "bearer."
_FRESH = 0.9
"""Part of its time below which a sandbox that is used gets all of it again."""


class Access:
    """Fleet and guard, as the routes of this API see them.

    Args:
        fleet: The sandboxes.
        guard: Admission of requests.
    """

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self.fleet = fleet
        self.guard = guard

    @property
    def options(self) -> ServerOptions:
        """Options of the server."""
        return self.fleet.options

    def tenant(self, request: HTTPConnection, needed: str | None = None) -> str:
        """Return the tenant of a request, and note it for the log.

        Args:
            request: The request. A page cannot set headers of a websocket: there the key may be a
                subprotocol, ``bearer.`` and its base64 without padding.
            needed: Scope that its key must have; None for that of its method.

        Raises:
            RefusedError: It has no key that is good for this.
        """
        return self.principal(request, needed).tenant

    def principal(self, request: HTTPConnection, needed: str | None = None) -> Principal:
        """Return the caller of a request; see `tenant`."""
        scope = request.scope
        needed = needed or ("view" if scope.get("method") == "GET" else "run")
        if scope["type"] == "websocket" and "authorization" not in request.headers:
            for word in scope.get("subprotocols", ()):
                if word.startswith(_BEARER):
                    token = b"Bearer " + _decoded(word.removeprefix(_BEARER))
                    scope = {**scope, "headers": [*scope["headers"], (b"authorization", token)]}
        found = self.guard.principal(scope, needed)
        request.scope["llm_sandbox.tenant"] = found.tenant
        return found

    async def session(self, request: HTTPConnection, session_id: str) -> LiveSandbox:
        """Return a session of the caller, which is used by this."""
        return await self._used(self.fleet.get(self.tenant(request), session_id, API_NAME))

    async def sandbox(self, request: HTTPConnection, sandbox_id: str) -> LiveSandbox:
        """Return a sandbox of the caller, whatever API has made it, which is used by this."""
        return await self._used(self.fleet.get(self.tenant(request), sandbox_id))

    async def _used(self, live: LiveSandbox) -> LiveSandbox:
        await self.use(live)
        return live

    async def use(self, live: LiveSandbox) -> None:
        """Note that a sandbox is used: one without a timeout of its own lives on for its time."""
        live.touch()
        is_ours = live.request.api == API_NAME and live.request.timeout_s is None
        if is_ours and live.ends_at - live.active_at < _FRESH * live.timeout_s:
            await in_thread(live.keep_for, live.timeout_s)


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""


def json_response(data: Mapping[str, Any] | Sequence[Any], status: int = 200) -> Response:
    """Return data as JSON; texts from inside may hold what UTF-8 cannot encode."""
    return Response(json.dumps(data, allow_nan=False), status, media_type="application/json")
