"""Event streams: the events of a log as ``text/event-stream``."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.server.answers import Emit, EventStream, in_thread
from llm_sandbox.server.event_log import EventLog

__all__ = ["DOCUMENTED", "StreamResponse", "last_event_id", "wants_stream"]

_MEDIA_TYPE = "text/event-stream"

DOCUMENTED: dict[str, Any] = {
    _MEDIA_TYPE: {
        "schema": {
            "type": "object",
            "description": "An event, whose data is JSON.",
            "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
            "required": ["event", "data"],
        }
    }
}
"""Content of an answer with events, for the OpenAPI document."""

_SILENCE_S = 15.0


class StreamResponse(Response):
    """Answer that follows a log to its end. Its client may go and come back; the work goes on.

    Args:
        log: The log.
        prefix: Beginning of the events' ids, such as the number of the run.
        after: Number of the last event that the client has.
        end: Returns the last event, its name and its facts, once the log is closed.
        on_silence: Awaited after each silence, while the client is there.
    """

    def __init__(
        self,
        log: EventLog,
        prefix: str,
        after: int,
        end: Callable[[], tuple[str, Mapping[str, object]]],
        on_silence: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__()
        self._log = log
        self._prefix = prefix
        self._after = after
        self._end = end
        self._on_silence = on_silence

    async def _produce(self, emit: Emit) -> None:
        async for event in self._log.follow(self._after, _SILENCE_S):
            if event is None:
                await self._on_silence()
                await emit(b":\n\n")
                continue
            await emit(self._text(event.number, event.name, event.data))
        if self._after <= self._log.count:
            name, facts = await in_thread(self._end)
            data = await in_thread(json.dumps, facts, allow_nan=False)
            await emit(self._text(self._log.count + 1, name, data))

    def _text(self, number: int, name: str, data: str) -> bytes:
        identity = f"id: {self._prefix}-{number}\n" if number else ""
        return f"{identity}event: {name}\ndata: {data}\n\n".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, as an ASGI application."""
        headers = {"x-accel-buffering": "no"}
        await EventStream(self._produce, _MEDIA_TYPE, headers=headers)(scope, receive, send)


def wants_stream(request: Request) -> bool:
    """Return whether a request asks for events instead of a result."""
    return _MEDIA_TYPE in request.headers.get("accept", "")


def last_event_id(request: Request) -> tuple[str, int] | None:
    """Return the ``Last-Event-ID`` of a request, as its prefix and number; None without one.

    Raises:
        ValidationError: It is not an id of this server's events.
    """
    text = request.headers.get("last-event-id")
    if not text:
        return None
    prefix, dash, number = text.rpartition("-")
    if not dash or not number.isascii() or not number.isdigit() or len(number) > 18:
        raise ValidationError(
            "invalid Last-Event-ID: expected the id of an event", parameter="Last-Event-ID"
        )
    return prefix, int(number)
