"""Which state of a matplotlib figure has left already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary


@dataclass(slots=True)
class _State:
    cell: int
    content: int
    silent: list[Any]
    modified: bool = False


class FigureStates:
    """Remembers captured figures and notices when they change.

    matplotlib's own ``Figure.stale`` is of no use after the fact: rendering to a file leaves it
    set, and drawing to the canvas clears it although the user changed something. The same
    notifications, heard only from the capture on and only outside of drawing, tell the truth.
    """

    def __init__(self) -> None:
        self._states: WeakKeyDictionary[Any, _State] = WeakKeyDictionary()

    def remember(self, figure: Any, cell: int, content: int = 0) -> None:
        """Note that the present state of a figure has left.

        Args:
            figure: The figure.
            cell: Number of the running cell.
            content: Fingerprint of what left.
        """
        self._states[figure] = _State(cell, content, _silent(figure))
        self._listen(figure)

    def same_content(self, figure: Any, cell: int, content: int) -> bool:
        """Tell whether a figure that seems modified still looks the same.

        Args:
            figure: The figure.
            cell: Number of the running cell.
            content: Fingerprint of what would leave.

        Returns:
            Whether the same content left in this cell.
        """
        state = self._states.get(figure)
        return state is not None and state.cell == cell and state.content == content

    def unchanged(self, figure: Any, cell: int | None = None) -> bool:
        """Tell whether the present state of a figure has left already.

        Args:
            figure: The figure.
            cell: Count only what left in this cell.

        Returns:
            Whether it has.
        """
        state = self._states.get(figure)
        if state is None or (cell is not None and state.cell != cell):
            return False
        if not state.modified:
            state.modified = state.silent != _silent(figure)
        return not state.modified

    def refresh(self, figure: Any) -> None:
        """Take a figure as unmodified again after it was written to a file.

        Args:
            figure: A figure that was unmodified before.
        """
        state = self._states.get(figure)
        if state is not None:
            self.remember(figure, state.cell, state.content)

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


def _silent(figure: Any) -> list[Any]:
    """Collect what changes without a notification: axis labels, table cells, 3D views."""
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
