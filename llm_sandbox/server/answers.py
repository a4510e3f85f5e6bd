"""Requests and answers: bodies within limits, work in threads, streams, statuses of errors."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from llm_sandbox.exceptions import (
    ArtifactLimitError,
    ArtifactNotFoundError,
    ConfigurationError,
    ContainerGoneError,
    FileError,
    ImageNotFoundError,
    LaunchError,
    LibraryInstallationError,
    NoSpaceError,
    NotOpenSessionError,
    OutputLimitError,
    ProcessNotFoundError,
    SandboxError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxNotFoundError,
    SandboxPermissionError,
    SandboxTimeoutError,
    SecurityError,
    SessionBusyError,
    ToolchainNotFoundError,
    ValidationError,
    ValueNotTransferableError,
    VariableNotFoundError,
)
from llm_sandbox.server.errors import DrainingError, QuotaExceededError

__all__ = [
    "Emit",
    "EventStream",
    "TooLargeError",
    "check_length",
    "error_json",
    "in_long_thread",
    "in_thread",
    "parse_object",
    "read_body",
    "read_object",
    "retry_headers",
    "sentence",
    "status_of",
]

_P = ParamSpec("_P")
_Value = TypeVar("_Value")

# What ends something never queues behind what waits for it to end.
_long_calls: RunVar[CapacityLimiter] = RunVar("llm_sandbox_server_long_calls")
_short_calls: RunVar[CapacityLimiter] = RunVar("llm_sandbox_server_short_calls")
_LONG = 1024
_SHORT = 128
_SLOWEST_READER_S = 60.0
"""Seconds that a client may take to read one piece of a stream."""

_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (QuotaExceededError, 429),
    (DrainingError, 503),
    (SandboxNotFoundError, 404),
    (ProcessNotFoundError, 404),
    (SandboxFileNotFoundError, 404),
    (ArtifactNotFoundError, 404),
    (VariableNotFoundError, 404),
    (ImageNotFoundError, 404),
    (SandboxFileExistsError, 409),
    (SessionBusyError, 409),
    (SandboxPermissionError, 403),
    (NoSpaceError, 507),
    (OutputLimitError, 413),
    (ArtifactLimitError, 413),
    (ValueNotTransferableError, 400),
    (ContainerGoneError, 502),
    (NotOpenSessionError, 502),
    (SandboxTimeoutError, 504),
    (ConfigurationError, 400),
    (ToolchainNotFoundError, 400),
    (LibraryInstallationError, 400),
    (FileError, 400),
    (LaunchError, 400),
    (SecurityError, 403),
)
"""HTTP status by kind of error; the first that fits."""


class TooLargeError(ValidationError):
    """Body of a request beyond its limit."""


def status_of(error: SandboxError) -> int:
    """Return the HTTP status for an error."""
    if isinstance(error, TooLargeError):
        return 413
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def sentence(error: SandboxError) -> str:
    """Return an error's message with its hint, on one line."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def retry_headers(error: SandboxError) -> dict[str, str]:
    """Return the headers that say when to try again; empty for an error that stays."""
    if isinstance(error, QuotaExceededError):
        return {"Retry-After": str(max(1, round(error.retry_after_s)))}
    return {"Retry-After": "1"} if isinstance(error, DrainingError) else {}


async def in_thread(function: Callable[_P, _Value], *args: _P.args, **kwargs: _P.kwargs) -> _Value:
    """Make a short blocking call in a worker thread, to its end."""
    return await to_thread.run_sync(
        lambda: function(*args, **kwargs), limiter=_limiter(_short_calls, _SHORT)
    )


async def in_long_thread(
    function: Callable[_P, _Value], *args: _P.args, **kwargs: _P.kwargs
) -> _Value:
    """Make a call in a worker thread that lasts as long as a client's code does."""
    return await to_thread.run_sync(
        lambda: function(*args, **kwargs), limiter=_limiter(_long_calls, _LONG)
    )


def _limiter(name: RunVar[CapacityLimiter], size: int) -> CapacityLimiter:
    try:
        return name.get()
    except LookupError:
        limiter = CapacityLimiter(size)
        name.set(limiter)
        return limiter


def check_length(request: Request, most: int) -> None:
    """Check the length that a body says to have, before any of it is read.

    Raises:
        TooLargeError: It says more than `most` bytes.
    """
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length[:20]) > most:
        raise TooLargeError(f"the body of the request is larger than {most} bytes")


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request.

    Raises:
        TooLargeError: It has more than `most` bytes.
    """
    check_length(request, most)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise TooLargeError(f"the body of the request is larger than {most} bytes")
    return bytes(body)


async def read_object(request: Request, most: int) -> dict[str, Any]:
    """Return the body of a request as a JSON object; an empty body is an empty one.

    Raises:
        TooLargeError: It has more than `most` bytes.
        ValidationError: It is something else.
    """
    return parse_object(await read_body(request, most))


def parse_object(body: bytes) -> dict[str, Any]:
    """Return bytes as a JSON object; none are an empty one.

    Raises:
        ValidationError: They are something else.
    """
    try:
        value = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise ValidationError("invalid body: expected JSON") from None
    if not isinstance(value, dict):
        raise ValidationError("invalid body: expected a JSON object")
    return value


Emit = Callable[[bytes], Awaitable[None]]
"""Function that sends bytes of a stream to the client, once it has read what was before."""


class EventStream:
    """Answer whose body is produced bit by bit, until the client goes away.

    Args:
        produce: Produces the body; it is cancelled when the client goes away or reads nothing for
            a minute.
        media_type: Content type.
        on_gone: Called when the client has gone, before `produce` is cancelled.
        headers: Further headers.
    """

    def __init__(
        self,
        produce: Callable[[Emit], Awaitable[None]],
        media_type: str,
        *,
        on_gone: Callable[[], object] = lambda: None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._produce = produce
        self._on_gone = on_gone
        named = {"content-type": media_type, "cache-control": "no-store", **(headers or {})}
        self._headers = [(name.encode(), value.encode()) for name, value in named.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, as an ASGI application."""
        start: Message = {"type": "http.response.start", "status": 200, "headers": self._headers}
        await send(start)
        is_gone = False

        async def emit(data: bytes) -> None:
            async with asyncio.timeout(_SLOWEST_READER_S):
                await send({"type": "http.response.body", "body": data, "more_body": True})

        async def listen() -> None:
            nonlocal is_gone
            while (await receive())["type"] != "http.disconnect":
                pass
            is_gone = True
            await in_thread(self._on_gone)
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            try:
                await self._produce(emit)
            except TimeoutError:
                is_gone = True
                await in_thread(self._on_gone)
            tasks.cancel_scope.cancel()
        if not is_gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def error_json(error: SandboxError) -> JSONResponse:
    """Return an error as E2B's REST APIs describe one."""
    status = status_of(error)
    body = {"code": status, "message": sentence(error)}
    return JSONResponse(body, status, headers=retry_headers(error))
