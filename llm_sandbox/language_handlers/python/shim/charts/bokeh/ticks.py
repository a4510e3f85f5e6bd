"""What bokeh writes at the ticks of an axis."""

from __future__ import annotations

from typing import Any

from .columns import kind_of

__all__ = ["names_of", "ticks_of", "unread_labels"]


def names_of(axis: Any) -> dict[Any, str]:
    """Return the texts that stand for positions or categories of an axis."""
    known = getattr(axis, "major_label_overrides", None) or {}
    return {place: text for place, label in known.items() if (text := _text(label))}


def ticks_of(axis: Any) -> tuple[list[Any], list[str]]:
    """Return the ticks that are set one by one, and what is written there if that is known."""
    names = names_of(axis)
    ticker: Any = getattr(axis, "ticker", None)
    ticks = list(ticker.ticks) if kind_of(ticker) == "FixedTicker" else list(names)
    return ticks, [names.get(tick, str(tick)) for tick in ticks] if names else []


def unread_labels(axis: Any, name: str) -> list[str]:
    """Say where a program of JavaScript writes the labels, which is not run here."""
    formatter = kind_of(getattr(axis, "formatter", None))
    if formatter in ("CustomJSTickFormatter", "FuncTickFormatter"):
        return [f"the labels of the {name} axis, which JavaScript writes"]
    return []


def _text(label: Any) -> str | None:
    text = getattr(label, "text", label)
    return text if isinstance(text, str) and text else None
