"""Chart: the data of a figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.charts.kinds import ChartKind, SeriesKind
from llm_sandbox.results.charts.series import Axis, Series, Value

__all__ = ["Annotation", "Chart", "Orientation", "Stacking"]

Orientation: TypeAlias = Literal["vertical", "horizontal"]
Stacking: TypeAlias = Literal["grouped", "stacked", "overlaid"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """Text in a chart."""

    text: str
    """Text of the annotation."""
    x: Value = None
    """Position, or the position it points at, in the units of the x axis; None when unknown."""
    y: Value = None
    """The same on the y axis."""


@dataclass(frozen=True, slots=True, repr=False)
class Chart:
    """Data of a figure.

    All of it was read inside the sandbox, beside the program, and is a claim.
    """

    kind: ChartKind
    """Kind of the chart; of a mixture, the kind of its first series."""
    library: str = ""
    """Library that drew it; empty when unknown."""
    title: str | None = None
    """Title as the program set it; None when it has none."""
    x: Axis | None = None
    """The horizontal axis; None when it has none, as in a pie."""
    y: Axis | None = None
    """The vertical axis; None when it has none."""
    y2: Axis | None = None
    """Second vertical axis, on the other side; None when it has none."""
    z: Axis | None = None
    """Third axis, or the colour scale; None when it has none."""
    orientation: Orientation | None = None
    """Orientation of bars, boxes and violins; None for other kinds."""
    stacking: Stacking | None = None
    """Arrangement of several series of bars or areas; None where it does not apply."""
    series: tuple[Series, ...] = ()
    """Series in drawing order; empty by default."""
    annotations: tuple[Annotation, ...] = ()
    """Annotations; empty by default."""
    charts: tuple["Chart", ...] = ()
    """Charts of a `multi`; empty for all other kinds."""
    row: int | None = None
    """Row in a grid of charts, from 0; None for a single chart."""
    column: int | None = None
    """Column in a grid of charts, from 0; None for a single chart."""
    more_axes: Mapping[str, Axis] = field(default_factory=dict)
    """Additional axes: `x2`, a second horizontal one, and `y3` onwards; empty by default."""
    unread: tuple[str, ...] = ()
    """Descriptions of what the figure shows and this data lacks, a phrase for each, such as `12
    shapes`; empty by default. A series of which only a part is kept records that itself; see
    `sampling`."""

    @property
    def panels(self) -> tuple["Chart", ...]:
        """Charts of a `multi`, else the chart itself."""
        return self.charts if self.kind is ChartKind.MULTI else (self,)

    @property
    def total_points(self) -> int:
        """Number of points drawn, in all series of all panels."""
        return sum(item.total for panel in self.panels for item in panel.series)

    @property
    def is_sampled(self) -> bool:
        """True if a series holds only a part of its points."""
        return any(item.sampling is not None for panel in self.panels for item in panel.series)

    @property
    def all_axes(self) -> Mapping[str, Axis]:
        """Axes by name, without those that the chart lacks."""
        axes = {"x": self.x, "y": self.y, "y2": self.y2, "z": self.z}
        return {name: axis for name, axis in axes.items() if axis is not None} | dict(
            self.more_axes
        )

    @property
    def all_unread(self) -> tuple[str, ...]:
        """`unread` of the chart and of its panels."""
        inner = self.charts if self.kind is ChartKind.MULTI else ()
        return (*self.unread, *(text for panel in inner for text in panel.unread))

    @property
    def name(self) -> str:
        """Title on one line, safe to print; empty when there is none."""
        return " ".join(strip_controls(self.title or "").split())

    def describe(self) -> str:
        """Return one line about the chart, such as `bar chart 'Sales', 3 series x 12 points, x:
        Month`.
        """
        parts = [f"{_noun(self)} {_quote(self.name)}" if self.name else _noun(self)]
        if self.kind is ChartKind.MULTI:
            names = [f"{_noun(c)} {_quote(c.name)}" if c.name else _noun(c) for c in self.charts]
            parts += names[:6] + [f"and {len(names) - 6} more"] * (len(names) > 6)
        else:
            parts.append(_sizes(self))
            axes = self.all_axes.items()
            parts += [f"{name}: {axis.name[:60]}" for name, axis in axes if axis.name]
        return ", ".join(part for part in [*parts, _unknown(self)] if part)

    def __repr__(self) -> str:
        title = f" {_quote(self.name)}" if self.name else ""
        if self.kind is ChartKind.MULTI:
            return f"<Chart multi{title}, {len(self.charts)} charts>"
        return f"<Chart {self.kind}{title}, {len(self.series)} series, {self.total_points} points>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        return {"text/plain": self.describe(), "text/markdown": self.to_markdown()}

    def to_vega_lite(self) -> dict[str, object]:
        """Return a Vega-Lite 6 specification of the chart, with its values inside.

        A kind that Vega-Lite lacks takes the nearest form: polar and three-dimensional charts are
        drawn in the plane, contours as a stepped heat map. Missing data is listed in `usermeta`.

        Raises:
            UnsupportedError: there is no such form, as for a map or a flow diagram.
        """
        from llm_sandbox.results.charts.vega_lite import to_vega_lite

        return to_vega_lite(self)

    def to_csv(self, *, safe: bool = True) -> str:
        """Return the points as CSV text: a row for each, with `series` as the first column.

        CSV cannot state which data is missing; see `unread`.

        Text is quoted where needed, lines end in a newline, a missing value is an empty cell, and
        a list in a cell, such as the outliers of a box, is JSON.

        Args:
            safe: Remove terminal control sequences from text, and put an apostrophe before text
                that a spreadsheet would run as a formula. Numbers are never changed.
        """
        from llm_sandbox.results.charts.csv_text import to_csv

        return to_csv(self, safe=safe)

    def to_markdown(self, max_rows: int = 20) -> str:
        """Return the chart as Markdown: title, axes, and tables of the values in eight digits.

        Args:
            max_rows: Most rows of a table; of a longer one head and tail are kept, with the number
                of omitted rows between them.

        Raises:
            ValidationError: `max_rows` is less than 2.
        """
        from llm_sandbox.results.charts.markdown import to_markdown

        return to_markdown(self, max_rows)

    def to_e2b(self) -> dict[str, object]:
        """Return the chart in the shape of `Result.chart` in E2B's SDK.

        That vocabulary has lines, scatters, bars, pies and boxes, and puts the categories of
        horizontal bars and boxes on x. Kinds it does not have become `unknown`, without elements.
        Missing data is described in an additional list `unread`, present only when it is not empty.
        """
        from llm_sandbox.results.charts.e2b import to_e2b

        return to_e2b(self)

    def to_dict(self) -> dict[str, object]:
        """Return the chart as JSON-able data; `from_dict` restores it."""
        from llm_sandbox.results.charts.record import to_record

        return to_record(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "Chart":
        """Return the chart that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` does not describe a chart.
        """
        from llm_sandbox.results.charts.record import UNBOUNDED, from_record

        chart = from_record(data, UNBOUNDED)
        if chart is None:
            raise ValidationError("the data does not describe a chart of a known version")
        return chart

    @classmethod
    def from_record(cls, record: object) -> "Chart | None":
        """Return the chart of a record from inside; None if the record does not describe one.

        Args:
            record: Anything that JSON can hold. At most 100 charts, 1,000 series and 50,000 values
                of it are kept, and 500 characters of a text.
        """
        from llm_sandbox.results.charts.record import from_record

        return from_record(record)


_NOUNS = {
    ChartKind.BOX: "box plot",
    ChartKind.VIOLIN: "violin plot",
    ChartKind.HISTOGRAM: "histogram",
    ChartKind.HEATMAP: "heatmap",
    ChartKind.IMAGE: "image",
    ChartKind.CONTOUR: "contour plot",
    ChartKind.ERRORBAR: "error bar chart",
    ChartKind.SCATTER3D: "3D scatter chart",
    ChartKind.LINE3D: "3D line chart",
    ChartKind.SURFACE3D: "3D surface",
    ChartKind.OTHER: "chart",
}
_UNITS = {
    SeriesKind.HISTOGRAM: "bins",
    SeriesKind.PIE: "slices",
    SeriesKind.BOX: "boxes",
    SeriesKind.VIOLIN: "violins",
    SeriesKind.HEATMAP: "cells",
    SeriesKind.IMAGE: "pixels",
    SeriesKind.CONTOUR: "cells",
    SeriesKind.SURFACE3D: "cells",
}


def _noun(chart: Chart) -> str:
    if chart.kind is ChartKind.MULTI:
        return f"{len(chart.charts)} charts"
    return _NOUNS.get(chart.kind, f"{chart.kind} chart")


def _quote(text: str) -> str:
    return f"'{text if len(text) <= 80 else text[:79] + '…'}'"


def _sizes(chart: Chart) -> str:
    items = [item for item in chart.series if item.kind is not SeriesKind.RULE]
    if not items:
        return "no series"
    counts = [item.total for item in items]
    alike = len({item.kind for item in items}) == 1
    unit = _UNITS.get(items[0].kind, "points") if alike else "points"
    if len(items) == 1:
        text = f"{counts[0]:,} {unit if counts[0] != 1 else _singular(unit)}"
    elif len(set(counts)) == 1:
        text = f"{len(items)} series x {counts[0]:,} {unit}"
    else:
        text = f"{len(items)} series, {sum(counts):,} {unit}"
    kept = sum(item.points for item in items)
    return f"{text} ({kept:,} kept)" if chart.is_sampled else text


def _unknown(chart: Chart) -> str:
    found = chart.all_unread
    if not found:
        return ""
    first = " ".join(strip_controls(found[0]).split())
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"not in its data: {first if len(first) <= 100 else first[:99] + '…'}{more}"


def _singular(unit: str) -> str:
    return "box" if unit == "boxes" else unit[:-1]
