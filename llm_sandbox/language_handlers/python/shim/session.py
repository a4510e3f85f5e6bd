"""Capture session: the shell, the current cell, and the publication of displays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .handles import Handles

Bundle = tuple[dict[str, Any], dict[str, Any]]
"""Data by MIME type, and its metadata, as IPython formatters return them."""

Handler = Callable[[Any, Any, Any], "Bundle | None"]
"""Display handler: takes ``(obj, include, exclude)``; ``None`` leaves the object to IPython."""

Service = Callable[[dict[str, Any], list[memoryview]], tuple[dict[str, Any], list[bytes]]]
"""Service for a request of the host: takes arguments and buffers, returns content and buffers."""

METADATA_KEY = "llm_sandbox"


def plot_metadata(source: str, event: str) -> dict[str, Any]:
    """Return the metadata of a plot.

    Args:
        source: Library that drew the plot.
        event: Event that published the plot: ``show``, ``cell_end`` or ``savefig``.

    Returns:
        Metadata to merge into that of the display.
    """
    return {METADATA_KEY: {"kind": "plot", "source": source, "event": event}}


class Session:
    """Shell whose displays are captured.

    Attributes:
        shell: The IPython shell.
        cell: Number of the running cell; it grows when a cell ends.
        quiet: Above zero while files are written that are not plots of the user, such as the frames
            of an animation.
        handlers: Display handlers by type; they hold for subclasses too.
        plain_format: IPython's own formatting, without handlers and annotations.
        services: Services that the host may call between cells, by name.
        handles: Handles of the tables that were displayed.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cell = 0
        self.quiet = 0
        self.handlers: dict[type, Handler] = {}
        self.plain_format: Callable[..., Bundle] = shell.display_formatter.format
        self.services: dict[str, Service] = {}
        self.handles = Handles()

    def publish(
        self, data: dict[str, Any], metadata: dict[str, Any], source: str, event: str
    ) -> None:
        """Send one plot as ``display_data``.

        Args:
            data: The plot by MIME type.
            metadata: Metadata of the library itself.
            source: Library that drew the plot.
            event: Event that published the plot.
        """
        self.shell.display_pub.publish(
            data=data, metadata={**metadata, **plot_metadata(source, event)}
        )

    def handler(self, kind: type) -> Handler | None:
        """Return the display handler of a type.

        Args:
            kind: Type of the displayed object.

        Returns:
            The handler of the type or of its nearest base, if there is one.
        """
        handlers = self.handlers
        if handlers:
            for base in kind.__mro__:
                if base in handlers:
                    return handlers[base]
        return None

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Ignore files saved inside the block instead of capturing them as plots."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1


def report(what: str, error: BaseException) -> None:
    """Report a plot that could not be drawn, on one line of stderr.

    Args:
        what: The failed operation.
        error: The exception.
    """
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    sys.stderr.write(f"{what}: {reason[:500]}\n")
