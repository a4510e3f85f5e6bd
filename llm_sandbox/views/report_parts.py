"""Artifacts and texts as HTML fragments; everything from inside is escaped or sandboxed."""

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from llm_sandbox.artifacts.artifact import Artifact, human_size
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.charts import Chart, Value
from llm_sandbox.results.contents import Content
from llm_sandbox.views.artifact_text import artifact_text, html_text, is_text
from llm_sandbox.views.chart_svg import chart_svg
from llm_sandbox.views.rich_text import formula_html, highlighted, markdown_html
from llm_sandbox.views.sanitize import clean, one_line

if TYPE_CHECKING:
    from llm_sandbox.results.tables import Table

__all__ = ["PageBudget", "escape", "file_list", "preformatted", "show"]

_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_AUDIO = ("audio/mpeg", "audio/ogg", "audio/wav", "audio/x-wav", "audio/flac", "audio/mp4")
_VIDEO = ("video/mp4", "video/webm", "video/ogg")
_LARGEST_PAGE = 4 << 20
_LARGEST_LINK = 256 << 10
_LONGEST_TEXT = 100_000
_MOST_LINES = 40
_MOST_ROWS = 100
_MOST_FILES = 1000
_LONGEST_CELL = 500
_NUMBER = ' class="number"'
_TEXTS = (ArtifactType.TEXT, ArtifactType.MATH, ArtifactType.JSON, ArtifactType.HTML)
_SEEN = re.compile(r"<(?:img|svg|canvas|video|picture)\b", re.IGNORECASE)
_ROWS = re.compile(r"<(tr|li|p|br|h[1-6]|div|pre|progress|input|hr)\b", re.IGNORECASE)
_FRAME_STYLE = (
    "<style>body{margin:8px;font:15px/1.5 system-ui,sans-serif}"
    "table{border-collapse:collapse}th,td{padding:3px 10px}</style>"
)
_LINE_CHARACTERS = 110
_LINE_PX, _ROW_PX, _LEAST_PX, _LARGE_PX, _MOST_PX = 24, 31, 64, 320, 640

_Head: TypeAlias = tuple[str, str, bool]
"""Name and type of a column, and whether it holds numbers."""


class PageBudget:
    """Remaining budget of embedded content of a page.

    Args:
        left: Remaining bytes.
        frames: Whether HTML from inside may be framed, which requires a content security policy on
            the page.
    """

    def __init__(self, left: int, *, frames: bool = True) -> None:
        self._left = left
        self.frames = frames

    def take(self, size: int) -> bool:
        """Return whether there is room for that many bytes, and subtract them."""
        if size > self._left:
            return False
        self._left -= size
        return True


def escape(text: str) -> str:
    """Return text for an element or a quoted attribute."""
    # trust: text from inside stays text; both sorts of quotes are escaped.
    return html.escape(text, quote=True)


def preformatted(
    text: str, style: str, longest: int = _LONGEST_TEXT, lang: str | None = None
) -> str:
    """Return text as a block; of a long one head and tail with a count of the omitted part.

    Args:
        text: The text, from inside.
        style: CSS class of the block.
        longest: Most characters to show.
        lang: Language for highlighting; None for text.
    """
    if len(text) > longest:
        head, tail = text[: longest // 2], text[-(longest // 2) :]
        left_out = len(text) - len(head) - len(tail)
        lines = text.count("\n", len(head), len(text) - len(tail))
        between = f'<p class="quiet">{lines:,} lines, {left_out:,} characters left out</p>'
        return between.join(_folded(part, style, lang) for part in (head, tail))
    return _folded(text.rstrip(), style, lang)


def _folded(text: str, style: str, lang: str | None) -> str:
    """Return a block whose lines past the first are collapsed, if there are many."""
    lines = escape(clean(text)).split("\n") if lang is None else highlighted(text, lang)
    shown = len(lines) if len(lines) <= _MOST_LINES else _MOST_LINES // 2
    first, rest = "\n".join(lines[:shown]), "\n".join(lines[shown:])
    block = f'<pre class="{style}">{first}</pre>'
    if len(lines) == shown:
        return block
    more = f"<summary>{len(lines) - shown:,} more lines</summary>"
    return f'{block}<details>{more}<pre class="{style}">{rest}</pre></details>'


def show(artifact: Artifact, budget: PageBudget) -> str:
    """Return a displayed artifact as safe HTML.

    Args:
        artifact: The artifact.
        budget: Remaining budget of embedded content.
    """
    body = _picture(artifact, budget) or _described(artifact) or _played(artifact, budget)
    body = body or _page(artifact, budget) or _description(artifact)
    # What is not seen is named at least.
    words = escape(one_line(_caption(artifact) if body else artifact.describe(), 400))
    caption = f"<figcaption>{words}</figcaption>" if words else ""
    return f"<figure>{body}{_data_of(artifact)}{caption}</figure>"


def _caption(artifact: Artifact) -> str:
    """Return the text that accompanies the displayed content."""
    if artifact.chart is not None:
        said = artifact.chart.describe()
    elif artifact.table is not None:
        rows, width = artifact.table.shape
        said = f"table of {rows:,} row{'s' * (rows != 1)}, {width:,} column{'s' * (width != 1)}"
    elif artifact.type in _TEXTS and not artifact.paths:
        said = ""
    else:
        facts = [*artifact.paths[:1], artifact.type.value]
        if artifact.duration_s is not None:
            facts.append(f"{artifact.duration_s:.1f} s")
        facts += [human_size(artifact.size)] if artifact.size else []
        said = ", ".join(facts)
    said = said[:1].upper() + said[1:]
    return f"{said} ({artifact.note})" if artifact.note else said


def _picture(artifact: Artifact, budget: PageBudget) -> str:
    forms = {} if artifact.content is None else {artifact.mime: artifact.content}
    for mime, content in {**artifact.alternatives, **forms}.items():
        if mime in _IMAGES:
            # trust: an image element runs no script of an SVG and fetches nothing for it.
            url = _data_url(mime, content, budget)
            if url:
                alt = escape(one_line(artifact.describe(), 200))
                return f'<img alt="{alt}" src="{url}">'
    return ""


def _data_url(mime: str, content: Content, budget: PageBudget) -> str:
    # Four characters for three bytes.
    if not budget.take(content.size * 4 // 3 + 4):
        return ""
    return f"data:{mime};base64,{content.base64()}"


def _described(artifact: Artifact) -> str:
    if artifact.chart is not None:
        return chart_svg(artifact.chart) or ""
    return "" if artifact.table is None else _table(artifact.table)


def _data_of(artifact: Artifact) -> str:
    """Return the numbers of a figure, collapsed."""
    if artifact.chart is None:
        return ""
    tables = "".join(_series_tables(artifact.chart))
    return f"<details><summary>Data</summary>{tables}</details>" if tables else ""


def _series_tables(chart: Chart) -> list[str]:
    tables = []
    for panel in chart.panels[:16]:
        for series in panel.series[:40]:
            names = list(series.columns)
            rows = list(zip(*(series.columns[name] for name in names), strict=False))
            heads = [(name, series.kind.value, False) for name in names]
            label = f'<p class="quiet">{escape(one_line(series.label or panel.name, 200))}</p>'
            tables.append(label + _rows(heads, rows[:_MOST_ROWS], (), max(len(rows), series.total)))
    return tables


def _table(table: "Table") -> str:
    heads = [
        (column.name, column.dtype, column.type in ("integer", "number"))
        for column in table.columns
    ]
    return _rows(heads, table.head, table.tail, table.shape[0])


def _rows(
    heads: Sequence[_Head],
    head: Sequence[Sequence[Value]],
    tail: Sequence[Sequence[Value]],
    total: int,
) -> str:
    names = "".join(
        f'<th scope="col"{_NUMBER if number else ""}>{escape(one_line(name, 120))}'
        f'<span class="type">{escape(one_line(kind, 40))}</span></th>'
        for name, kind, number in heads
    )
    numeric = [number for _, _, number in heads]
    body = [_row(row, numeric) for row in head[:_MOST_ROWS]]
    left_out = total - len(body) - len(tail[:_MOST_ROWS])
    if left_out > 0:
        words = f"{left_out:,} row{'s' * (left_out != 1)} left out"
        gap = f'<td colspan="{max(1, len(heads))}">{words}</td>'
        body.append(f'<tr class="gap">{gap}</tr>')
    body += [_row(row, numeric) for row in tail[:_MOST_ROWS]]
    inner = f"<thead><tr>{names}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="scroll"><table>{inner}</table></div>'


def _row(row: Sequence[Value], numeric: Sequence[bool]) -> str:
    cells = []
    for place, value in enumerate(row):
        number = place < len(numeric) and numeric[place]
        text = "" if value is None else clean(str(value)[:_LONGEST_CELL])
        cells.append(f"<td{_NUMBER if number else ''}>{escape(text)}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def _played(artifact: Artifact, budget: PageBudget) -> str:
    content = artifact.content
    if content is None or artifact.mime not in (*_AUDIO, *_VIDEO):
        return ""
    url = _data_url(artifact.mime, content, budget)
    element = "audio" if artifact.mime in _AUDIO else "video"
    return f'<{element} controls src="{url}"></{element}>' if url else ""


def _page(artifact: Artifact, budget: PageBudget) -> str:
    content = artifact.content
    if artifact.mime != "text/html" or content is None or not budget.frames:
        return ""
    # Quotes and ampersands take more room once they are escaped.
    if content.size > _LARGEST_PAGE or not budget.take(content.size * 2):
        return ""
    # trust: a page from inside; the frame may run no script, send no form and go nowhere, and the
    # report's own policy holds in it as well.
    text = content.text()
    height = _height(text)
    if not height:
        return (
            '<p class="quiet">An interactive page, of which nothing is seen without scripts; '
            f'result.artifact("{artifact.id}").save("page.html") saves it.</p>'
        )
    if "<html" not in text[:1000].lower():
        text = _FRAME_STYLE + text
    style = f"height:{height}px"
    title = artifact.type.value
    return f'<iframe sandbox="" title="{title}" style="{style}" srcdoc="{escape(text)}"></iframe>'


def _height(page: str) -> int:
    """Return the approximate height of a page in pixels, 0 if it is empty without scripts."""
    seen = _SEEN.search(page) is not None
    text = html_text(page)
    if not seen and not text.strip():
        return 0
    lines = sum(1 + len(line) // _LINE_CHARACTERS for line in text.splitlines() if line.strip())
    of_rows = sum(_ROW_PX if name.lower() == "tr" else _LINE_PX for name in _ROWS.findall(page))
    least = _LARGE_PX if seen else _LEAST_PX
    return max(least, min(_MOST_PX, 48 + max(lines * _LINE_PX, of_rows)))


def _description(artifact: Artifact) -> str:
    if artifact.content is not None and artifact.mime == "text/markdown":
        return f'<div class="prose">{markdown_html(artifact_text(artifact))}</div>'
    if artifact.content is not None and artifact.mime == "text/latex":
        return f'<div class="prose">{formula_html(artifact_text(artifact))}</div>'
    if artifact.mime == "text/html" or not artifact.content or not is_text(artifact.mime):
        return preformatted(artifact.summary, "value") if artifact.summary else ""
    return preformatted(artifact_text(artifact), "value")


def file_list(files: Sequence[Artifact], budget: PageBudget) -> str:
    """Return the files that a run left, with their sizes; small ones can be saved from the page.

    Args:
        files: Artifacts of the files.
        budget: Remaining budget of embedded content.
    """
    items = []
    for artifact in files[:_MOST_FILES]:
        name = one_line(artifact.paths[0], 200)
        size = human_size(artifact.size)
        label = escape(f"{artifact.change or 'kept'}: {name}")
        content = artifact.content
        url = ""
        if content is not None and content.size <= _LARGEST_LINK:
            # As bytes without a type: a browser saves them and shows nothing of them.
            url = _data_url("application/octet-stream", content, budget)
        if url:
            saved = escape(name.rpartition("/")[2] or "file")
            label = f'<a href="{url}" download="{saved}">{label}</a>'
        note = f" {escape(one_line(artifact.note, 200))}" if artifact.note else ""
        items.append(f'<li>{label} <span class="quiet">{size}{note}</span></li>')
    if len(files) > _MOST_FILES:
        items.append(f"<li>{len(files) - _MOST_FILES:,} more files</li>")
    return f'<h3 class="quiet">Files</h3><ul class="files">{"".join(items)}</ul>'
