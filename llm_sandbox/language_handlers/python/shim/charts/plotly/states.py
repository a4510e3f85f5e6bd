"""States of a plotly figure that appear only on interaction: frames, menus, sliders and hidden
traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .values import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .axes import Layout

__all__ = ["unread_states"]

_MOST = 10
_SHOWN = frozenset(
    ["x", "y", "z", "values", "labels", "r", "theta", "type", "value", "text", "lat", "lon"]
)
"""Settings of a trace that change its data, and not only its style."""


def unread_states(content: dict[str, Any], layout: Layout) -> list[str]:
    """Describe the states of a figure that the chart does not hold.

    Args:
        content: The figure as JSON values.
        layout: Layout of the figure.
    """
    found = []
    frames = [frame for frame in content.get("frames") or () if isinstance(frame, dict)]
    if frames:
        names = _listed(clean_text(frame.get("name")) for frame in frames)
        found.append(f"{_count(frames, 'frame')} of an animation, of which only its start{names}")
    traces = [trace for trace in content.get("data") or () if isinstance(trace, dict)]
    clicked = [trace for trace in traces if trace.get("visible") == "legendonly"]
    if clicked:
        found.append(f"{_count(clicked, 'series')} hidden in the legend{_names(clicked)}")
    hidden = [trace for trace in traces if trace.get("visible") is False]
    kinds = (("updatemenus", "buttons", "menu"), ("sliders", "steps", "slider"))
    for key, inner, word in kinds:
        choices = list(_choices(layout.get(key), inner))
        if hidden and any("visible" in changes for _, changes in choices):
            found.append(f"{_count(hidden, 'series')} that a {word} shows{_names(hidden)}")
            hidden = []
        changing = [label for label, changes in choices if _SHOWN & _first_words(changes)]
        if changing:
            found.append(f"what a {word} changes in the data{_listed(changing)}")
    return found


def _choices(controls: Any, inner: str) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield label and changes of each choice that changes traces."""
    for control in controls if isinstance(controls, list) else ():
        for choice in (control.get(inner) if isinstance(control, dict) else None) or ():
            args = choice.get("args") if isinstance(choice, dict) else None
            if not isinstance(args, list) or not args or not isinstance(args[0], dict):
                continue
            if choice.get("method", "restyle") in ("restyle", "update"):
                yield clean_text(choice.get("label")), args[0]


def _first_words(changes: dict[str, Any]) -> set[str]:
    return {str(key).partition(".")[0].partition("[")[0] for key in changes}


def _count(things: list[Any], word: str) -> str:
    many = word if word.endswith("s") or len(things) == 1 else f"{word}s"
    return f"{len(things)} {many}"


def _names(traces: list[dict[str, Any]]) -> str:
    return _listed(clean_text(trace.get("name")) for trace in traces)


def _listed(names: Iterable[str | None]) -> str:
    known = [name for name in names if name]
    if not known:
        return ""
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return f": {', '.join(known[:_MOST])}{more}"
