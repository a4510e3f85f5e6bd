"""Which rich display is a plot, and in which of its formats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_sandbox.artifacts.base import ArtifactKind
from llm_sandbox.artifacts.formats.html import is_table
from llm_sandbox.artifacts.registry import kinds
from llm_sandbox.bundles import Bundle
from llm_sandbox.contents import Content
from llm_sandbox.plots import FileType, PlotOutput

__all__ = ["plot_from_display"]

_METADATA_KEY = "llm_sandbox"
_LIMIT = 32 * 1024**2
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
class _Claims:
    """What the inside says about a display."""

    plot: bool
    """It is a plot, by the capture's word or a MIME type that only plots have."""
    page: bool
    """Its HTML was made to be seen."""
    table: bool
    """It is a table."""


def plot_from_display(
    data: Mapping[str, object], metadata: Mapping[str, object], *, limit: int = _LIMIT
) -> PlotOutput | None:
    """Return the plot that a display is, in the best of its formats; None when it is none.

    The order is PNG, JPEG, SVG, PDF, HTML, then the kinds that other packages add. A format is
    passed over when its content is too large, badly encoded, or of another type than it claims.
    HTML counts only with a hint: the capture's word, a MIME type of a plotting library beside it,
    or an object that exists to show HTML (unless that is a table). Tables are never plots.

    Args:
        data: MIME bundle, as in the Jupyter messaging protocol.
        metadata: What came with it. Sizes in it are not believed, the file's own are measured.
        limit: Largest file, in bytes; 32 MiB.
    """
    claims = _read_claims(data, metadata)
    if claims.table and not claims.plot:
        return None
    bundle = data if isinstance(data, Bundle) else Bundle(data)
    for kind in kinds():
        if kind.file_type is None:
            continue
        for mime in kind.mimes:
            content = bundle.content(mime)
            if content is None or content.size > limit or not kind.matches(content.bytes()):
                continue
            if kind.ambiguous and not _is_meant(kind, content, claims):
                continue
            size = kind.describe(content.bytes())
            encoded: Any = content  # encoded when it is asked for
            return PlotOutput(kind.file_type, encoded, size.width, size.height, size.dpi)
    return None


def _is_meant(kind: ArtifactKind, content: Content, claims: _Claims) -> bool:
    if claims.plot:
        return True
    return claims.page and not (kind.file_type is FileType.HTML and is_table(content.bytes()))


def _read_claims(data: Mapping[str, object], metadata: Mapping[str, object]) -> _Claims:
    # trust: claimed inside, by the capture or by anyone; it decides how a display is called, and
    # never what is done with its content.
    detail = _mapping(_mapping(metadata).get(_METADATA_KEY))
    name = detail.get("type")
    name = name if isinstance(name, str) and len(name) <= _LONGEST_NAME else ""
    package = name.partition(".")[0]
    last = name.rpartition(".")[2]
    return _Claims(
        plot=detail.get("kind") == "plot"
        or any(str(mime).startswith(_PLOT_MIMES) for mime in data),
        page=package in _PLOT_PACKAGES or (package == "IPython" and last in _PAGES),
        table=last.endswith(_TABLES),
    )


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}
