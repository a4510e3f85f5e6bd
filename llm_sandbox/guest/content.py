"""What an interpreter says, as the contents of Jupyter messages."""

from __future__ import annotations

import binascii
import json

from . import frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .fields import Fields

_TEXT = ("text/", "application/json", "application/javascript", "application/vnd.", "image/svg")
_DATA = "data:"
_LONGEST_ID = 1000
_KINDS = ("exception", "syntax", "exit", "compile", "input")


def bundle(message: Fields) -> dict[str, Any]:
    """The content of a display message: text as text, JSON as data, the rest in base64."""
    data: dict[str, Any] = {}
    for name, value in message.items():
        if not name.startswith(_DATA):
            continue
        mime = name.removeprefix(_DATA)
        if not mime.startswith(_TEXT) and not mime.endswith(("+json", "+xml")):
            data[mime] = binascii.b2a_base64(value, newline=False).decode()
        elif mime.endswith("json"):
            data[mime] = _read_json(value, value.decode("utf-8", "replace"))
        else:
            data[mime] = value.decode("utf-8", "replace")
    metadata = _read_json(message.get("metadata", b"{}"), {})
    content = {"data": data, "metadata": metadata if isinstance(metadata, dict) else {}}
    identity = message.get("id")
    content["transient"] = {"display_id": identity.decode("utf-8", "replace")} if identity else {}
    return content


def describe_error(message: Fields) -> dict[str, Any]:
    """The content of an error message."""

    def text(name: str) -> str:
        return message.get(name, b"").decode("utf-8", "backslashreplace")

    detail: dict[str, Any] = {"frames": []}
    if text("line").isdigit():
        detail["line"] = int(text("line"))
    if text("column").isdigit():
        detail["column"] = int(text("column"))
    if text("type") in _KINDS:
        detail["kind"] = text("type")
    listed = _read_json(message.get("frames", b"[]"), [])
    if isinstance(listed, list):
        detail["frames"] = [frame for frame in listed if isinstance(frame, dict)]
    return {
        "ename": text("name") or "Error",
        "evalue": text("value"),
        "traceback": text("traceback").splitlines(),
        "llm_sandbox": detail,
    }


def encode_display(
    channel: int, record: dict[str, Any], buffers: Sequence[frames.Buffer], limit: int
) -> list[frames.Buffer]:
    """Encode a display, or in the place of one that is over the limits a word about it.

    Args:
        channel: One of the channels of `frames`.
        record: The message.
        buffers: Its own buffers.
        limit: Most bytes.
    """
    pieces = frames.encode_parts(channel, record, buffers)
    if pieces is None:
        size = len(json.dumps(record["content"], default=str))
        note = f"<a display of {size} bytes, with more parts than a display may have: left out>"
    else:
        size = sum(map(len, pieces))
        if size <= limit:
            return pieces
        note = f"<a display of {size} bytes, over the limit of {limit}: left out>"
    asked = record["content"]
    known = (asked.get("transient") or {}).get("display_id")
    content = {
        "data": {"text/plain": note},
        "metadata": {"llm_sandbox": {"left_out_bytes": size}},
        "transient": {"display_id": known[:_LONGEST_ID]} if isinstance(known, str) else {},
    }
    if "execution_count" in asked:
        content["execution_count"] = asked["execution_count"]
    return frames.encode(channel, {**record, "content": content})


def _read_json(text: bytes, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
