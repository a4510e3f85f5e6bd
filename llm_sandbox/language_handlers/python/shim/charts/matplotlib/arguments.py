"""Readers of the arguments of matplotlib calls, for data that the artists do not hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_COPY_LIMIT = 4_000_000


def _argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any = None
) -> Any:
    """Return an argument that may be positional, named, or a key of ``data``."""
    value = args[place] if place < len(args) else kwargs.get(name, default)
    data = kwargs.get("data")
    if data is not None and isinstance(value, str):
        try:
            return data[value]
        except (KeyError, TypeError, ValueError, IndexError):
            return value
    return value


def _copy(values: Any) -> Any:
    """Copy numbers, because the user may change them after the call."""
    numpy = sys.modules["numpy"]
    found = values if isinstance(values, numpy.ma.MaskedArray) else numpy.asarray(values)
    return found.copy() if found.size <= _COPY_LIMIT else found


def _hist(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    histtype = kwargs.get("histtype", args[7] if len(args) > 7 else "bar")
    counts, edges = result[:2]
    return {
        "counts": _copy(counts),
        "edges": _copy(edges),
        "horizontal": kwargs.get("orientation") == "horizontal",
        "stacked": bool(kwargs.get("stacked")) or histtype == "barstacked",
        "step": str(histtype).startswith("step"),
    }


def _boxes(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    stats = [dict(item) for item in args[0] if isinstance(item, dict)] if args else []
    stats = stats or [dict(item) for item in kwargs.get("bxpstats", kwargs.get("vpstats", []))]
    positions = _argument(args, kwargs, 1, "positions")
    vertical = kwargs.get("vert", True)
    return {
        "stats": stats,
        "positions": range(1, len(stats) + 1) if positions is None else list(positions),
        "horizontal": kwargs.get("orientation") == "horizontal" or vertical is False,
        "means": bool(kwargs.get("showmeans")),
    }


def _pie(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"values": _copy(_argument(args, kwargs, 0, "x")).ravel()}


def _errorbar(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    return {
        "x": _argument(args, kwargs, 0, "x"),
        "y": _argument(args, kwargs, 1, "y"),
    }


def _fill(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    where = _argument(args, kwargs, 3, "where")
    first = "x" if "x" in kwargs or "y1" in kwargs or "y2" in kwargs else ""
    names = ("x", "y1", "y2") if first else ("y", "x1", "x2")
    at, one, two = (
        _copy(_argument(args, kwargs, place, name, 0)) for place, name in enumerate(names)
    )
    return {"at": at, "one": one, "two": two, "where": None if where is None else _copy(where)}


def _stack(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    numpy = sys.modules["numpy"]
    rows = [_argument(args, kwargs, place, "") for place in range(1, len(args))]
    if len(rows) == 1 and isinstance(rows[0], dict):
        rows = list(rows[0].values())
    return {
        "at": _copy(_argument(args, kwargs, 0, "x")),
        "values": numpy.vstack([_row(row) for row in rows]).astype(float),
    }


def _row(row: Any) -> Any:
    return row if hasattr(row, "__array__") else list(row)


def _grid(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    """Read ``(z)`` or ``(x, y, z)``, before levels or colours."""
    numpy = sys.modules["numpy"]
    arrays = [_argument(args, kwargs, place, "") for place in range(len(args))]
    if len(arrays) >= 3:
        x, y, z = (numpy.asanyarray(values) for values in arrays[:3])
        return {"x": _copy(x), "y": _copy(y), "z": _copy(z)}
    return {"z": _copy(arrays[0])} if arrays else {}


def _mesh(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    if len(args) < 3:
        return {}
    return {"x": _copy(_argument(args, kwargs, 0, "")), "y": _copy(_argument(args, kwargs, 1, ""))}


def _surface(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    return {
        name.lower(): _copy(_argument(args, kwargs, place, name))
        for place, name in enumerate("XYZ")
    }


def _cuboids(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    names = ("x", "y", "z", "dx", "dy", "dz")
    return {name: _copy(_argument(args, kwargs, place, name)) for place, name in enumerate(names)}


def _points(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    """Read ``(x, y, z)``; a triangulation is not kept."""
    if len(args) < 3 or not hasattr(args[0], "__len__"):
        return {}
    found = {name: _copy(value) for name, value in zip("xyz", args, strict=False)}
    return found if len({part.shape for part in found.values()}) == 1 else {}


def _stream(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    found = {name: _copy(_argument(args, kwargs, i, name)) for i, name in enumerate("xyuv")}
    return found | {"arrows": len(result.arrows.get_paths())}


def _table(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    if _argument(args, kwargs, 5, "colLabels") is not None:
        result.__dict__["_llm_sandbox_headed"] = True
    return {}


def _nothing(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> dict[str, Any]:
    return {}


READERS: dict[str, Callable[[tuple[Any, ...], dict[str, Any], Any], dict[str, Any]]] = {
    "hist": _hist,
    "bxp": _boxes,
    "violin": _boxes,
    "pie": _pie,
    "errorbar": _errorbar,
    "fill_between": _fill,
    "fill_betweenx": _fill,
    "stackplot": _stack,
    "contour": _grid,
    "contourf": _grid,
    "tricontour": _points,
    "tricontourf": _points,
    "tripcolor": _points,
    "streamplot": _stream,
    "table": _table,
    "pcolormesh": _mesh,
    "pcolor": _mesh,
    "hexbin": _nothing,
    "broken_barh": _nothing,
    "hlines": _nothing,
    "vlines": _nothing,
    "plot_surface": _surface,
    "plot_wireframe": _surface,
    "plot_trisurf": _surface,
    "bar3d": _cuboids,
}
"""Readers by method; a method without one is recorded only for the library that called it.
``boxplot`` and ``violinplot`` are absent: they call ``bxp`` and ``violin``, which have the
statistics."""

METHODS = (
    *(name for name in READERS if not name.startswith(("plot_", "bar3d"))),
    "bar",
    "barh",
    "plot",
    "scatter",
    "step",
)
SOLID_METHODS = (
    "bar",
    "bar3d",
    "contour",
    "contourf",
    "plot_surface",
    "plot_trisurf",
    "plot_wireframe",
    "scatter",
)
