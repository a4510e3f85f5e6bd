"""Models that Vega fits to values: regressions, densities and quantiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .aggregates import quantile
from .expression import ExpressionError
from .functions import to_number

if TYPE_CHECKING:
    from .filters import Row

__all__ = ["density", "quantiles", "regression"]

_WORK = 20_000_000


def _numbers(rows: list[Row], field: str) -> list[float]:
    values = (row.get(field) for row in rows)
    return [n for v in values if v is not None and math.isfinite(n := to_number(v))]


def regression(rows: list[Row], about: dict[str, Any]) -> list[Row]:
    """Fit a straight line to one group; other methods are not supported.

    Args:
        rows: The rows of the group.
        about: The transform.

    Returns:
        Both ends of the line.

    Raises:
        ExpressionError: The method is not a straight line.
    """
    if about.get("method", "linear") != "linear" or about.get("params"):
        raise ExpressionError("this kind of regression is not computed here")
    x_name, y_name = about["on"], about["regression"]
    pairs = [(row.get(x_name), row.get(y_name)) for row in rows]
    known = [(to_number(x), to_number(y)) for x, y in pairs if x is not None and y is not None]
    known = [(x, y) for x, y in known if math.isfinite(x) and math.isfinite(y)]
    if len(known) < 2:
        return []
    count = len(known)
    x_mean = math.fsum(x for x, _ in known) / count
    y_mean = math.fsum(y for _, y in known) / count
    spread = math.fsum((x - x_mean) ** 2 for x, _ in known)
    slope = math.fsum((x - x_mean) * (y - y_mean) for x, y in known) / spread if spread else 0.0
    names = about.get("as") or (x_name, y_name)
    extent = about.get("extent") or (min(x for x, _ in known), max(x for x, _ in known))
    return [{names[0]: x, names[1]: y_mean + slope * (x - x_mean)} for x in extent]


def density(rows: list[Row], about: dict[str, Any]) -> list[Row]:
    """Estimate the density of one group.

    Args:
        rows: The rows of the group.
        about: The transform, with an extent.

    Returns:
        A row for each position of the grid.

    Raises:
        ExpressionError: The computation would take too long.
    """
    values = _numbers(rows, about["density"])
    if not values:
        return []
    width = to_number(about.get("bandwidth") or 0) or _bandwidth(values)
    low, high = about["extent"]
    names = about.get("as") or ("value", "density")
    steps = int(to_number(about.get("steps") or about.get("maxsteps") or 200))
    if steps * len(values) > _WORK:
        raise ExpressionError("the density is too large to be computed here")
    scale = len(values) if about.get("counts") else 1
    kernel = _reached if about.get("cumulative") else _height
    found = []
    for number in range(steps + 1):
        place = low + number / steps * (high - low)
        total = math.fsum(kernel((place - value) / width) for value in values)
        share = total / len(values) / (1 if kernel is _reached else width)
        found.append({names[0]: place, names[1]: share * scale})
    return found


def _height(distance: float) -> float:
    return math.exp(-0.5 * distance * distance) / math.sqrt(2 * math.pi)


def _reached(distance: float) -> float:
    return 0.5 * (1 + math.erf(distance / math.sqrt(2)))


def _bandwidth(values: list[float]) -> float:
    """Return the width of a kernel by Scott's rule, as Vega applies it."""
    count = len(values)
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / max(1, count - 1))
    ordered = sorted(values)
    spread = ((quantile(ordered, 0.75) or 0) - (quantile(ordered, 0.25) or 0)) / 1.34
    least = min(deviation, spread) or deviation or abs(quantile(ordered, 0.25) or 0) or 1.0
    return float(1.06 * least * count**-0.2)


def quantiles(rows: list[Row], about: dict[str, Any]) -> list[Row]:
    """Compute quantiles of one group.

    Args:
        rows: The rows of the group.
        about: The transform.

    Returns:
        A row for each probability.
    """
    ordered = sorted(_numbers(rows, about["quantile"]))
    step = to_number(about.get("step") or 0.01)
    probs = about.get("probs")
    if probs is None:
        if not 0.0001 <= step < 1:
            raise ExpressionError("the step of the quantiles is out of range")
        count = math.ceil((1 - 1e-14 - step / 2) / step)
        probs = [step / 2 + number * step for number in range(count)]
    names = about.get("as") or ("prob", "value")
    return [{names[0]: part, names[1]: quantile(ordered, part)} for part in probs]
