"""Capture of plotly figures: one display with JSON and a full HTML page per figure and state."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any
from weakref import ref

from .imports import on_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .session import Bundle, Session

_SOURCE = "plotly"
_JSON = "application/vnd.plotly.v1+json"
_HTML_OPTIONS = ("config", "auto_play", "post_script", "animation_opts")


def describe_figure(content: dict[str, Any]) -> str:
    """Return a short text for a figure; plotly's own repr contains all of its data.

    Args:
        content: The figure as JSON types.

    Returns:
        One line naming the traces and the title.
    """
    traces = content.get("data") or []
    kinds = ", ".join(dict.fromkeys(str(trace.get("type", "scatter")) for trace in traces))
    plural = "" if len(traces) == 1 else "s"
    text = f"{len(traces)} trace{plural}" + (f" ({kinds})" if kinds else "")
    title = (content.get("layout") or {}).get("title")
    title = title.get("text") if isinstance(title, dict) else title
    return f"<plotly Figure: {text}, title {title!r}>" if title else f"<plotly Figure: {text}>"


class PlotlyCapture:
    """Capture of plotly for one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # Figures have no hash: by id, with a reference that tells whether the id is still theirs.
        self._captured: dict[int, tuple[ref[Any], bytes]] = {}
        self._cell = -1

    def capture(self, figure: Any, event: str, validate: bool, options: dict[str, Any]) -> None:
        """Publish a figure unless this state of the figure was published in this cell already.

        Args:
            figure: A figure, or a dict that describes one.
            event: Event that published the figure.
            validate: Whether plotly checks a dict.
            options: Arguments of the user; those for HTML are used.
        """
        from plotly.io._html import to_html
        from plotly.io._json import to_json_plotly
        from plotly.io._utils import validate_coerce_fig_to_dict

        content = validate_coerce_fig_to_dict(figure, validate)
        text = to_json_plotly(content)
        if not isinstance(figure, dict) and not self._is_new(figure, text):
            return
        kept = {name: options[name] for name in _HTML_OPTIONS if options.get(name) is not None}
        html = to_html(content, include_plotlyjs="cdn", full_html=True, validate=False, **kept)
        bundle = json.loads(text)
        if kept.get("config"):
            bundle["config"] = kept["config"]
        data = {_JSON: bundle, "text/html": html, "text/plain": describe_figure(bundle)}
        _add_chart(bundle, data)
        self._session.publish(data, {}, _SOURCE, event)

    def _is_new(self, figure: Any, text: str) -> bool:
        if self._cell != self._session.cell:
            self._cell = self._session.cell
            self._captured.clear()
        state = hashlib.blake2b(text.encode(), digest_size=16).digest()
        known = self._captured.get(id(figure))
        self._captured[id(figure)] = (ref(figure), state)
        return known is None or known[0]() is not figure or known[1] != state

    def attach_show(self, module: ModuleType) -> None:
        """Replace ``plotly.io.show``, which every way of showing a figure calls.

        Args:
            module: ``plotly.io._renderers``.
        """
        original = module.show

        @functools.wraps(original)
        def show(fig: Any, renderer: Any = None, validate: bool = True, **kwargs: Any) -> None:
            # No renderer is asked: they open browsers, start kaleido or print scripts.
            self.capture(fig, "show", validate, kwargs)

        _replace(module, "show", original, show)

    def attach_write_html(self, module: ModuleType) -> None:
        """Wrap ``plotly.io.write_html``.

        Args:
            module: ``plotly.io._html``.
        """
        original = module.write_html

        @functools.wraps(original)
        def write_html(fig: Any, file: Any, *args: Any, **kwargs: Any) -> None:
            opens = bool(kwargs.pop("auto_open", False))
            original(fig, file, *args, auto_open=False, **kwargs)
            if isinstance(file, (str, os.PathLike)) and not self._session.quiet:
                # auto_open asks to see the figure: that is plotly.offline.plot().
                self.capture(fig, "show" if opens else "savefig", False, kwargs)

        _replace(module, "write_html", original, write_html)

    def attach_renderers(self, module: ModuleType) -> None:
        """Keep renderers from displaying their scripts, as ``init_notebook_mode`` requests.

        Args:
            module: ``plotly.io._base_renderers``.
        """
        module.HtmlRenderer.activate = lambda self: None

    def attach_figure(self, module: ModuleType) -> None:
        """Display figures that are the value of a cell.

        Args:
            module: ``plotly.basedatatypes``.
        """
        self._session.handlers[module.BaseFigure] = self.display

    def display(self, figure: Any, include: Any, exclude: Any) -> Bundle:
        """Publish a figure that IPython displays.

        Args:
            figure: The figure.
            include: Ignored: the bundle is always whole.
            exclude: Ignored likewise.

        Returns:
            An empty bundle.
        """
        self.capture(figure, "show", True, {})
        return {}, {}


def _add_chart(content: dict[str, Any], data: dict[str, Any]) -> None:
    """Add the chart record to the bundle; a figure that cannot be read is published without."""
    from .charts.plotly.figure import plotly_chart
    from .charts.record import CHART_MIME

    try:
        chart = plotly_chart(content)
    except Exception:  # noqa: BLE001 - figures are dicts of the user, with anything in them
        return
    if chart is not None:
        data[CHART_MIME] = chart


def _replace(
    module: ModuleType, name: str, original: Callable[..., Any], new: Callable[..., Any]
) -> None:
    setattr(module, name, new)
    package = sys.modules.get("plotly.io")
    # plotly.io looks names up lazily; an import before us may have stored the old function.
    if package is not None and vars(package).get(name) is original:
        setattr(package, name, new)


def install(session: Session) -> None:
    """Capture plots of plotly.

    Args:
        session: The session of the shell.
    """
    capture = PlotlyCapture(session)
    on_import("plotly.basedatatypes", capture.attach_figure)
    on_import("plotly.io._base_renderers", capture.attach_renderers)
    on_import("plotly.io._renderers", capture.attach_show)
    on_import("plotly.io._html", capture.attach_write_html)
