"""Series names from the legends of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..record import text
from .calls import handles_of
from .items import Item, color_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENTRY_LIMIT = 500


class Legend:
    """The legends that refer to one axes.

    Attributes:
        texts: All labels in their order.
        colors: Colours of the entries with their labels, where a colour stands for one label.
    """

    def __init__(self, legends: Iterable[Any]) -> None:
        self.texts: list[str] = []
        self.colors: list[tuple[str, str]] = []
        self._by_artist: dict[int, str] = {}
        for legend in legends:
            try:
                self._add(legend)
            except Exception:  # noqa: BLE001, S112 - labels are a bonus
                continue

    def _add(self, legend: Any) -> None:
        labels = [entry.get_text() for entry in legend.get_texts()][:_ENTRY_LIMIT]
        self.texts += labels
        for artist, label in _paired(handles_of(legend), labels):
            self._by_artist[id(artist)] = label
        handles = getattr(legend, "legend_handles", None) or getattr(legend, "legendHandles", [])
        for handle, label in zip(handles, labels, strict=False):
            found = color_of(handle) if handle is not None else None
            if found is not None and label and all(found != known for known, _ in self.colors):
                self.colors.append((found, label))

    def name(self, items: list[Item]) -> None:
        """Set the labels of items to those shown in the legend.

        Args:
            items: Series of the axes; their labels are changed.
        """
        used = set()
        for item in items:
            shown = self._by_artist.get(id(item.artist))
            if shown is not None:
                item.label = shown
            if item.label is not None:
                used.add(item.label)
        free = {color: label for color, label in self.colors if label not in used}
        for item in items:
            nameable = item.label is None and item.main and item.artist is not None
            if nameable and item.color in free:
                item.label = free[item.color or ""]

    def order(self, items: list[Item]) -> list[Item]:
        """Sort items in legend order.

        Args:
            items: Series of the axes.

        Returns:
            The sorted series, or the same if the legend does not list all of them.
        """
        places = {text(label): place for place, label in reversed(list(enumerate(self.texts)))}
        if not items or any(text(item.label) not in places for item in items if item.main):
            return items
        rest = len(places)
        return sorted(items, key=lambda item: places.get(text(item.label), rest))


def _paired(handles: list[tuple[Any, Any]], shown: list[str]) -> Iterable[tuple[Any, str]]:
    """Pair artists with the labels shown now, which the user may have changed."""
    given = [str(label) for _, label in handles]
    if given != shown and given == shown[::-1]:
        shown = given  # the legend lists its entries in reverse
    return zip((artist for artist, _ in handles), shown, strict=False)
