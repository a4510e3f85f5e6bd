"""Reader of a matplotlib figure: chart record."""

from __future__ import annotations

import sys
from typing import Any

from .. import record
from .panel import read_panel


def read_figure(figure: Any) -> record.Record | None:
    """Read a figure that has just been drawn.

    Args:
        figure: The figure; a subclass may raise anything.

    Returns:
        The finished record; ``None`` if there is nothing to read.
    """
    try:
        return _read(figure)
    except Exception:  # noqa: BLE001 - no chart rather than a broken run
        return None


def _read(figure: Any) -> record.Record | None:
    groups = _groups(figure)
    if not groups:
        return None
    legends = list(figure.legends)
    panels = []
    for group in groups[: record.PANEL_LIMIT]:
        try:
            panel = read_panel(group, legends)
        except Exception:  # noqa: BLE001, S112 - the other panels are still told
            continue
        panels.append((group[0], panel))
    filled = [
        (axes, panel)
        for axes, panel in panels
        if panel["series"] or panel["annotations"] or axes.axison or hasattr(axes, "zaxis")
    ]
    hidden = [panel for axes, panel in panels if all(axes is not other for other, _ in filled)]
    unread = [text for panel in hidden for text in panel["unread"]] + _frames(figure)
    title = _figure_title(figure)
    if len(filled) == 1:
        found = filled[0][1]
        found["title"] = found["title"] or record.text(title)
        found["unread"] += unread
        return record.finish(found)
    if not filled:
        return None
    for axes, panel in filled:
        panel["row"], panel["column"] = _cell(axes)
    libraries = [panel["library"] for _, panel in filled]
    library = next((name for name in libraries if name != "matplotlib"), "matplotlib")
    several = record.multi(library, [panel for _, panel in filled], title)
    several["unread"] += unread
    return record.finish(several)


def _frames(figure: Any) -> list[str]:
    """Note that a figure is animated: the record shows one of its frames."""
    module = sys.modules.get("matplotlib.animation")
    if module is None:
        return []
    listeners = figure.canvas.callbacks.callbacks.get("close_event", {}).values()
    owners = (getattr(reference(), "__self__", None) for reference in list(listeners))
    if any(isinstance(owner, module.Animation) for owner in owners):
        return ["the other frames of an animation"]
    return []


def _figure_title(figure: Any) -> str | None:
    found = getattr(figure, "_suptitle", None)
    return found.get_text() if found is not None else None


def _groups(figure: Any) -> list[list[Any]]:
    """Group axes into panels: axes at the same position belong together."""
    groups: list[list[Any]] = []
    known: dict[int, list[Any]] = {}
    queue = list(figure.axes)
    for axes in queue[: record.PANEL_LIMIT * 4]:
        queue += [child for child in axes.child_axes if hasattr(child, "transData")]
    for axes in queue[: record.PANEL_LIMIT * 4]:
        if id(axes) in known or _is_no_panel(axes):
            continue
        group = known.get(id(axes))
        siblings = axes._twinned_axes.get_siblings(axes)
        group = next((known[id(item)] for item in siblings if id(item) in known), None)
        if group is None:
            group = []
            groups.append(group)
        group.append(axes)
        known[id(axes)] = group
    return groups


def _is_no_panel(axes: Any) -> bool:
    if not axes.get_visible() or axes.get_label() == "<colorbar>":
        return True
    if hasattr(axes, "_colorbar") or "Secondary" in type(axes).__name__:
        return True
    return type(axes.get_axes_locator()).__name__ == "_ColorbarAxesLocator"


def _cell(axes: Any) -> tuple[int | None, int | None]:
    get = getattr(axes, "get_subplotspec", None)
    spec = get() if get is not None else None
    if spec is None:
        return None, None
    return int(spec.rowspan.start), int(spec.colspan.start)
