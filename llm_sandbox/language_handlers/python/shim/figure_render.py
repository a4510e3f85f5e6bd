"""Rendering of matplotlib figures to MIME bundles."""

from __future__ import annotations

import base64
import io
import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .session import Bundle

READ_LIMIT = 32 * 1024 * 1024
"""Largest saved file that is read back, in bytes; above, a PNG is drawn instead."""

_SAVED = {
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}
_PDF_DATE = re.compile(rb"/CreationDate \([^)]*\)")
_SVG_NAMES = re.compile(r"<dc:date>[^<]*</dc:date>|\b[a-zA-Z]+[0-9a-f]{10}\b")
_OPTIONS = ("dpi", "facecolor", "edgecolor", "bbox_inches", "pad_inches", "transparent")


def is_empty(figure: Any) -> bool:
    """Return whether a figure has nothing but its background.

    Args:
        figure: The figure.

    Returns:
        Whether it has neither axes nor artists.
    """
    return len(figure.get_children()) <= 1


def render(shell: Any, figure: Any) -> Bundle:
    """Draw a figure in the formats that are configured for IPython.

    Args:
        shell: The IPython shell.
        figure: The figure.

    Returns:
        The bundle, which always has a picture.

    Raises:
        Exception: An artist of the user raised it.
    """
    data: dict[str, Any] = {}
    metadata: dict[str, Any] = dict(_background(figure) or {})
    # Not shell.display_formatter.format(): that answers a broken artist with a traceback.
    for mime, formatter in shell.display_formatter.formatters.items():
        if mime == "text/plain" or not formatter.enabled:
            continue
        try:
            printer = formatter.lookup(figure)
        except KeyError:
            continue
        output = printer(figure)
        if isinstance(output, tuple):
            output, metadata[mime] = output
        if output is not None:
            data[mime] = output
    if not data:
        data["image/png"] = encode("image/png", draw_png(figure))
    data["text/plain"] = repr(figure)
    return data, metadata


def draw_png(figure: Any) -> bytes:
    """Draw a figure as the inline backend does, even if it has no axes.

    Args:
        figure: The figure.

    Returns:
        A PNG file.
    """
    buffer = io.BytesIO()
    figure.canvas.print_figure(
        buffer,
        format="png",
        dpi=figure.dpi,
        facecolor=figure.get_facecolor(),
        edgecolor=figure.get_edgecolor(),
        bbox_inches=None if is_empty(figure) else "tight",
    )
    return buffer.getvalue()


def saved_format(figure: Any, target: Any, options: dict[str, Any]) -> str:
    """Return the format that matplotlib saves in.

    Args:
        figure: The figure.
        target: Target of ``savefig``.
        options: Other arguments of ``savefig``.

    Returns:
        The format in lower case.
    """
    name = options.get("format")
    if name is None and isinstance(target, (str, os.PathLike)):
        name = Path(os.fsdecode(target)).suffix[1:]
    return str(name or figure.canvas.get_default_filetype()).lower()


def mime_of(name: str) -> str | None:
    """Return the MIME type of a format that is published as it was saved.

    Args:
        name: A matplotlib format.

    Returns:
        The type, or ``None`` for a format that a PNG replaces.
    """
    return _SAVED.get(name)


def encode(mime: str, content: bytes) -> str:
    """Add a file to a MIME bundle.

    Args:
        mime: MIME type of the file.
        content: Content of the file.

    Returns:
        Text for SVG, base64 for the rest.
    """
    if mime == "image/svg+xml":
        return content.decode("utf-8", "replace")
    return base64.b64encode(content).decode("ascii")


def read_back(target: Any, suffix: str) -> bytes | None:
    """Read a file that matplotlib has just written.

    Args:
        target: Path the user gave.
        suffix: Format matplotlib appends to a path without one; empty if it appends nothing.

    Returns:
        The content; ``None`` if the file is not regular or too large.
    """
    name = os.fsdecode(target)
    if suffix and not Path(name).suffix[1:]:
        name = f"{name.rstrip('.')}.{suffix}"
    path = Path(name)
    try:
        status = path.stat()
        # A pipe or a device would block or give nothing.
        if not stat.S_ISREG(status.st_mode) or status.st_size > READ_LIMIT:
            return None
        with path.open("rb") as file:
            return file.read(READ_LIMIT)
    except OSError:
        return None


def png_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the ``savefig`` options that apply to every format.

    Args:
        options: Options that the user passed.

    Returns:
        Options to draw a PNG with.
    """
    return {name: options[name] for name in _OPTIONS if name in options}


def fingerprint(data: dict[str, Any]) -> int:
    """Return a number that is equal for equal pictures.

    Args:
        data: A bundle without its chart.

    Returns:
        A hash of the pictures, without the dates and random identifiers in them.
    """
    found: list[tuple[str, str | bytes]] = []
    for mime, content in sorted(data.items()):
        if mime == "application/pdf":
            found.append((mime, _PDF_DATE.sub(b"", base64.b64decode(content))))
        elif mime == "image/svg+xml" and isinstance(content, str):
            found.append((mime, _SVG_NAMES.sub("", content)))
        elif isinstance(content, (str, bytes)):
            found.append((mime, content))
    return hash(tuple(found))


def save_again(
    original: Callable[..., Any], mime: str, options: dict[str, Any], figure: Any
) -> int:
    """Draw a figure again with the options of an earlier save.

    Args:
        original: ``Figure.savefig`` of matplotlib.
        mime: MIME type that was published.
        options: Options that the user passed.
        figure: The figure.

    Returns:
        The fingerprint of the result.
    """
    buffer = io.BytesIO()
    name = next(name for name, known in _SAVED.items() if known == mime)
    if name == "png" and options.get("format", "png") != "png":
        options = png_options(options)
    original(figure, buffer, **{**options, "format": name})
    return fingerprint({mime: encode(mime, buffer.getvalue()), "text/plain": repr(figure)})


def add_chart(figure: Any, data: dict[str, Any]) -> None:
    """Add the chart record of a figure to a bundle.

    Args:
        figure: The figure; it was just drawn, so its ticks are known.
        data: The bundle.
    """
    # Loaded when matplotlib is: nobody else needs it.
    from .charts.matplotlib.figure import read_figure
    from .charts.record import CHART_MIME

    chart = read_figure(figure)
    if chart is not None:
        data[CHART_MIME] = chart


def _background(figure: Any) -> dict[str, Any] | None:
    module = sys.modules.get("matplotlib_inline.backend_inline")
    fetch = getattr(module, "_fetch_figure_metadata", None)
    found: dict[str, Any] | None = fetch(figure) if fetch is not None else None
    return found
