"""Capture of matplotlib figures (seaborn draws them too): displayed, saved, or open when a cell
ends.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from . import figure_render
from .figure_states import FigureStates
from .session import Bundle, Session, plot_metadata, report

if TYPE_CHECKING:
    from collections.abc import Callable

_SOURCE = "matplotlib"


class MatplotlibCapture:
    """Capture of matplotlib for one session.

    Attributes:
        session: The session that figures are published to.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._states = FigureStates()
        # Figures that show() closed in this cell, with their numbers: shown again if modified.
        self._shown: list[tuple[int, Any]] = []

    def capture(self, figure: Any, event: str) -> None:
        """Publish a figure unless its present state was published already.

        Args:
            figure: The figure.
            event: Event that publishes the figure.
        """
        cell = self.session.cell
        # A figure that was kept open is news at the end of a later cell only if it changed.
        if self._states.unchanged(figure, None if event == "cell_end" else cell):
            return
        if event == "cell_end" and figure_render.is_empty(figure):
            return
        if self._states.same_picture(figure, cell, saved=False):
            return
        bundle = self._draw(figure)
        if bundle is not None:
            self._send(figure, bundle, event)

    def display(self, figure: Any, include: Any, exclude: Any) -> Bundle:
        """Format a figure that is displayed or is the value of a cell.

        Args:
            figure: The figure.
            include: MIME types to keep, or nothing to keep all.
            exclude: MIME types to omit.

        Returns:
            The bundle, empty if this state of the figure was captured in this cell.
        """
        if self._states.unchanged(figure, self.session.cell):
            return {}, {}
        if self._states.same_picture(figure, self.session.cell, saved=False):
            return {}, {}
        bundle = self._draw(figure)
        if bundle is None:
            return {"text/plain": repr(figure)}, {}
        data, metadata = bundle
        self._states.remember(
            figure, self.session.cell, figure_render.fingerprint(data), self._redraw
        )
        figure_render.add_chart(figure, data)
        data = {
            mime: content
            for mime, content in data.items()
            if (not include or mime in include) and (not exclude or mime not in exclude)
        }
        return data, {**metadata, **plot_metadata(_SOURCE, "show")}

    def show(self, close: bool | None = None, block: bool | None = None) -> None:
        """Emulate ``plt.show()`` for every backend.

        Args:
            close: Whether to close the figures; by default as the inline backend is configured.
            block: ``False`` leaves the figures open, as with windows.
        """
        opened = _open_figures()
        again = [
            (number, figure) for number, figure in self._shown if not self._states.unchanged(figure)
        ]
        for _, figure in sorted(opened + again, key=lambda item: item[0]):
            self.capture(figure, "show")
        if close is None:
            close = block is not False and _closes_figures()
        if close and opened:
            self._shown += opened
            _close_all()

    def save(
        self, original: Callable[..., Any], figure: Any, target: Any, options: dict[str, Any]
    ) -> Any:
        """Save a figure for the user and publish the saved file.

        Args:
            original: ``Figure.savefig`` of matplotlib.
            figure: The figure.
            target: A path, a file object or another target that matplotlib accepts.
            options: Other arguments of the user.

        Returns:
            The return value of matplotlib.
        """
        if self.session.quiet:
            return original(figure, target, **options)
        cell = self.session.cell
        if self._states.unchanged(figure, cell) or self._states.same_picture(figure, cell, True):
            result = original(figure, target, **options)
            self._states.refresh(figure)
            return result
        name = figure_render.saved_format(figure, target, options)
        mime = figure_render.mime_of(name)
        content: bytes | None = None
        if isinstance(target, (str, bytes, os.PathLike)):
            result = original(figure, target, **options)
            if mime is not None:
                content = figure_render.read_back(target, "" if options.get("format") else name)
        elif mime is not None and hasattr(target, "write"):
            buffer = io.BytesIO()
            result = original(figure, buffer, **{**options, "format": name})
            content = buffer.getvalue()
            _write(target, content)
        else:
            result = original(figure, target, **options)
        self._publish_saved(original, figure, options, mime, content)
        return result

    def _publish_saved(
        self,
        original: Callable[..., Any],
        figure: Any,
        options: dict[str, Any],
        mime: str | None,
        content: bytes | None,
    ) -> None:
        if mime is None or not content or len(content) > figure_render.READ_LIMIT:
            mime = "image/png"
            buffer = io.BytesIO()
            try:
                original(figure, buffer, format="png", **figure_render.png_options(options))
            except Exception as error:  # noqa: BLE001 - artists raise anything
                report("saved figure could not be drawn as PNG", error)
                return
            content = buffer.getvalue()
        data = {mime: figure_render.encode(mime, content), "text/plain": repr(figure)}
        redraw = None
        if "bbox_extra_artists" not in options:  # they would keep the figure alive
            redraw = functools.partial(figure_render.save_again, original, mime, dict(options))
        self._send(figure, (data, {}), "savefig", redraw)

    def cell_end(self) -> None:
        """Publish and close the figures that are still open, then begin the next cell."""
        try:
            opened = _open_figures()
            for _, figure in opened:
                self.capture(figure, "cell_end")
            if opened and _closes_figures():
                _close_all()
        except Exception as error:  # noqa: BLE001 - artists raise anything
            report("figures could not be captured", error)
        finally:
            _forget_queue()
            self._shown.clear()
            self.session.cell += 1

    def _draw(self, figure: Any) -> Bundle | None:
        try:
            return figure_render.render(self.session.shell, figure)
        except Exception as error:  # noqa: BLE001 - artists raise anything
            report(f"{figure!r} could not be drawn", error)
            # Once is enough: the same failure would be reported again when the cell ends.
            self._states.remember(figure, self.session.cell)
            return None

    def _redraw(self, figure: Any) -> int:
        return figure_render.fingerprint(figure_render.render(self.session.shell, figure)[0])

    def _send(
        self, figure: Any, bundle: Bundle, event: str, redraw: Callable[[Any], int] | None = None
    ) -> None:
        data, metadata = bundle
        content = figure_render.fingerprint(data)
        cell = self.session.cell
        known = self._states.same_content(figure, cell, content)
        saved = event == "savefig"
        self._states.remember(figure, cell, content, redraw if saved else self._redraw, saved)
        if not known:
            figure_render.add_chart(figure, data)
            self.session.publish(data, metadata, _SOURCE, event)


def _write(target: Any, content: bytes) -> None:
    from matplotlib.cbook import file_requires_unicode

    target.write(content.decode("utf-8") if file_requires_unicode(target) else content)


def _open_figures() -> list[tuple[int, Any]]:
    module = sys.modules.get("matplotlib._pylab_helpers")
    if module is None:
        return []
    managers = sorted(module.Gcf.get_all_fig_managers(), key=lambda manager: int(manager.num))
    return [(int(manager.num), manager.canvas.figure) for manager in managers]


def _closes_figures() -> bool:
    module = sys.modules.get("matplotlib_inline.config")
    settings = getattr(module, "InlineBackend", None)
    if settings is None or not settings.initialized():
        return True
    return bool(settings.instance().close_figures)


def _forget_queue() -> None:
    """Empty the queue of the inline backend, which displays it when a cell ends."""
    module = sys.modules.get("matplotlib_inline.backend_inline")
    if module is not None:
        module.show._to_draw = []
        module.show._draw_called = False


def _close_all() -> None:
    sys.modules["matplotlib._pylab_helpers"].Gcf.destroy_all()
