"""Connect protocol: unary calls and streams of JSON messages over HTTP.

A message of a stream is one byte of flags, four bytes of length and the JSON; the last one has the
flag 2, and says how the stream ended.
"""

import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from llm_sandbox.exceptions import SandboxError, SandboxTimeoutError, ValidationError
from llm_sandbox.server.answers import (
    Emit,
    EventStream,
    TooLargeError,
    parse_object,
    read_body,
    sentence,
    status_of,
)

__all__ = [
    "Answer",
    "Deadline",
    "envelope",
    "explain",
    "explain_call",
    "messages",
    "read_envelope",
    "stream",
    "unary",
]

Answer = Mapping[str, object]

_END = 2
_COMPRESSED = 1
_CODES = {
    400: "invalid_argument",
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    409: "already_exists",
    413: "resource_exhausted",
    429: "resource_exhausted",
    501: "unimplemented",
    502: "unavailable",
    503: "unavailable",
    504: "deadline_exceeded",
    507: "resource_exhausted",
}
_MOST_MESSAGE = 16 << 20


class Deadline(SandboxTimeoutError):
    """End of a call by the deadline that its client has set."""


def explain(status: int, message: str, error: object = None) -> Response:
    """Return an error as the protocol describes one."""
    del error
    return JSONResponse({"code": _CODES.get(status, "internal"), "message": message}, status)


def explain_call(request: Request, status: int, message: str) -> Response:
    """Return an error in the form of the call: of a stream, it is the last message."""
    kind = request.headers.get("content-type", "")
    if not kind.startswith("application/connect+"):
        return explain(status, message)
    end = {"error": {"code": _CODES.get(status, "internal"), "message": message}}
    return Response(envelope(end, _END), media_type="application/connect+json")


def envelope(message: Answer, flags: int = 0) -> bytes:
    """Return a message of a stream as bytes."""
    data = json.dumps(message).encode()
    return struct.pack(">BI", flags, len(data)) + data


def read_envelope(body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the first message of a stream, and the bytes after it.

    Raises:
        ValidationError: It is incomplete, compressed, or no JSON object.
    """
    if len(body) < 5:
        raise ValidationError("invalid body: expected an enveloped message")
    flags, length = struct.unpack(">BI", body[:5])
    if flags & _COMPRESSED:
        raise ValidationError("invalid body: expected messages without compression")
    if len(body) < 5 + length:
        raise ValidationError("invalid body: the message is incomplete")
    return parse_object(body[5 : 5 + length]), body[5 + length :]


async def messages(request: Request) -> AsyncIterator[dict[str, Any]]:
    """Yield the messages that a client streams.

    Raises:
        TooLargeError: One is larger than 16 MiB.
        ValidationError: One is no JSON object.
    """
    held = b""
    async for piece in request.stream():
        held += piece
        while len(held) >= 5:
            length = struct.unpack(">I", held[1:5])[0]
            if length > _MOST_MESSAGE:
                raise TooLargeError(f"a message is larger than {_MOST_MESSAGE} bytes")
            if len(held) < 5 + length:
                break
            if held[0] & _END:
                return
            message, held = read_envelope(held)
            yield message


def unary(
    call: Callable[[Request, dict[str, Any]], Awaitable[Answer]], most: int
) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a call with one message each way.

    Args:
        call: The call; its name is the route's.
        most: Largest body.
    """

    async def endpoint(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            return explain(
                415, f"this server speaks application/json, not {kind[:80] or 'nothing'}"
            )
        try:
            return JSONResponse(await call(request, await _object(request, most)))
        except SandboxError as error:
            return explain(status_of(error), sentence(error))

    endpoint.__name__ = call.__name__
    return endpoint


async def _object(request: Request, most: int) -> dict[str, Any]:
    return parse_object(await read_body(request, most))


def stream(
    call: Callable[[Request, dict[str, Any], Emit], Awaitable[None]], most: int
) -> Callable[[Request], Awaitable[Any]]:
    """Return the endpoint of a call whose answer is a stream.

    Args:
        call: The call, which sends enveloped messages; its name is the route's.
        most: Largest body.
    """

    async def endpoint(request: Request) -> EventStream:
        body = await read_body(request, most)

        async def produce(emit: Emit) -> None:
            end: dict[str, object] = {}
            try:
                await call(request, read_envelope(body)[0], emit)
            except SandboxError as error:
                code = _CODES.get(status_of(error), "internal")
                end = {"error": {"code": code, "message": sentence(error)}}
            await emit(envelope(end, _END))

        return EventStream(produce, "application/connect+json")

    endpoint.__name__ = call.__name__
    return endpoint
