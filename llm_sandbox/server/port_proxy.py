"""Proxy to the ports of a sandbox, where a client's own servers listen: HTTP and websockets."""

import asyncio
import contextlib
import hmac
import socket
from collections.abc import AsyncIterator
from typing import Any

import anyio
import h11
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.sandbox.parts import machine_of
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.api import API_KEY
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import RefusedError, header
from llm_sandbox.server.live_sandbox import LIVE_KEY, LiveSandbox

__all__ = ["PortProxy"]

_OURS = frozenset(
    {
        b"authorization",
        b"e2b-sandbox-id",
        b"e2b-sandbox-port",
        b"e2b-traffic-access-token",
        b"x-access-token",
        b"x-api-key",
    }
)
"""Headers that are for this server, and carry what opens the sandbox."""
_OF_ONE_HOP = frozenset(
    {
        b"connection",
        b"content-length",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OF_HANDSHAKE = frozenset({"host", "origin"})
_PIECE = 1 << 16
_ANSWER_S = 300.0


class PortProxy:
    """Proxy to all ports.

    Args:
        fleet: The sandboxes.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def to(self, port: int) -> ASGIApp:
        """Return the application for one port."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            scope[API_KEY] = "ports"
            live: LiveSandbox = scope[LIVE_KEY]
            try:
                _check_token(scope, live)
            except RefusedError as error:
                await _fail(scope, receive, send, error.status, error.message, live.id)
                return
            try:
                far = await in_thread(machine_of(live.sandbox).connect, port)
            except (OSError, SandboxError):
                words = f"The sandbox is running but port {port} is not open"
                await _fail(scope, receive, send, 502, words, live.id)
                return
            with far:
                far.setblocking(False)
                if scope["type"] == "websocket":
                    await _carry_websocket(scope, receive, send, far)
                else:
                    await _carry_http(scope, receive, send, far, live.id)

        return app


def _check_token(scope: Scope, live: LiveSandbox) -> None:
    pairs = (
        (header(scope, "e2b-traffic-access-token"), live.traffic_token),
        (header(scope, "x-access-token"), live.access_token),
    )
    if not any(
        hmac.compare_digest((given or "").encode("latin-1"), token.encode())
        for given, token in pairs
    ):
        raise RefusedError(401, "the traffic access token of the sandbox is needed")


async def _fail(
    scope: Scope, receive: Receive, send: Send, status: int, message: str, sandbox_id: str
) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008 if status == 401 else 1014})
        return
    body = {"sandboxId": sandbox_id, "message": message, "code": status}
    await JSONResponse(body, status)(scope, receive, send)


# --- HTTP


def _target(scope: Scope) -> bytes:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return path + (b"?" + query if query else b"")


async def _carry_http(
    scope: Scope, receive: Receive, send: Send, far: socket.socket, sandbox_id: str
) -> None:
    reader, writer = await asyncio.open_connection(sock=far.dup())
    has_started = False
    try:
        async for message in _exchange(Request(scope, receive), reader, writer):
            has_started = True
            await send(message)
    except (h11.RemoteProtocolError, h11.LocalProtocolError, OSError, TimeoutError):
        if has_started:
            raise ConnectionError("the server in the sandbox has broken off") from None
        words = "the server in the sandbox gave no valid answer"
        await _fail(scope, receive, send, 502, words, sandbox_id)
    finally:
        writer.close()


async def _exchange(
    request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> AsyncIterator[dict[str, Any]]:
    """Send a request, and yield the messages of the answer."""
    speaker = h11.Connection(h11.CLIENT)
    headers = [
        (name, value)
        for name, value in request.scope["headers"]
        if name not in _OURS and name not in _OF_ONE_HOP
    ]
    length = request.headers.get("content-length")
    if length is not None:
        headers.append((b"content-length", length.encode()))
    elif "transfer-encoding" in request.headers:
        headers.append((b"transfer-encoding", b"chunked"))
    headers.append((b"connection", b"close"))
    head = h11.Request(method=request.method, target=_target(request.scope), headers=headers)
    writer.write(speaker.send(head) or b"")
    async for piece in request.stream():
        if piece:
            writer.write(speaker.send(h11.Data(data=piece)) or b"")
            await writer.drain()
    writer.write(speaker.send(h11.EndOfMessage()) or b"")
    await writer.drain()
    while True:
        event = speaker.next_event()
        if event is h11.NEED_DATA:
            with anyio.fail_after(_ANSWER_S):
                speaker.receive_data(await reader.read(_PIECE))
        elif isinstance(event, h11.Response):
            # trust: headers from inside, whose form h11 has checked.
            kept = [(name, value) for name, value in event.headers if name not in _OF_ONE_HOP]
            status = event.status_code
            yield {"type": "http.response.start", "status": status, "headers": kept}
        elif isinstance(event, h11.Data):
            yield {"type": "http.response.body", "body": bytes(event.data), "more_body": True}
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            yield {"type": "http.response.body", "body": b"", "more_body": False}
            return


# --- websockets


async def _carry_websocket(scope: Scope, receive: Receive, send: Send, far: socket.socket) -> None:
    if (await receive())["type"] != "websocket.connect":
        return
    address = "ws://sandbox" + _target(scope).decode("latin-1")
    headers = [
        (str(name, "latin-1"), str(value, "latin-1"))
        for name, value in scope["headers"]
        if name not in _OURS
        and name not in _OF_ONE_HOP
        and not name.startswith(b"sec-websocket")
        and str(name, "latin-1") not in _OF_HANDSHAKE
    ]
    offered = [Subprotocol(name) for name in scope.get("subprotocols", ())] or None
    try:
        connection = await connect(
            address,
            sock=far.dup(),
            additional_headers=headers,
            subprotocols=offered,
            proxy=None,
            compression=None,
        )
    except (InvalidHandshake, OSError, TimeoutError):
        await send({"type": "websocket.close", "code": 1014})
        return
    await send({"type": "websocket.accept", "subprotocol": connection.subprotocol})
    async with connection, anyio.create_task_group() as tasks:
        tasks.start_soon(_pump_out, connection, send, tasks.cancel_scope)
        await _pump_in(connection, receive)
        tasks.cancel_scope.cancel()


async def _pump_in(connection: ClientConnection, receive: Receive) -> None:
    with contextlib.suppress(ConnectionClosed):
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                await connection.close(message.get("code") or 1000)
                return
            data = message.get("bytes")
            await connection.send(message["text"] if data is None else data)


async def _pump_out(connection: ClientConnection, send: Send, scope: anyio.CancelScope) -> None:
    with contextlib.suppress(ConnectionClosed):
        async for data in connection:
            kind = "text" if isinstance(data, str) else "bytes"
            await send({"type": "websocket.send", kind: data})
    code = connection.close_code
    await send({"type": "websocket.close", "code": code if code and code != 1006 else 1011})
    scope.cancel()
