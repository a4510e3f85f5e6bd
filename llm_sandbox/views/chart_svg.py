"""Chart drawn from its data as a static SVG, for figures that need scripts to be drawn."""

import html
import itertools
import math
import re
from collections.abc import Iterator, Sequence

from llm_sandbox.results.charts import Chart, ChartKind, Series, SeriesKind, Value
from llm_sandbox.views.chart_axes import Placement, numbers
from llm_sandbox.views.sanitize import one_line

__all__ = ["chart_svg"]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 16, 34, 52
_COLOURS = ("#2563a8", "#d9772b", "#3f8f5b", "#b4434a", "#7a5ea8", "#8a6a4f", "#c7689c", "#5f6b76")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_MOST_POINTS = 4000
_MOST_CELLS = 4000
_MOST_PANELS = 12
_MOST_SERIES = 40
_DRAWN = frozenset(
    {
        SeriesKind.LINE,
        SeriesKind.STEP,
        SeriesKind.AREA,
        SeriesKind.SCATTER,
        SeriesKind.BAR,
        SeriesKind.HISTOGRAM,
        SeriesKind.BOX,
        SeriesKind.ERRORBAR,
        SeriesKind.RULE,
    }
)


def chart_svg(chart: Chart) -> str | None:
    """Return an SVG element of a chart; None when its kind is not supported.

    Args:
        chart: The chart; its texts and values come from inside.
    """
    panels = [panel for panel in chart.panels if _can_draw(panel)][:_MOST_PANELS]
    if not panels:
        return None
    columns = 1 if len(panels) == 1 else 2
    rows = -(-len(panels) // columns)
    body = []
    for place, panel in enumerate(panels):
        x, y = place % columns * _WIDTH, place // columns * _HEIGHT
        drawn = "".join(_panel(panel))
        body.append(f'<g transform="translate({x} {y})">{drawn}</g>')
    size = f'viewBox="0 0 {columns * _WIDTH} {rows * _HEIGHT}"'
    title = _text(chart.describe(), 200)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" {size} '
        f'font-family="sans-serif" font-size="12"><title>{title}</title>{"".join(body)}</svg>'
    )


def _can_draw(chart: Chart) -> bool:
    if chart.kind in (ChartKind.PIE, ChartKind.HEATMAP):
        return bool(chart.series)
    if chart.kind is ChartKind.POLAR:
        return False
    return any(series.kind in _DRAWN and series.columns for series in chart.series)


def _panel(chart: Chart) -> Iterator[str]:
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
    if chart.title:
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        yield _label(middle, 20, chart.title, "middle", 'font-weight="bold"')
    if chart.kind is ChartKind.PIE:
        yield from _pie(chart)
    elif chart.kind is ChartKind.HEATMAP:
        yield from _heatmap(chart)
    else:
        yield from _Plane(chart).draw()


def _text(text: str, longest: int = 60) -> str:
    # trust: text from inside; it is escaped, so that it stays text.
    return html.escape(one_line(text, longest))


def _label(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="#222222" {more}>{_text(text)}</text>'


def _colour(series: Series, place: int) -> str:
    # trust: a colour from inside ends up in an attribute.
    if series.color and _COLOUR.fullmatch(series.color):
        return series.color
    return _COLOURS[place % len(_COLOURS)]


def _axis_marks(chart: Chart, across: Placement, up: Placement) -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for x, text in across.ticks():
        yield f'<path d="M{x:.1f} {bottom}v5" stroke="#444444"/>'
        yield _label(x, bottom + 18, text[:14], "middle")
    for y, text in up.ticks():
        yield f'<path d="M{_LEFT - 5} {y:.1f}h5" stroke="#444444"/>'
        yield f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>'
        yield _label(_LEFT - 8, y + 4, text[:10], "end")
    yield f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#444444"/>'
    if chart.x is not None and chart.x.label:
        yield _label((_LEFT + right) / 2, _HEIGHT - 12, chart.x.label, "middle")
    if chart.y is not None and chart.y.label:
        middle = (_TOP + bottom) / 2
        turned = f'transform="rotate(-90 14 {middle})"'
        yield _label(14, middle, chart.y.label, "middle", turned)


class _Plane:
    """Chart with two straight axes."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart
        self._series = [s for s in chart.series if s.kind in _DRAWN and s.columns][:_MOST_SERIES]
        self._flat = chart.orientation == "horizontal"
        bars = {SeriesKind.BAR, SeriesKind.HISTOGRAM, SeriesKind.BOX}
        self._has_bars = any(series.kind in bars for series in self._series)
        xs, ys = self._values()
        zero_x = self._has_bars and self._flat
        zero_y = self._has_bars and not self._flat
        if any(series.kind is SeriesKind.BOX for series in self._series):
            zero_x = zero_y = False
        areas = any(series.kind is SeriesKind.AREA for series in self._series)
        self._across = Placement(xs, chart.x, _LEFT, _WIDTH - _RIGHT, pad=zero_y, zero=zero_x)
        self._up = Placement(ys, chart.y, _HEIGHT - _BOTTOM, _TOP, pad=zero_x, zero=zero_y or areas)

    def _values(self) -> tuple[list[Value], list[Value]]:
        xs: list[Value] = []
        ys: list[Value] = []
        totals: dict[Value, float] = {}
        for series in self._series:
            get = series.columns.get
            if series.kind is SeriesKind.HISTOGRAM:
                (ys if self._flat else xs).extend((*get("start", ()), *get("end", ())))
                (xs if self._flat else ys).extend(get("count", ()))
            elif series.kind is SeriesKind.BOX:
                (ys if self._flat else xs).extend(get("label", ()))
                for name in (
                    "min",
                    "max",
                    *(("outliers",) if "outliers" in series.columns else ()),
                ):
                    for value in get(name, ()):
                        inner = value if isinstance(value, tuple) else (value,)
                        (xs if self._flat else ys).extend(inner)
            else:
                for name in ("x", "x_low", "x_high", "x_base"):
                    xs.extend(get(name, ()))
                ys.extend(self._tops(series))
                for name in ("y_low", "y_high", "y_base", "base"):
                    ys.extend(get(name, ()))
            if series.kind is SeriesKind.BAR:
                where, how_much = ("y", "x") if self._flat else ("x", "y")
                bases = numbers(get("base", ()))
                for i, (name, size) in enumerate(
                    zip(get(where, ()), numbers(get(how_much, ())), strict=False)
                ):
                    base = bases[i] if i < len(bases) else None
                    totals[name] = max(totals.get(name, 0.0), (base or 0.0) + (size or 0.0))
        (xs if self._flat else ys).extend(totals.values())
        return xs, ys

    def draw(self) -> Iterator[str]:
        yield from _axis_marks(self._chart, self._across, self._up)
        bars = [s for s in self._series if s.kind is SeriesKind.BAR]
        for place, series in enumerate(self._series):
            colour = _colour(series, place)
            if series.kind is SeriesKind.BAR:
                yield from self._bars(series, colour, bars.index(series), len(bars))
            elif series.kind is SeriesKind.HISTOGRAM:
                yield from self._bins(series, colour)
            elif series.kind is SeriesKind.BOX:
                yield from self._boxes(series, colour)
            elif series.kind is SeriesKind.SCATTER:
                yield from self._dots(series, colour)
            elif series.kind is SeriesKind.RULE:
                yield from self._rule(series, colour)
            else:
                yield from self._line(series, colour)
        named = [(p, s) for p, s in enumerate(self._series) if s.label][:8]
        if len(named) > 1:
            for row, (place, series) in enumerate(named):
                y = _TOP + 8 + 16 * row
                fill = _colour(series, place)
                yield f'<rect x="{_WIDTH - 150}" y="{y}" width="10" height="10" fill="{fill}"/>'
                yield _label(_WIDTH - 136, y + 9, (series.label or "")[:20])

    def _tops(self, series: Series) -> Sequence[Value]:
        """Return the upper edges of points: base plus value for a stacked layer."""
        ys, base = series.columns.get("y", ()), numbers(series.columns.get("y_base", ()))
        if self._chart.stacking != "stacked" or series.kind is not SeriesKind.AREA or not base:
            return ys
        pairs = zip(numbers(ys), base, strict=False)
        return [None if y is None or low is None else y + low for y, low in pairs]

    def _points(self, series: Series, y: str = "y") -> list[tuple[float, float] | None]:
        xs, ys = series.columns.get("x", ()), series.columns.get(y, ())
        if y == "y":
            ys = self._tops(series)
        every = max(1, len(xs) // _MOST_POINTS)
        points: list[tuple[float, float] | None] = []
        for x, value in list(zip(xs, ys, strict=False))[::every]:
            across, up = self._across.place(x), self._up.place(value)
            points.append(None if across is None or up is None else (across, up))
        return points

    def _line(self, series: Series, colour: str) -> Iterator[str]:
        points = self._points(series)
        known = [point for point in points if point is not None]
        if series.kind is SeriesKind.AREA and known:
            base = [p for p in self._points(series, "y_base") if p is not None]
            zero = self._up.place(0) if "y_base" not in series.columns else None
            floor = zero if zero is not None else _HEIGHT - _BOTTOM
            lower = base or [(known[0][0], floor), (known[-1][0], floor)]
            outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*known, *reversed(lower)))
            yield f'<polygon points="{outline}" fill="{colour}" fill-opacity="0.3"/>'
        path, pen = [], "M"
        before: tuple[float, float] | None = None
        for point in points:
            if point is None:
                pen, before = "M", None
                continue
            if series.kind is SeriesKind.STEP and before is not None:
                path.append(f"L{point[0]:.1f} {before[1]:.1f}")
            path.append(f"{pen}{point[0]:.1f} {point[1]:.1f}")
            pen, before = "L", point
        yield f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        if series.kind is SeriesKind.ERRORBAR:
            lows, highs = self._points(series, "y_low"), self._points(series, "y_high")
            for low, high in zip(lows, highs, strict=False):
                if low and high:
                    ends = f"M{low[0]:.1f} {low[1]:.1f}V{high[1]:.1f}"
                    yield f'<path d="{ends}" stroke="{colour}"/>'

    def _dots(self, series: Series, colour: str) -> Iterator[str]:
        for point in self._points(series):
            if point is not None:
                place = f'cx="{point[0]:.1f}" cy="{point[1]:.1f}"'
                yield f'<circle {place} r="3" fill="{colour}" fill-opacity="0.75"/>'

    def _rule(self, series: Series, colour: str) -> Iterator[str]:
        dashed = f'stroke="{colour}" stroke-dasharray="5 4"'
        for value in series.columns.get("x", ())[:1]:
            x = self._across.place(value)
            if x is not None:
                yield f'<path d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" {dashed}/>'
        for value in series.columns.get("y", ())[:1]:
            y = self._up.place(value)
            if y is not None:
                yield f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" {dashed}/>'

    def _bars(self, series: Series, colour: str, number: int, count: int) -> Iterator[str]:
        names, sizes = ("y", "x") if self._flat else ("x", "y")
        along, lengthwise = (self._up, self._across) if self._flat else (self._across, self._up)
        bases = numbers(series.columns.get("base", ()))
        where = series.columns.get(names, ())[:_MOST_POINTS]
        grouped = count > 1 and self._chart.stacking == "grouped"
        width = self._bar_width(along, where)
        offset = (number - (count - 1) / 2) * width / count if grouped else 0.0
        width = width / count if grouped else width
        for place, name in enumerate(where):
            size = next(iter(numbers(series.columns.get(sizes, ())[place : place + 1])), None)
            if size is None:
                continue
            base = bases[place] if place < len(bases) else None
            start, end = lengthwise.place(base or 0.0), lengthwise.place((base or 0.0) + size)
            middle = along.place(name)
            if start is not None and end is not None and middle is not None:
                yield self._box(middle + offset - width / 2, width, start, end, colour)

    def _bar_width(self, along: Placement, where: Sequence[Value]) -> float:
        if along.kind == "category":
            return along.step * 0.8
        placed = sorted({x for x in map(along.place, where) if x is not None})
        gaps = [b - a for a, b in itertools.pairwise(placed)]
        return max(1.0, min(gaps) * 0.8) if gaps else 40.0

    def _bins(self, series: Series, colour: str) -> Iterator[str]:
        along, lengthwise = (self._up, self._across) if self._flat else (self._across, self._up)
        columns = [series.columns.get(name, ()) for name in ("start", "end", "count")]
        floor = lengthwise.place(0)
        for start, end, count in list(zip(*columns, strict=False))[:_MOST_POINTS]:
            first, last, top = along.place(start), along.place(end), lengthwise.place(count)
            if first is None or last is None or top is None or floor is None:
                continue
            yield self._box(min(first, last), abs(last - first), floor, top, colour)

    def _box(self, at: float, width: float, start: float, end: float, colour: str) -> str:
        low, size = min(start, end), abs(end - start)
        x, y, w, h = (low, at, size, width) if self._flat else (at, low, width, size)
        place = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"'
        return f'<rect {place} fill="{colour}" fill-opacity="0.85" stroke="#ffffff"/>'

    def _boxes(self, series: Series, colour: str) -> Iterator[str]:
        along, lengthwise = (self._up, self._across) if self._flat else (self._across, self._up)
        names = ("label", "min", "q1", "median", "q3", "max")
        columns = [series.columns.get(name, ()) for name in names]
        width = self._bar_width(along, columns[0]) * 0.6
        for name, *values in list(zip(*columns, strict=False))[:200]:
            middle = along.place(name)
            low, first, median, third, high = (lengthwise.place(value) for value in values)
            if None in (middle, low, first, median, third, high):
                continue
            assert middle is not None  # noqa: S101 - narrows
            assert first is not None  # noqa: S101
            assert third is not None  # noqa: S101
            yield self._stroke(middle, low, high, colour)
            yield self._box(middle - width / 2, width, first, third, colour)
            ends = (middle - width / 2, middle + width / 2)
            yield self._stroke_across(ends, median)

    def _stroke(self, at: float, low: float | None, high: float | None, colour: str) -> str:
        path = (
            f"M{low:.1f} {at:.1f}H{high:.1f}" if self._flat else f"M{at:.1f} {low:.1f}V{high:.1f}"
        )
        return f'<path d="{path}" stroke="{colour}"/>'

    def _stroke_across(self, ends: tuple[float, float], at: float | None) -> str:
        first, last = ends
        path = (
            f"M{at:.1f} {first:.1f}V{last:.1f}"
            if self._flat
            else f"M{first:.1f} {at:.1f}H{last:.1f}"
        )
        return f'<path d="{path}" stroke="#111111" stroke-width="2"/>'


def _pie(chart: Chart) -> Iterator[str]:
    series = chart.series[0]
    sizes = [max(0.0, size or 0.0) for size in numbers(series.columns.get("value", ()))][:60]
    labels = series.columns.get("label", ())
    total = sum(sizes)
    if not total > 0:
        return
    x, y, radius = 240.0, 215.0, 150.0
    angle = -math.pi / 2
    for place, size in enumerate(sizes):
        turn = 2 * math.pi * size / total
        colour = _COLOURS[place % len(_COLOURS)]
        if turn > 2 * math.pi - 1e-6:
            yield f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>'
        else:
            ends = [
                (x + radius * math.cos(a), y + radius * math.sin(a)) for a in (angle, angle + turn)
            ]
            arc = f"A{radius} {radius} 0 {int(turn > math.pi)} 1 {ends[1][0]:.1f} {ends[1][1]:.1f}"
            path = f"M{x} {y}L{ends[0][0]:.1f} {ends[0][1]:.1f}{arc}Z"
            yield f'<path d="{path}" fill="{colour}" stroke="#ffffff"/>'
        angle += turn
        if place < 16:
            row = 70 + 20 * place
            yield f'<rect x="430" y="{row}" width="10" height="10" fill="{colour}"/>'
            name = str(labels[place]) if place < len(labels) else ""
            yield _label(446, row + 9, f"{name[:18]} {100 * size / total:.1f} %")


def _heatmap(chart: Chart) -> Iterator[str]:
    series = chart.series[0]
    rows = [row for row in series.columns.get("z", ()) if isinstance(row, tuple)]
    widest = max((len(row) for row in rows), default=0)
    if not widest or len(rows) * widest > _MOST_CELLS:
        return
    grid = [numbers(row) for row in rows]
    known = [value for row in grid for value in row if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    names = [str(x) for x in series.columns.get("x", ())] or [str(i) for i in range(widest)]
    sides = [str(y) for y in series.columns.get("y", ())] or [str(i) for i in range(len(rows))]
    width = (_WIDTH - _LEFT - _RIGHT) / widest
    height = (_HEIGHT - _TOP - _BOTTOM) / len(rows)
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            part = 0.0 if value is None or high == low else (value - low) / (high - low)
            shade = "#f2f2f2" if value is None else _shade(part)
            place = f'x="{_LEFT + j * width:.1f}" y="{_TOP + i * height:.1f}"'
            yield f'<rect {place} width="{width:.1f}" height="{height:.1f}" fill="{shade}"/>'
    every = -(-widest // 10)
    for j, name in list(enumerate(names[:widest]))[::every]:
        yield _label(_LEFT + (j + 0.5) * width, _HEIGHT - _BOTTOM + 18, name[:12], "middle")
    every = -(-len(rows) // 15)
    for i, name in list(enumerate(sides[: len(rows)]))[::every]:
        yield _label(_LEFT - 8, _TOP + (i + 0.5) * height + 4, name[:10], "end")


def _shade(part: float) -> str:
    light, dark = (247, 250, 252), (20, 66, 122)
    mixed = (round(a + (b - a) * part) for a, b in zip(light, dark, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)
