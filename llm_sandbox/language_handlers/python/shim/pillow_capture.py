"""Capture of Pillow images: ``Image.show()`` and images as the value of a cell."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

from .imports import on_import
from .session import Bundle, Session, plot_metadata

if TYPE_CHECKING:
    from types import ModuleType

_SOURCE = "pillow"


def encode_png(image: Any) -> str:
    """Encode an image of any mode as PNG.

    Args:
        image: A ``PIL.Image.Image``.

    Returns:
        Base64 text of the PNG file.
    """
    buffer = io.BytesIO()
    try:
        image.save(buffer, "PNG", compress_level=1)
    except (OSError, ValueError, KeyError):  # a mode PNG cannot hold, such as CMYK or F
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "PNG", compress_level=1)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def describe_image(image: Any) -> str:
    """Return the short text of an image, without its unpredictable address.

    Args:
        image: A ``PIL.Image.Image``.

    Returns:
        The text that Pillow itself returns to IPython.
    """
    kind = type(image)
    width, height = image.size
    return f"<{kind.__module__}.{kind.__name__} image mode={image.mode} size={width}x{height}>"


def install(session: Session) -> None:
    """Capture images of Pillow.

    Args:
        session: The session of the shell.
    """

    def attach_show(module: ModuleType) -> None:
        def show(image: Any, title: str | None = None, **options: Any) -> bool:
            """Display an image in the output of the cell."""
            data = {"image/png": encode_png(image), "text/plain": describe_image(image)}
            session.publish(data, {}, _SOURCE, "show")
            return True

        module.show = show  # type: ignore[attr-defined]

    def attach_image(module: ModuleType) -> None:
        session.handlers[module.Image] = display

    def display(image: Any, include: Any, exclude: Any) -> Bundle | None:
        if include or exclude:
            return None
        # Pillow offers IPython a JPEG of the same image as well: twice the work and bytes.
        data = {"image/png": encode_png(image), "text/plain": describe_image(image)}
        return data, plot_metadata(_SOURCE, "show")

    # Image.show() imports ImageShow and calls its show(): subclasses pass there too.
    on_import("PIL.ImageShow", attach_show)
    on_import("PIL.Image", attach_image)
