"""Jupyter messages as frames: what stands where ipykernel expects a signed session and sockets."""

from typing import Any

from .lazy_client import defer_jupyter_client

defer_jupyter_client()

from jupyter_client.session import Session

from . import frames, parent_headers
from .content import encode_display
from .widgets import ShownWidgets
from .wire import Wire

_DISPLAYS = ("display_data", "execute_result", "update_display_data")
_OUTPUTS = {*_DISPLAYS, "clear_output", "error", "comm_open", "comm_msg", "comm_close"}
"""What belongs to the request that the thread or task at hand was started for."""


class Channel:
    """Stands where ipykernel expects a socket."""

    def __init__(self, number: int) -> None:
        self.number = number

    def flush(self, *_: Any) -> None:
        """There is nothing between this and the wire."""


class WireSession(Session):
    """Builds Jupyter messages as always and sends them as frames; not signed, for the stream is
    private.
    """

    wire: Wire | None = None
    display_bytes = 32 << 20
    late_dropped = 0
    """Bytes of displays that came late and were dropped."""
    widgets = ShownWidgets()

    def send(
        self,
        stream: Channel,
        msg_or_type: Any,
        content: Any = None,
        parent: Any = None,
        ident: Any = None,
        buffers: Any = None,
        track: bool = False,
        header: Any = None,
        metadata: Any = None,
    ) -> Any:
        message = (
            msg_or_type
            if isinstance(msg_or_type, dict)
            else self.msg(msg_or_type, content, parent, header, metadata)
        )
        if self.wire is None:
            return message
        kind = message["header"]["msg_type"]
        is_late = False
        if kind in _OUTPUTS:
            asked_by = parent_headers.current()
            message["parent_header"] = asked_by.header
            is_late = asked_by.ended
        record = {key: message[key] for key in ("header", "parent_header", "metadata", "content")}
        if kind == "display_data":
            self.widgets.note(record["content"])
        own = [memoryview(piece).cast("B") for piece in buffers or ()]
        if kind not in _DISPLAYS:
            if kind == "execute_reply" and not self._is_small(record):
                # A page for a pager, or the like.
                record["content"] = {**record["content"], "payload": [], "user_expressions": {}}
            self._send(frames.encode_light(stream.number, record, own), is_late=is_late)
            return message
        pieces = encode_display(stream.number, record, own, self.display_bytes)
        # What is shown is sent at once: the process may die the moment after.
        self._send(pieces, is_late=is_late, now=True)
        return message

    def _is_small(self, record: frames.Message) -> bool:
        content = record["content"]
        if not content.get("payload") and not content.get("user_expressions"):
            return True
        pieces = frames.encode_parts(frames.SHELL, record)
        return pieces is not None and sum(map(len, pieces)) <= self.display_bytes

    def _send(self, pieces: list[Any], *, is_late: bool, now: bool = False) -> None:
        wire = self.wire
        assert wire is not None
        if is_late:
            if wire.is_full:
                self.late_dropped += sum(map(len, pieces))
            else:
                wire.send_late(pieces)
        elif now:
            wire.send_now(pieces)
        else:
            wire.send(pieces)
