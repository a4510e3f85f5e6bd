"""Jupyter messages as frames: the session and the channels of a kernel without ZeroMQ."""

import importlib.util
import sys
import uuid
from collections.abc import Iterator
from typing import Any


def defer_jupyter_client() -> None:
    """Put `jupyter_client` into `sys.modules` unexecuted, unless it is imported already or absent.

    ipykernel imports the package, whose own file imports every client and manager that it has: a
    third of a kernel's start. A kernel uses its modules `session` and `jsonutil` alone. The file is
    executed when a name of the package is first asked for.
    """
    if "jupyter_client" in sys.modules:
        return
    spec = importlib.util.find_spec("jupyter_client")
    if spec is None or spec.loader is None:
        return
    package = importlib.util.module_from_spec(spec)
    loader = spec.loader

    def execute(name: str) -> Any:
        if "__getattr__" in vars(package):
            del package.__getattr__
            loader.exec_module(package)
            return getattr(package, name)
        raise AttributeError(name)

    def write_connection_file(*args: Any, **options: Any) -> Any:
        return execute("write_connection_file")(*args, **options)

    # ipykernel.connect imports this one by name when it is itself imported.
    package.write_connection_file = write_connection_file  # type: ignore[attr-defined]
    package.__getattr__ = execute  # type: ignore[method-assign]
    sys.modules["jupyter_client"] = package


defer_jupyter_client()

from jupyter_client.session import Session

from . import frames, parent_headers
from .wire import Wire

_DISPLAYS = ("display_data", "execute_result", "update_display_data")
_OUTPUTS = {*_DISPLAYS, "clear_output", "error", "comm_open", "comm_msg", "comm_close"}
"""Messages that belong to the request for which the thread or task at hand was started."""
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_MAX_WIDGETS = 1000


class ShownWidgets:
    """Widgets that the current cell has shown, for an update of their text when it has ended.

    A widget's picture is drawn by a front end, from messages between it and the kernel. Its text is
    of the moment at which it was shown: a progress bar's says that nothing was done yet.
    """

    def __init__(self) -> None:
        self._shown: dict[str, tuple[str, object]] = {}

    def record_display(self, content: dict[str, Any]) -> None:
        """Record a display of a widget, and set its display id.

        Args:
            content: The content of the message, which is changed.
        """
        view = content["data"].get(_WIDGET_VIEW)
        if not isinstance(view, dict) or len(self._shown) >= _MAX_WIDGETS:
            return
        transient = content.setdefault("transient", {})
        known = transient.setdefault("display_id", uuid.uuid4().hex)
        self._shown[known] = str(view.get("model_id")), content["data"].get("text/plain")

    def take_changed(self) -> Iterator[dict[str, Any]]:
        """Yield update contents for widgets whose text has changed, and forget all widgets."""
        shown, self._shown = self._shown, {}
        widgets = _widgets() if shown else {}
        for known, (model, text) in shown.items():
            widget = widgets.get(model)
            # A closed widget is not shown any more.
            data = widget._repr_mimebundle_() if widget is not None else {}
            if isinstance(data, dict) and data.get("text/plain") != text:
                yield {"data": data, "metadata": {}, "transient": {"display_id": known}}


def _widgets() -> dict[str, Any]:
    """Return all widgets of this process by the id of their model."""
    module = sys.modules.get("ipywidgets.widgets.widget")
    # In version 8, and in version 7.
    known = getattr(module, "_instances", None)
    if known is None:
        known = getattr(getattr(module, "Widget", None), "widgets", None)
    return dict(known) if known else {}


class Channel:
    """Channel of the wire in place of ipykernel's ZeroMQ socket."""

    def __init__(self, number: int) -> None:
        self.number = number

    def flush(self, *_: Any) -> None:
        """Do nothing: a channel has no buffer."""


class WireSession(Session):
    """Session that sends Jupyter messages as frames, unsigned, as the stream is private."""

    wire: Wire | None = None
    display_bytes = 32 << 20
    late_dropped = 0
    """Bytes of late displays that were dropped."""
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
            parent_request = parent_headers.current()
            message["parent_header"] = parent_request.header
            is_late = parent_request.ended
        record = {key: message[key] for key in ("header", "parent_header", "metadata", "content")}
        if kind == "display_data":
            self.widgets.record_display(record["content"])
        own = [memoryview(piece).cast("B") for piece in buffers or ()]
        if kind not in _DISPLAYS:
            if kind == "execute_reply" and not self._is_small(record):
                # A page for a pager, or the like.
                record["content"] = {**record["content"], "payload": [], "user_expressions": {}}
            self._send(frames.encode_light(stream.number, record, own), is_late=is_late)
            return message
        pieces = frames.encode_display(stream.number, record, own, self.display_bytes)
        # Displays are sent at once: the process may die the moment after.
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
