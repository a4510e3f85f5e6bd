"""What the captures share: the shell, the current cell, and the way out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .handles import Handles

Bundle = tuple[dict[str, Any], dict[str, Any]]
"""Data by MIME type, and its metadata, as IPython formatters return them."""

Handler = Callable[[Any, Any, Any], "Bundle | None"]
"""Takes ``(obj, include, exclude)``; ``None`` leaves the object to IPython."""

Service = Callable[[dict[str, Any], list[memoryview]], tuple[dict[str, Any], list[bytes]]]
"""Answers a request of the host: arguments and buffers in, content and buffers out."""

METADATA_KEY = "llm_sandbox"


def plot_metadata(source: str, event: str) -> dict[str, Any]:
    """Describe a plot.

    Args:
        source: The library that drew it.
        event: What made it leave: ``show``, ``cell_end`` or ``savefig``.

    Returns:
        Metadata to merge into that of the display.
    """
    return {METADATA_KEY: {"kind": "plot", "source": source, "event": event}}


class Session:
    """One shell whose displays are captured.

    Attributes:
        shell: The IPython shell.
        cell: Number of the running cell; it grows when a cell ends.
        quiet: Above zero while files are written that are no plots of the user, such as the
            frames of an animation.
        handlers: Display handlers by type; they hold for subclasses too.
        plain_format: IPython's own formatting, without handlers and annotations.
        services: What the host may ask for between cells, by name.
        handles: Names of the tables that were displayed.
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
            metadata: What the library itself says about it.
            source: The library that drew it.
            event: What made it leave.
        """
        self.shell.display_pub.publish(
            data=data, metadata={**metadata, **plot_metadata(source, event)}
        )

    def handler(self, kind: type) -> Handler | None:
        """Find the display handler of a type.

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
        """Let nothing that is saved inside the block count as a plot."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1


def report(what: str, error: BaseException) -> None:
    """Tell the user about a plot that could not be drawn, on one line of stderr.

    Args:
        what: What failed.
        error: Why.
    """
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    sys.stderr.write(f"{what}: {reason[:500]}\n")
