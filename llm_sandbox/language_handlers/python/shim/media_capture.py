"""Capture of sound and video: the recording itself beside IPython's HTML of it."""

from __future__ import annotations

import base64
import mimetypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .describe import annotate
from .imports import on_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .session import Bundle, Session

_LIMIT = 32 * 1024 * 1024
_TWICE_LIMIT = 8 * 1024 * 1024
"""A longer recording is published without the HTML that repeats its bytes: together they would
exceed the limit of a display."""


def install(session: Session) -> None:
    """Publish audio and video displays with their own MIME types.

    Args:
        session: The session of the shell.
    """

    def attach_audio(module: ModuleType) -> None:
        session.handlers[module.Audio] = _handler(session, _audio)

    def attach_video(module: ModuleType) -> None:
        session.handlers[module.Video] = _handler(session, _video)

    on_import("IPython.lib.display", attach_audio)
    on_import("IPython.core.display", attach_video)


def _handler(
    session: Session, read: Callable[[Any], tuple[str, str] | None]
) -> Callable[[Any, Any, Any], Bundle]:
    def display(obj: Any, include: Any, exclude: Any) -> Bundle:
        data, metadata = session.plain_format(obj, include, exclude)
        if data and not include and not exclude:
            data = _add(data, _attempt(read, obj))
        return annotate(obj, (data, metadata))

    return display


def _attempt(read: Callable[[Any], tuple[str, str] | None], obj: Any) -> tuple[str, str] | None:
    try:
        return read(obj)
    except Exception:  # noqa: BLE001 - the HTML still leaves
        return None


def _add(data: dict[str, Any], found: tuple[str, str] | None) -> dict[str, Any]:
    if found is None:
        return data
    mime, content = found
    if len(content) > _TWICE_LIMIT:
        data = {name: value for name, value in data.items() if name != "text/html"}
    return {**data, mime: content}


def _audio(obj: Any) -> tuple[str, str] | None:
    if not obj.embed or not isinstance(obj.data, bytes):
        return None
    return _recording(obj.mimetype or "audio/wav", "audio/", obj.data)


def _video(obj: Any) -> tuple[str, str] | None:
    if not obj.embed:
        return None
    mime, content = obj.mimetype, obj.data
    if obj.filename is not None:
        mime = mime or mimetypes.guess_type(obj.filename)[0]
        path = Path(os.fsdecode(obj.filename))
        if not path.is_file() or path.stat().st_size > _LIMIT:
            return None
        content = path.read_bytes()
    return _recording(mime or "video/mp4", "video/", content)


def _recording(mime: str, family: str, content: object) -> tuple[str, str] | None:
    if not mime.startswith(family):
        return None
    if isinstance(content, str):  # encoded already
        return (mime, content) if len(content) <= _LIMIT * 4 // 3 else None
    if not isinstance(content, bytes) or len(content) > _LIMIT:
        return None
    return mime, base64.b64encode(content).decode("ascii")
