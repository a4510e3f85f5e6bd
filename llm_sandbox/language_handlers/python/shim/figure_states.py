"""Tracking of the states of matplotlib figures that were published already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    Redraw = Callable[[Any], int]


_MARGINS = ("left", "bottom", "right", "top", "wspace", "hspace")
_ROUNDING = 1e-12


@dataclass(slots=True)
class _State:
    cell: int
    content: int
    silent: list[Any]
    layout: dict[str, float]
    redraw: Redraw | None = None
    saved: bool = False
    modified: bool = False


class FigureStates:
    """Record of published figures, which detects when they change.

    matplotlib's own ``Figure.stale`` is of no use after the fact: rendering to a file leaves it
    set, and drawing to the canvas clears it although the user changed something. The same
    notifications are reliable if received only after the capture and only outside of drawing.
    """

    def __init__(self) -> None:
        self._states: WeakKeyDictionary[Any, _State] = WeakKeyDictionary()

    def remember(
        self,
        figure: Any,
        cell: int,
        content: int = 0,
        redraw: Redraw | None = None,
        saved: bool = False,
    ) -> None:
        """Record that the present state of a figure was published.

        Args:
            figure: The figure.
            cell: Number of the running cell.
            content: Fingerprint of what was published.
            redraw: Draws the figure the same way again and returns the fingerprint; it must not
                reference the figure.
            saved: Whether the figure was published as a file of the user.
        """
        self._states[figure] = _State(
            cell, content, _unnotified_state(figure), _layout(figure), redraw, saved
        )
        self._listen(figure)

    def same_picture(self, figure: Any, cell: int, saved: bool) -> bool:
        """Return whether a modified figure still looks as it did when it was published the other
        way.

        A saved file has other pixels than a display, so these cannot be compared: the figure is
        drawn again with the earlier options. Two files, or two displays, are compared by
        ``same_content`` without drawing again.

        Args:
            figure: The figure.
            cell: Number of the running cell.
            saved: Whether the figure is about to be published as a file of the user.

        Returns:
            Whether it was published in this cell and only seems modified, because of a reading
            call.
        """
        state = self._states.get(figure)
        if state is None or state.cell != cell or state.saved == saved or state.redraw is None:
            return False
        try:
            _restore_layout(figure, state.layout)
            same = state.redraw(figure) == state.content
        except Exception:  # noqa: BLE001 - artists raise anything; the capture itself reports it
            return False
        if same:
            self.refresh(figure)
        return same

    def same_content(self, figure: Any, cell: int, content: int) -> bool:
        """Return whether a figure that seems modified still looks the same.

        Args:
            figure: The figure.
            cell: Number of the running cell.
            content: Fingerprint of what would be published.

        Returns:
            Whether the same content was published in this cell.
        """
        state = self._states.get(figure)
        return state is not None and state.cell == cell and state.content == content

    def unchanged(self, figure: Any, cell: int | None = None) -> bool:
        """Return whether the present state of a figure was published already.

        Args:
            figure: The figure.
            cell: Number of a cell, to consider only what was published in it.

        Returns:
            Whether it was published.
        """
        state = self._states.get(figure)
        if state is None or (cell is not None and state.cell != cell):
            return False
        if not state.modified:
            state.modified = state.silent != _unnotified_state(figure)
        return not state.modified

    def refresh(self, figure: Any) -> None:
        """Mark a figure as unmodified again after it was written to a file.

        Args:
            figure: A figure that was unmodified before.
        """
        state = self._states.get(figure)
        if state is not None:
            self.remember(figure, state.cell, state.content, state.redraw, state.saved)

    def _listen(self, figure: Any) -> None:
        previous = figure.stale_callback
        if getattr(previous, "__self__", None) is self:
            return
        if previous is None:
            figure.stale_callback = self._on_stale
            return

        def both(changed: Any, value: bool) -> None:
            previous(changed, value)
            self._on_stale(changed, value)

        both.__dict__["__self__"] = self
        figure.stale_callback = both

    def _on_stale(self, figure: Any, value: bool) -> None:
        state = self._states.get(figure)
        if state is not None and not state.modified and not _drawing(figure):
            state.modified = True


def _drawing(figure: Any) -> bool:
    lock = getattr(figure, "_render_lock", None)
    owned = getattr(lock, "_is_owned", None)
    # Without the lock of newer matplotlib a draw looks like a change; the fingerprint of what
    # would leave then still finds it equal.
    return bool(owned()) if owned is not None else False


def _layout(figure: Any) -> dict[str, float]:
    return {name: float(getattr(figure.subplotpars, name)) for name in _MARGINS}


def _restore_layout(figure: Any, before: dict[str, float]) -> None:
    """Restore the earlier layout if it differs only by rounding: a second ``tight_layout`` may move
    an edge to the next pixel.
    """
    now = _layout(figure)
    if now != before and all(abs(now[name] - before[name]) < _ROUNDING for name in now):
        figure.subplots_adjust(**before)


def _unnotified_state(figure: Any) -> list[Any]:
    """Return state that changes without a notification: axis labels, table cells, 3D views."""
    found: list[Any] = []
    for axes in figure.axes:
        found.append([getattr(axes, name, None) for name in ("elev", "azim", "roll")])
        for axis in (axes.xaxis, axes.yaxis, getattr(axes, "zaxis", None)):
            if axis is not None:
                label = axis.label
                font = repr((label.get_color(), label.get_fontsize(), label.get_visible()))
                found.append((label.get_text(), font))
        for table in axes.tables:
            cells = table.get_celld().values()
            found.append([(cell.get_text().get_text(), cell.get_facecolor()) for cell in cells])
    return found
