"""One trace of a plotly figure, with its decoded columns and its axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import record
from ..colors import web_color
from .axes import Axis, names_of
from .values import clean_text, is_list, items, to_number

__all__ = ["Trace"]

Record = record.Record


@dataclass
class Trace:
    """Visible trace of a figure."""

    about: dict[str, Any]
    default_color: str | None
    x_axis: Axis = field(default_factory=lambda: Axis("x", {}))
    y_axis: Axis = field(default_factory=lambda: Axis("y", {}))
    slot: str = "y"
    """``y2`` if the vertical axis of the trace is the second one of its panel."""
    _decoded: dict[tuple[str, ...], list[Any] | None] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Type of the trace as plotly names it, without the suffix of WebGL variants."""
        kind = str(self.about.get("type") or "scatter")
        return kind[:-2] if kind in ("scattergl", "scatterpolargl", "heatmapgl") else kind

    @property
    def label(self) -> str | None:
        """Name in the legend."""
        return clean_text(self.about.get("name"))

    @property
    def horizontal(self) -> bool:
        """True if bars, boxes and histograms are horizontal."""
        orientation = self.about.get("orientation")
        if orientation in ("h", "v"):
            return bool(orientation == "h")
        lone = ("x", "y") if self.kind == "histogram" else ("y", "x")
        return self.get(lone[0]) is None and self.get(lone[1]) is not None

    @property
    def has_data(self) -> bool:
        """True if the trace has values to draw."""
        names = ("x", "y", "z", "values", "r", "theta", "lat", "lon", "locations", "source")
        return any(self.items(name) or isinstance(self.get(name), str) for name in names)

    def get(self, *path: str) -> Any:
        """Return a setting, or a nested setting."""
        value: Any = self.about
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def items(self, *path: str) -> list[Any] | None:
        """Return an array as a list."""
        if path not in self._decoded:
            self._decoded[path] = items(self.get(*path))
        return self._decoded[path]

    def raw(self, letter: str) -> list[Any] | None:
        """Return the values along an axis before conversion by the axis."""
        return names_of(self.items(letter))

    def nested(self, letter: str) -> bool:
        """Return whether an axis has two levels of categories."""
        values = self.items(letter)
        return bool(values and len(values) > 1 and all(is_list(part) for part in values[:2]))

    def positions(self, letter: str, length: int) -> list[Any]:
        """Return the values along an axis, counted if the trace has none."""
        axis = self.x_axis if letter == "x" else self.y_axis
        values = self.raw(letter)
        if values is not None:
            return axis.convert(values)[:length]
        first = self.get(f"{letter}0")
        start = axis.convert([first])[0] if first is not None else 0
        step = to_number(self.get(f"d{letter}"))
        step = 1 if step is None else step
        if isinstance(start, (int, float)):
            return [start + step * number for number in range(length)]
        return list(range(length))

    def points(self) -> tuple[list[Any], list[Any]]:
        """Return both columns of a trace of points."""
        lengths = [len(v) for v in (self.raw("x"), self.raw("y")) if v is not None]
        length = min(lengths, default=0)
        return self.positions("x", length), self.positions("y", length)

    def color(self, *paths: tuple[str, ...]) -> str | None:
        """Return the colour of the first setting that is a single colour, else the default."""
        for path in paths or (("marker", "color"), ("line", "color"), ("fillcolor",)):
            value = self.get(*path)
            if is_list(value):
                return None
            if value is not None:
                return web_color(value)
        return self.default_color

    def texts(self, length: int) -> list[str | None] | None:
        """Return the texts beside the points or on the bars, one per row.

        Texts that a template derives from the values are redundant and omitted.
        """
        mode = self.get("mode")
        drawn = "text" in str(mode) if self.kind.startswith("scatter") else True
        template = self.get("texttemplate")
        texts = self.items("text")
        if not drawn or texts is None or self.get("textposition") == "none":
            return None
        if template not in (None, "", "%{text}") or len(texts) < length:
            return None
        found = [clean_text(text) for text in texts[:length]]
        return found if any(found) else None

    def series(self, kind: str, columns: dict[str, Any], *paths: tuple[str, ...]) -> Record:
        """Return a series with the label, the colour and the axis of the trace."""
        return record.series(kind, columns, self.label, self.color(*paths), self.slot)
