"""Artifacts of rich displays: classification, and choice among the representations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.base import ArtifactKind
from llm_sandbox.artifacts.identify import examine
from llm_sandbox.artifacts.registry import BUILTIN, kinds, load
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.bundles import CHART_MIME, TABLE_MIME, Bundle
from llm_sandbox.results.contents import Content
from llm_sandbox.results.outputs import Output, last_displays
from llm_sandbox.results.plots import FileType, PlotOutput

__all__ = [
    "Claims",
    "artifact_from_display",
    "artifacts_from_outputs",
    "merge_equal",
    "plot_from_display",
    "read_claims",
]

_METADATA_KEY = "llm_sandbox"
_LONGEST_NAME = 512

_PLOT_MIMES = (
    "application/vnd.bokehjs_exec.",
    "application/vnd.holoviews_exec.",
    "application/vnd.plotly.",
    "application/vnd.vega.",
    "application/vnd.vegalite.",
)
"""Prefixes of the MIME types that only plots have; a `_load.` one is a library's own script."""

_TABLES = ("DataFrame", "LazyFrame", "Series", "Styler", "Table")
"""Suffixes of the class names of tables, such as `GeoDataFrame` and `PrettyTable`."""

_PAGES = frozenset({"HTML", "IFrame", "ScribdDocument", "VimeoVideo", "YouTubeVideo"})
"""Classes of IPython whose HTML is meant to be displayed."""

_PLOT_PACKAGES = frozenset(
    {"altair", "bokeh", "folium", "holoviews", "lets_plot", "plotly", "pydeck", "pygal"}
)
"""Packages that display their plots as HTML alone."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims from inside about a display."""

    source: str
    """Library or class of the display; empty when unknown."""
    event: str
    """Event that published the display; empty when unknown."""
    is_plot: bool
    """Whether it is a plot, as the capture claims or by a MIME type that only plots have."""
    is_of_plotter: bool
    """Whether it comes from a package that displays its plots as HTML alone."""
    is_page: bool
    """Whether its HTML was made to be displayed."""
    is_table: bool
    """Whether it is a table."""


def read_claims(data: Mapping[str, object], metadata: Mapping[str, object]) -> Claims:
    """Return the claims about a display.

    Args:
        data: MIME bundle; only the types are read.
        metadata: Metadata of the display.
    """
    # trust: claimed inside, by the capture or by anyone; it decides how a display is called, and
    # never what is done with its content.
    detail = _as_mapping(_as_mapping(metadata).get(_METADATA_KEY))
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


def _as_mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


_LONGEST_SUMMARY = 500
_EVENTS = ("show", "cell_end", "savefig")

_PREFERRED = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/svg+xml",
    "application/pdf",
    "video/",
    "audio/",
    "text/html",
    "application/geo+json",
    "text/latex",
    "text/markdown",
    "application/json",
)
"""MIME types, or prefixes of them, from the most informative representation."""

_TYPES = {
    "text/latex": ArtifactType.MATH,
    "text/markdown": ArtifactType.TEXT,
    "application/geo+json": ArtifactType.MAP,
}
"""Artifact type by MIME type, for types whose bytes are plain text."""

_VERIFIED = ("image/", "audio/", "video/", "application/pdf")
"""Prefixes of the MIME types whose bytes are verified."""

_NOT_CONTENT = ("text/plain", CHART_MIME, TABLE_MIME, "application/vnd.jupyter.widget-view+json")


def artifacts_from_outputs(outputs: Sequence[Output]) -> list[Artifact]:
    """Return the displayed artifacts in order, one per display; updated displays with their last
    content.

    Args:
        outputs: All outputs of a run.
    """
    shown = []
    for index, output in last_displays(outputs).items():
        bundle = output.data if isinstance(output.data, Bundle) else Bundle(output.data)
        shown.append(artifact_from_display(bundle, output.metadata, index))
    return [artifact for artifact in shown if artifact is not None]


def merge_equal(artifacts: Sequence[Artifact]) -> tuple[Artifact, ...]:
    """Return the artifacts with equal ones merged, at the position of the first.

    Two tables may look the same and differ in the rows that are not shown: artifacts whose data is
    known to differ are not merged.
    """
    merged: list[Artifact] = []
    places: dict[object, list[int]] = {}
    for artifact in artifacts:
        key = (artifact.content, artifact.mime)
        known = places.setdefault(key, []) if artifact.content is not None else []
        same = next((place for place in known if merged[place].agrees_with(artifact)), None)
        if same is not None:
            merged[same] = merged[same].merged(artifact)
        else:
            known.append(len(merged))
            merged.append(artifact)
    return tuple(merged)


def artifact_from_display(
    bundle: Bundle, metadata: Mapping[str, object], index: int
) -> Artifact | None:
    """Return the artifact of a display; None for one that is only text.

    The content is the best representation whose bytes have the claimed type; other valid ones are
    alternatives.

    Args:
        bundle: The display.
        metadata: Metadata of the display. Its sizes are ignored, the content's own are measured.
        index: Index of the display among the outputs.
    """
    claims = read_claims(bundle, metadata)
    records = {mime: bundle.content(mime) for mime in (CHART_MIME, TABLE_MIME) if mime in bundle}
    notes: list[str] = []
    best: Artifact | None = None
    others: dict[str, Content] = {}
    for mime in _by_preference(bundle):
        content = bundle.content(mime)
        if content is None or content.size == 0:
            notes.append(f"its {mime} is not base64" if content is None else f"its {mime} is empty")
        elif best is not None:
            if _examined(mime, content, []) is not None:
                others[mime] = content
        else:
            found = _examined(mime, content, notes)
            if found is None:
                continue
            best = replace(found, outputs=(index,), type=_type(claims, found, records))
    if best is None:
        best = _without_form(bundle, index, claims, records)
        if best is None and not notes:
            return None
    summary = bundle.get("text/plain")
    return replace(
        best or Artifact(ArtifactType.OTHER, "application/octet-stream", outputs=(index,)),
        source=claims.source,
        event=claims.event if claims.event in _EVENTS else None,  # type: ignore[arg-type]
        chart=records.get(CHART_MIME),  # type: ignore[arg-type]
        table=records.get(TABLE_MIME),  # type: ignore[arg-type]
        alternatives=others,
        summary=summary[:_LONGEST_SUMMARY] if isinstance(summary, str) else "",
        note="; ".join([*notes, best.note] if best and best.note else notes),
    )


def _by_preference(bundle: Bundle) -> Iterator[str]:
    rest = [mime for mime in bundle if mime not in _NOT_CONTENT]
    for wanted in _PREFERRED:
        family = wanted.endswith("/")
        chosen = [mime for mime in rest if mime == wanted or (family and mime.startswith(wanted))]
        rest = [mime for mime in rest if mime not in chosen]
        yield from chosen
    yield from (mime for mime in rest if "_load." not in mime)


def _examined(mime: str, content: Content, notes: list[str]) -> Artifact | None:
    """Return the artifact of some bytes; None, with a note, if their type is not as claimed."""
    # trust: bytes from inside under a name from inside: they are what they begin as.
    found = examine(content.bytes(), claimed=mime)
    if mime.startswith(_VERIFIED) and not _is_known_as(found.identity.kind, mime):
        notes.append(found.note or f"claims {mime}, holds {found.identity.mime}")
        return None
    facts = found.dimensions
    return Artifact(
        _TYPES.get(mime, found.identity.type),
        mime,
        content,
        content.size,
        width=facts.width,
        height=facts.height,
        dpi=facts.dpi,
        pages=facts.pages,
        duration_s=facts.duration_s,
        note=found.note,
    )


def _is_known_as(name: str, mime: str) -> bool:
    kind = load(name)
    wider = [load(other) for other in kind.also if other in BUILTIN]
    return any(mime in each.mimes for each in (kind, *wider))


def _type(claims: Claims, found: Artifact, records: Mapping[str, Content | None]) -> ArtifactType:
    if claims.is_plot or claims.is_of_plotter or CHART_MIME in records:
        return ArtifactType.FIGURE
    if claims.is_table or TABLE_MIME in records:
        return ArtifactType.TABLE
    return found.type


def _without_form(
    bundle: Bundle, index: int, claims: Claims, records: Mapping[str, Content | None]
) -> Artifact | None:
    """Return a table or chart that has only its record and its text."""
    if not records:
        return None
    text = bundle.content("text/plain")
    kind = ArtifactType.FIGURE if CHART_MIME in records else ArtifactType.TABLE
    return Artifact(kind, "text/plain", text, text.size if text else 0, outputs=(index,))


_LARGEST_PLOT = 32 * 1024**2


def plot_from_display(
    data: Mapping[str, object], metadata: Mapping[str, object], *, limit: int = _LARGEST_PLOT
) -> PlotOutput | None:
    """Return the plot of a display, in the best of its formats; None if it is not a plot.

    The order is PNG, JPEG, SVG, PDF, HTML, then the kinds that other packages add. A format is
    skipped when its content is too large, badly encoded, or of another type than it claims. HTML
    counts only with a hint: the claim of the capture, a MIME type of a plotting library beside it,
    or an object that exists to display HTML, if there is a picture or a script in it. Tables are
    never plots.

    Args:
        data: MIME bundle, as in the Jupyter messaging protocol.
        metadata: Metadata of the display. Its sizes are ignored, the file's own are measured.
        limit: Largest file, in bytes; 32 MiB.
    """
    claims = read_claims(data, metadata)
    if claims.is_table and not claims.is_plot:
        return None
    bundle = data if isinstance(data, Bundle) else Bundle(data)
    for kind in kinds():
        if kind.file_type is None:
            continue
        for mime in kind.mimes:
            content = bundle.content(mime)
            if content is None or content.size > limit or not kind.matches(content.bytes()):
                continue
            if kind.ambiguous and not _is_plot(kind, content, claims):
                continue
            size = kind.describe(content.bytes())
            encoded: Any = content  # encoded when it is asked for
            return PlotOutput(kind.file_type, encoded, size.width, size.height, size.dpi)
    return None


def _is_plot(kind: ArtifactKind, content: Content, claims: Claims) -> bool:
    if claims.is_plot:
        return True
    if not claims.is_page or kind.file_type is not FileType.HTML:
        return claims.is_page
    from llm_sandbox.artifacts.formats.markup import draws, is_table

    page = content.bytes()
    return not is_table(page) and (claims.is_of_plotter or draws(page))
