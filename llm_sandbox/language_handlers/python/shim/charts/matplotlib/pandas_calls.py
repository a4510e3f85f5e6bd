"""On whose behalf pandas draws."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .calls import wrap_owner

if TYPE_CHECKING:
    from types import ModuleType

    from .calls import OnImport, Owner

_FUNCTIONS = (
    "hist_series",
    "hist_frame",
    "boxplot",
    "boxplot_frame",
    "boxplot_frame_groupby",
    "andrews_curves",
    "autocorrelation_plot",
    "bootstrap_plot",
    "lag_plot",
    "parallel_coordinates",
    "radviz",
    "scatter_matrix",
)


def _finish(owner: Owner, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Keep the dates of the data: pandas draws them as periods, which may begin earlier."""
    data = getattr(first, "_parent", first)
    name = kwargs.get("x")
    column = data[name] if isinstance(name, str) and name in data else None
    if column is None:
        owner.data["index"] = data.index
    elif getattr(column.dtype, "kind", "") == "M":
        owner.data["index"] = sys.modules["pandas"].DatetimeIndex(column)


def _attach(module: ModuleType) -> None:
    wrap_owner(module, "plot", "pandas", "", _finish)
    for name in _FUNCTIONS:
        wrap_owner(module, name, "pandas", name)


def install(on_import: OnImport) -> None:
    """Record what pandas draws from the import of its plotting on.

    Args:
        on_import: Runs a hook after a module is imported.
    """
    on_import("pandas.plotting._matplotlib", _attach)
