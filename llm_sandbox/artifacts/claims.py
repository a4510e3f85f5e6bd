"""What the inside says about a display, before anybody looks at its content."""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Claims", "read_claims"]

_METADATA_KEY = "llm_sandbox"
_LONGEST_NAME = 512

_PLOT_MIMES = (
    "application/vnd.bokehjs_exec.",
    "application/vnd.holoviews_exec.",
    "application/vnd.plotly.",
    "application/vnd.vega.",
    "application/vnd.vegalite.",
)
"""Beginnings of the MIME types that only plots have; a `_load.` one is a library's own script."""

_TABLES = ("DataFrame", "LazyFrame", "Series", "Styler", "Table")
"""Ends of the names of tables: `GeoDataFrame` and `PrettyTable` are some, too."""

_PAGES = frozenset({"HTML", "IFrame", "ScribdDocument", "VimeoVideo", "YouTubeVideo"})
"""Classes of IPython whose HTML is what the user wants to be seen."""

_PLOT_PACKAGES = frozenset(
    {"altair", "bokeh", "folium", "holoviews", "lets_plot", "plotly", "pydeck", "pygal"}
)
"""Packages that show their plots as HTML alone."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What the inside says about a display."""

    source: str
    """The library or class it comes from; empty when unknown."""
    event: str
    """What made it leave; empty when unknown."""
    is_plot: bool
    """It is a plot, by the capture's word or a MIME type that only plots have."""
    is_of_plotter: bool
    """It comes from a package that shows its plots as HTML alone."""
    is_page: bool
    """Its HTML was made to be seen."""
    is_table: bool
    """It is a table."""


def read_claims(data: Mapping[str, object], metadata: Mapping[str, object]) -> Claims:
    """Return what is said about a display.

    Args:
        data: Its MIME bundle; only the types are looked at.
        metadata: What came with it.
    """
    # trust: claimed inside, by the capture or by anyone; it decides how a display is called, and
    # never what is done with its content.
    detail = _mapping(_mapping(metadata).get(_METADATA_KEY))
    name, source = _short(detail.get("type")), _short(detail.get("source"))
    package, last = name.partition(".")[0], name.rpartition(".")[2]
    is_of_plotter = package in _PLOT_PACKAGES
    return Claims(
        source=source or name,
        event=_short(detail.get("event")),
        is_plot=detail.get("kind") == "plot"
        or any(str(mime).startswith(_PLOT_MIMES) for mime in data),
        is_of_plotter=is_of_plotter,
        is_page=is_of_plotter or (package == "IPython" and last in _PAGES),
        is_table=last.endswith(_TABLES),
    )


def _short(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST_NAME else ""


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}
