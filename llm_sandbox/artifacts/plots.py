"""Which rich display is a plot, and in which of its formats."""

from collections.abc import Mapping
from typing import Any

from llm_sandbox.artifacts.base import ArtifactKind
from llm_sandbox.artifacts.claims import Claims, read_claims
from llm_sandbox.artifacts.formats.html import draws, is_table
from llm_sandbox.artifacts.registry import kinds
from llm_sandbox.results.bundles import Bundle
from llm_sandbox.results.contents import Content
from llm_sandbox.results.plots import FileType, PlotOutput

__all__ = ["plot_from_display"]

_LIMIT = 32 * 1024**2


def plot_from_display(
    data: Mapping[str, object], metadata: Mapping[str, object], *, limit: int = _LIMIT
) -> PlotOutput | None:
    """Return the plot that a display is, in the best of its formats; None when it is none.

    The order is PNG, JPEG, SVG, PDF, HTML, then the kinds that other packages add. A format is
    passed over when its content is too large, badly encoded, or of another type than it claims.
    HTML counts only with a hint: the capture's word, a MIME type of a plotting library beside it,
    or an object that exists to show HTML, if there is a picture or a script in it. Tables are
    never plots.

    Args:
        data: MIME bundle, as in the Jupyter messaging protocol.
        metadata: What came with it. Sizes in it are not believed, the file's own are measured.
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
            if kind.ambiguous and not _is_meant(kind, content, claims):
                continue
            size = kind.describe(content.bytes())
            encoded: Any = content  # encoded when it is asked for
            return PlotOutput(kind.file_type, encoded, size.width, size.height, size.dpi)
    return None


def _is_meant(kind: ArtifactKind, content: Content, claims: Claims) -> bool:
    if claims.is_plot:
        return True
    if not claims.is_page or kind.file_type is not FileType.HTML:
        return claims.is_page
    page = content.bytes()
    return not is_table(page) and (claims.is_of_plotter or draws(page))
