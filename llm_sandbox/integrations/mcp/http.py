"""HTTP transport of the server: many clients, each with its own sandboxes."""

import hmac
import ipaddress
from typing import TYPE_CHECKING, Any

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.mcp.callers import SCOPE_KEY, SESSION_HEADER, Cookies
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.server import build_server
from llm_sandbox.integrations.mcp.sessions import Sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PATH", "TOKEN_VARIABLE", "check_address", "make_app", "serve"]

PATH = "/mcp"
"""URL path of the server."""
TOKEN_VARIABLE = "LLM_SANDBOX_MCP_TOKEN"  # noqa: S105 - where it is, not what it is
"""Environment variable with the bearer token."""

_GRACE_S = 3
_LARGEST_REQUEST = 32 << 20
_SILENT_S = 86_400.0
"""Seconds without requests after which a client's protocol session ends, if that is later than its
sandboxes, so that it is still told about their end.
"""


def check_address(host: str, token: str | None) -> None:
    """Check that a server reachable from other computers requires a token.

    Args:
        host: Address to listen on.
        token: Bearer token for clients; None for none.

    Raises:
        ValidationError: The address is reachable from other computers, and there is no token.
    """
    if token or _is_loopback(host):
        return
    raise ValidationError(
        f"whoever reaches {host} could run code here",
        parameter="host",
        hint=f"set {TOKEN_VARIABLE} to a long secret, which clients then have to send as their "
        "bearer token; or leave --host out, and listen to this computer only",
    )


def make_app(
    options: ServerOptions | None = None, *, host: str = "127.0.0.1", token: str | None = None
) -> "ASGIApp":
    """Return the server as an ASGI application, whose lifespan must be run.

    A client's sandboxes end with its session: when it deletes it, or is idle. Clients of protocol
    versions without sessions are identified by a cookie; those that do not return it name their
    sandbox in each call. Their sandboxes end when idle.

    Args:
        options: Options of the sandboxes.
        host: Address that the server will listen on: on loopback, requests with other host names,
            as from web pages, are refused.
        token: Bearer token for clients; None for none.

    Raises:
        ValidationError: The options are for a single local client: roots, or a detached session.
    """
    chosen = options or ServerOptions()
    if chosen.session is not None:
        raise ValidationError(
            "the clients of this server would share the session that is kept",
            parameter="session",
            hint="serve one client over standard input and output",
        )
    if chosen.takes_roots:
        raise ValidationError(
            "roots are folders of the client's computer, which over HTTP may be another one",
            parameter="takes_roots",
            hint="name folders of this computer as mounts",
        )
    server, sessions = build_server(chosen, one_client=False)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        session_idle_timeout=max(chosen.idle_s, _SILENT_S),
        max_request_body_size=_LARGEST_REQUEST,
    )
    app = _EndsSessions(_KnowsClients(app), sessions)
    return app if token is None else _AsksForToken(app, token)


def serve(options: ServerOptions, host: str, port: int, token: str | None = None) -> None:
    """Serve until this process is interrupted or terminated, then end all sandboxes.

    Args:
        options: Options of the sandboxes.
        host: Address to listen on.
        port: Port to listen on.
        token: Bearer token for clients; None for none.

    Raises:
        ValidationError: The address is reachable from other computers, and there is no token.
    """
    import uvicorn

    check_address(host, token)
    app = make_app(options, host=host, token=token)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        # Calls that run then are cancelled, and their code is stopped.
        timeout_graceful_shutdown=_GRACE_S,
    )
    uvicorn.Server(config).run()


class _KnowsClients:
    """Middleware that issues a cookie to each client, and identifies requests by it."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._cookies = Cookies(PATH)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = self._cookies.read(_header(scope, "cookie"))

        async def answer(message: "Message") -> None:
            if caller.is_new and message["type"] == "http.response.start":
                cookie = (b"set-cookie", self._cookies.write(caller).encode())
                message = {**message, "headers": [*message.get("headers", ()), cookie]}
            await send(message)

        await self._app({**scope, SCOPE_KEY: caller}, receive, answer)


class _EndsSessions:
    """Middleware that ends a client's sandboxes before its session's deletion is answered."""

    def __init__(self, app: "ASGIApp", sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["method"] != "DELETE":
            await self._app(scope, receive, send)
            return
        client = _header(scope, SESSION_HEADER)

        async def answer(message: "Message") -> None:
            if client and message["type"] == "http.response.start" and message["status"] < 300:
                await self._sessions.end_client(client)
            await send(message)

        await self._app(scope, receive, answer)


class _AsksForToken:
    """Middleware that requires the bearer token."""

    def __init__(self, app: "ASGIApp", token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http":
            given = _header(scope, "authorization").encode("latin-1")
            if not hmac.compare_digest(given, self._wanted):
                await _refuse(send)
                return
        await self._app(scope, receive, send)


async def _refuse(send: "Send") -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"a bearer token is needed\n"})


def _header(scope: Any, name: str) -> str:
    found = (value for key, value in scope["headers"] if key == name.encode())
    return str(next(found, b""), "latin-1")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
