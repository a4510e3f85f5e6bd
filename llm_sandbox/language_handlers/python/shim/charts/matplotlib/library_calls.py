"""Hooks that record which function of seaborn or pandas draws: a violin and an area make the same
artists.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from .calls import Owner, wrap_owner

if TYPE_CHECKING:
    from types import ModuleType

    from .calls import OnImport

_SEABORN_PLOTTERS = {
    "seaborn.categorical": {
        "_CategoricalPlotter": {
            "plot_strips": "strip",
            "plot_swarms": "strip",
            "plot_boxes": "box",
            "plot_boxens": "boxen",
            "plot_violins": "violin",
            "plot_points": "point",
            "plot_bars": "bar",
            "plot_errorbars": "errorbars",
        }
    },
    "seaborn.distributions": {
        "_DistributionPlotter": {
            "plot_univariate_histogram": "histogram",
            "plot_bivariate_histogram": "mesh",
            "plot_univariate_density": "density",
            "plot_bivariate_density": "contour",
            "plot_univariate_ecdf": "ecdf",
            "plot_rug": "rug",
        }
    },
    "seaborn.relational": {
        "_LinePlotter": {"plot": "line"},
        "_ScatterPlotter": {"plot": "scatter"},
    },
    "seaborn.regression": {
        "_RegressionPlotter": {"plot": "regression"},
    },
    "seaborn.matrix": {
        "_HeatMapper": {"plot": "heatmap"},
        "_DendrogramPlotter": {"plot": "dendrogram"},
    },
    "seaborn._core.plot": {
        "Plotter": {"_plot_layer": "objects"},
    },
}
_PANDAS_FUNCTIONS = (
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


def _finish_seaborn(
    owner: Owner, plotter: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Record data that only seaborn's plotter object has."""
    if owner.name in ("violin", "boxen"):
        value = {"x": "y", "y": "x"}[plotter.orient]
        owner.data["horizontal"] = plotter.orient == "y"
        owner.data["groups"] = [
            (
                float(variables[plotter.orient]),
                variables.get("hue"),
                data[value].to_numpy(float, copy=True),
            )
            for variables, data in plotter.iter_data(
                [plotter.orient, "hue"], from_comp_data=True, allow_empty=False
            )
        ]
    elif owner.name == "histogram":
        owner.data["element"] = kwargs.get("element")
        owner.data["multiple"] = kwargs.get("multiple")
    elif owner.name == "density":
        owner.data["multiple"] = kwargs.get("multiple")
    elif owner.name == "errorbars":
        frame: Any = kwargs.get("data", args[2] if len(args) > 2 else None)
        along, across = plotter.orient, {"x": "y", "y": "x"}[plotter.orient]
        owner.data["columns"] = {
            along: frame[along].to_numpy(float, copy=True),
            across: frame[across].to_numpy(float, copy=True),
            f"{across}_low": frame[f"{across}min"].to_numpy(float, copy=True),
            f"{across}_high": frame[f"{across}max"].to_numpy(float, copy=True),
        }
    elif owner.name == "scatter":
        kept = plotter.comp_data.dropna().index
        kinds = plotter.var_types
        for variable, column in (("hue", "value"), ("size", "size")):
            if variable in plotter.variables and kinds.get(variable) == "numeric":
                found = plotter.plot_data[variable].loc[kept]
                owner.data[column] = found.to_numpy(float, copy=True)
    elif owner.name == "heatmap":
        owner.data["x"] = [str(name) for name in plotter.data.columns]
        owner.data["y"] = [str(name) for name in plotter.data.index]
        owner.data["z"] = plotter.plot_data


def _attach_seaborn(plotters: dict[str, dict[str, str]], module: ModuleType) -> None:
    for kind_name, methods in plotters.items():
        kind = getattr(module, kind_name, None)
        if kind is not None:
            for method, what in methods.items():
                wrap_owner(kind, method, "seaborn", what, _finish_seaborn)


def _finish_pandas(owner: Owner, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Record the dates of the data: pandas draws them as periods, which may begin earlier."""
    data = getattr(first, "_parent", first)
    name = kwargs.get("x")
    column = data[name] if isinstance(name, str) and name in data else None
    if column is None:
        owner.data["index"] = data.index
    elif getattr(column.dtype, "kind", "") == "M":
        owner.data["index"] = sys.modules["pandas"].DatetimeIndex(column)


def _attach_pandas(module: ModuleType) -> None:
    wrap_owner(module, "plot", "pandas", "", _finish_pandas)
    for name in _PANDAS_FUNCTIONS:
        wrap_owner(module, name, "pandas", name)


def install(on_import: OnImport) -> None:
    """Record the plotting functions of seaborn and pandas once these are imported.

    Args:
        on_import: Runs a hook after a module is imported.
    """
    for name, plotters in _SEABORN_PLOTTERS.items():
        on_import(name, functools.partial(_attach_seaborn, plotters))
    on_import("pandas.plotting._matplotlib", _attach_pandas)
