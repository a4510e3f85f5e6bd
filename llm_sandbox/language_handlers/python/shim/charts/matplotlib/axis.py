"""Reader of one axis of a panel: its record, and the meaning of positions on it."""

from __future__ import annotations

import datetime
import re
import sys
from typing import Any

from .. import record
from .calls import calls_of

_SCALES = ("linear", "log", "symlog", "logit")
_LOCAL_LIMIT = 20_000
_PERIOD_LIMIT = 100_000
_NEAR = 1e-9
_AMOUNT = re.compile("([-\N{MINUS SIGN}]?)[$€£¥]\\s?(\\d[\\d,]*\\.?\\d*)\\s?(|k|m|b)\\Z", re.I)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Seconds per unit in which pandas draws durations."""
_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}


class AxisReader:
    """Reader of a matplotlib axis after drawing.

    Attributes:
        kind: ``category``, ``datetime``, ``period``, ``duration`` or ``number``.
        named: Whether positions are returned as tick labels.
        computed: Whether tick labels come from a function rather than a list.
    """

    def __init__(self, axis: Any) -> None:
        self._axis = axis
        self._units: Any = axis.units
        self._ticks: list[tuple[float, str]] | None = None
        self._seconds = 1.0
        self.kind = self._find_kind()
        self.named = self.kind == "category"
        self.computed = False
        self._names: list[tuple[float, str]] = []
        if self.kind == "category":
            mapping = getattr(self._units, "_mapping", {})
            self._names = sorted((float(place), str(name)) for name, place in mapping.items())
            if type(axis.major.formatter).__name__ != "StrCategoryFormatter":
                # What is written on the axis is what a reader of the picture knows.
                known = self.written()
                self._names = [(place, known.get(place) or name) for place, name in self._names]
        elif self.kind != "duration":
            self._names = self._fixed_names()

    def _find_kind(self) -> str:
        axis = self._axis
        name = type(_converter(axis)).__name__
        if name == "NoneType":
            axis = self._sharing()
            name = type(_converter(axis)).__name__
        if "Category" in name and axis.units is not None:
            self._units = axis.units
            return "category"
        formatter = type(axis.major.formatter)
        if formatter.__name__ == "TimeSeries_TimedeltaFormatter":
            self._seconds = _UNITS.get(getattr(axis.major.formatter, "unit", "ns"), 1e-9)
            return "duration"
        if "PeriodConverter" in name or formatter.__name__ == "TimeSeries_DateFormatter":
            return "period" if self._frequency() is not None else "number"
        if name in ("DateConverter", "ConciseDateConverter", "_SwitchableDateConverter"):
            return "datetime"
        if "DatetimeConverter" in name or formatter.__module__ == "matplotlib.dates":
            return "datetime"
        return "number"

    def _sharing(self) -> Any:
        """Return an axis that shares the limits and has the units, which are not shared."""
        own = self._axis
        axes, name = own.axes, own.axis_name
        if name not in ("x", "y"):
            return own
        for other in getattr(axes, f"get_shared_{name}_axes")().get_siblings(axes):
            found = getattr(other, f"{name}axis")
            if _converter(found) is not None:
                return found
        return own

    def _frequency(self) -> Any:
        axis = self._axis
        found = getattr(axis, "freq", None)
        return found if found is not None else getattr(axis.axes, "freq", None)

    def floats(self, values: Any) -> Any:
        """Return positions as floats.

        Args:
            values: Numbers, names or dates.

        Returns:
            Floats.
        """
        return self._axis.convert_units(values)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the ticks of the last draw, with their labels.

        Returns:
            The ticks within the limits.
        """
        if self._ticks is None:
            axis = self._axis
            count = len(getattr(axis.major.formatter, "locs", ()))
            low, high = sorted(axis.get_view_interval())
            room = (high - low) * _NEAR
            found = [
                (float(tick.get_loc()), tick.label1.get_text())
                for tick in axis.majorTicks[: min(count, record.TICK_LIMIT)]
            ]
            self._ticks = [item for item in found if low - room <= item[0] <= high + room]
        return self._ticks

    def _fixed_names(self) -> list[tuple[float, str]]:
        """Return ticks whose labels were set explicitly and are not just their numbers."""
        major = self._axis.major
        formatter = type(major.formatter).__name__
        if formatter not in ("FixedFormatter", "FuncFormatter"):
            return []
        self.computed = type(major.locator).__name__ != "FixedLocator"
        found = sorted((place, label) for place, label in self.written().items() if label)
        if self.computed:
            low, high = sorted(self._axis.get_view_interval())
            found = [item for item in found if low <= item[0] <= high]
        amounts = all(_is_number(label, place) for place, label in found)
        return [] if amounts or all(_is_amount(*item) for item in found) else found

    def written(self) -> dict[float, str]:
        """Return the tick labels, also of a twin whose own axis is hidden.

        Returns:
            The labels by position, as the formatter of the axis returns them now.
        """
        major = self._axis.major
        try:
            places = [float(place) for place in list(major.locator())[: record.POINT_LIMIT]]
            labels = [str(label) for label in major.formatter.format_ticks(places)]
        except Exception:  # noqa: BLE001 - formatters of the user raise anything
            return {}
        return dict(zip(places, labels, strict=False))

    def name_all(self, positions: Any, exact: bool) -> list[str] | None:
        """Return the tick labels at positions.

        Args:
            positions: Floats.
            exact: Whether a tick must be at exactly the position; otherwise the nearest one is
                used.

        Returns:
            The labels, or ``None`` if a position has no label.
        """
        numpy = sys.modules["numpy"]
        places = numpy.array([place for place, _ in self._names])
        positions = numpy.asarray(positions, float)
        if not len(places) or not len(positions) or not numpy.isfinite(positions).all():
            return None
        gap = numpy.diff(places).min() if len(places) > 1 else 1.0
        if gap <= 0:
            return None
        if len(places) == len(positions) and (numpy.diff(positions) > 0).all():
            # As many bars as names: they belong together in their order, wherever the bars are.
            nearest = numpy.arange(len(places))
            near = abs(positions - places) < gap
        else:
            nearest = nearest_of(places, positions)
            near = abs(positions - places[nearest]) <= gap * 0.5 * (1 + _NEAR)
        if exact:
            near &= abs(positions - places[nearest]) <= gap * _NEAR
        if not near.all():
            return None
        return [self._names[index][1] for index in nearest.tolist()]

    def fix(self, names: list[str]) -> None:
        """Set names that the tick labels do not show.

        Args:
            names: The names in their order.
        """
        self.named = True
        self._names = [(float(place), name) for place, name in enumerate(names)]

    def values(self, positions: Any) -> Any:
        """Return the data values at positions.

        Args:
            positions: An array of floats.

        Returns:
            Names, dates, or the positions themselves.
        """
        if self.kind == "duration":
            return sys.modules["numpy"].asarray(positions, float) * self._seconds
        if self.kind == "datetime" and not self.named:
            return self._dates(positions)
        if self.kind == "period" and not self.named:
            return self._periods(positions)
        if self.named:
            named = self.name_all(positions, exact=False)
            if named is not None:
                return named
            if self.kind == "category":
                known = dict(self._names)
                return [known.get(float(place), float(place)) for place in positions]
        return positions

    def _dates(self, positions: Any) -> Any:
        numpy = sys.modules["numpy"]
        epoch = numpy.datetime64(sys.modules["matplotlib.dates"].get_epoch(), "us")
        days = numpy.asarray(positions, float)
        hidden = ~(abs(days) < 3.6e6)  # beyond the years of a datetime
        micro = numpy.rint(numpy.where(hidden, 0, days) * 86_400e6).astype("timedelta64[us]")
        moments = epoch + micro
        moments[hidden] = numpy.datetime64("NaT")
        zone = self._axis.units
        if not isinstance(zone, datetime.tzinfo) or len(moments) > _LOCAL_LIMIT:
            return moments
        utc = datetime.timezone.utc  # noqa: UP017 - the sandbox may have an older Python
        if str(zone).upper() == "UTC":
            return moments
        return [
            None if moment is None else moment.replace(tzinfo=utc).astimezone(zone)
            for moment in moments.tolist()
        ]

    def _periods(self, positions: Any) -> Any:
        pandas = sys.modules.get("pandas")
        if pandas is None:
            return positions
        frequency = self._frequency()
        known = self._moments(pandas, frequency)
        found = []
        for place in positions[:_PERIOD_LIMIT].tolist():
            period = None
            if place == place:
                ordinal = int(place)
                period = known.get(ordinal) or pandas.Period(ordinal=ordinal, freq=frequency)
            found.append(period)
        return found

    def _moments(self, pandas: Any, frequency: Any) -> dict[int, Any]:
        """Return the user's dates that pandas replaced by periods: they may not be starts of
        periods.
        """
        for call in reversed(calls_of(self._axis.axes)):
            index = call.owner.data.get("index") if call.owner is not None else None
            if isinstance(index, pandas.DatetimeIndex) and len(index) <= _PERIOD_LIMIT:
                periods = index.tz_localize(None).to_period(frequency)
                return dict(zip(periods.asi8.tolist(), index.to_pydatetime(), strict=True))
        return {}

    def name_count(self) -> int:
        """Return the number of names on a categorical axis, zero on others."""
        return len(self._names) if self.kind == "category" else 0

    def label(self) -> str | None:
        """Return the title of the axis."""
        found = self._axis.get_label_text()
        return found or None

    def _scale(self) -> str:
        name: str = self._axis.get_scale()
        if name in _SCALES:
            return name
        # Scales of seaborn.objects have the name of a column.
        numpy = sys.modules["numpy"]
        for known, points in (("linear", (1.0, 2.0, 3.0)), ("log", (1.0, 10.0, 100.0))):
            found = self._axis.get_transform().transform(numpy.array(points))
            if abs(found[2] - 2 * found[1] + found[0]) < abs(found[1] - found[0]) * _NEAR:
                return known
        return "other"

    def record(self) -> record.Record:
        """Describe the axis.

        Returns:
            The record of the axis, not yet finished.
        """
        if self.named and self._names:
            names = [name for _, name in self._names]
            return record.axis(self.label(), "category", None, names, names)
        numpy = sys.modules["numpy"]
        axis = self._axis
        limits = numpy.asarray(axis.get_view_interval(), float)
        if axis.get_inverted():
            limits = numpy.sort(limits)[::-1]
        ticks = self.ticks()
        places: Any = numpy.array([place for place, _ in ticks], float)
        scale = self._scale()
        if self.kind in ("datetime", "period"):
            scale = "datetime"
            limits, places = self.values(limits), self.values(places)
        elif self.kind == "duration":
            scale = "duration"
            limits, places = self.values(limits), self.values(places)
        return record.axis(self.label(), scale, limits, places, [label for _, label in ticks])


def nearest_of(places: Any, positions: Any) -> Any:
    """Return the index of the nearest place for each position.

    Args:
        places: Sorted places, at least one.
        positions: Any positions.

    Returns:
        The indices of the places.
    """
    numpy = sys.modules["numpy"]
    after = numpy.searchsorted(places, positions).clip(0, len(places) - 1)
    before = (after - 1).clip(0)
    closer = abs(positions - places[before]) <= abs(positions - places[after])
    return numpy.where(closer, before, after)


def _converter(axis: Any) -> Any:
    get = getattr(axis, "get_converter", None)
    return get() if get is not None else axis.converter


def _is_amount(place: float, label: str) -> bool:
    """Return whether a label only formats its position, as currency, percent or thousands."""
    found = _AMOUNT.match(label)
    if found is None:
        return False
    size = float(found[2].replace(",", "")) * _SIZES[found[3].lower()]
    size = -size if found[1] else size
    return abs(size - place) <= abs(place) * 0.01


def _is_number(label: str, place: float) -> bool:
    try:
        return abs(float(label.replace("\N{MINUS SIGN}", "-")) - place) <= abs(place) * _NEAR
    except ValueError:
        return False
