"""Results in a terminal, with rich."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.control import Control
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.data import ExecutionResult
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.outputs import ErrorOutput, StreamOutput
from llm_sandbox.views.inline_images import detect_protocol, encode_image
from llm_sandbox.views.outcome import status_lines
from llm_sandbox.views.sanitize import clean, one_line
from llm_sandbox.views.visible import BundleOutput, VisibleOutput, plain_text, visible_outputs

if TYPE_CHECKING:
    from llm_sandbox.results.tables import Table

__all__ = ["InlineImage", "draw_table", "render"]

_LONGEST_TEXT = 50_000
_LONGEST_CELL = 80
_MOST_ROWS = 10
"""Most rows from either end of a table."""
_MOST_COLUMNS = 12
_MOST_OUTPUTS = 300
_MOST_ARTIFACTS = 50


def render(result: ExecutionResult) -> RenderableType:
    """Return a rich renderable of a result: its outputs in order, its artifacts, its status.

    Args:
        result: The run.
    """
    return Group(*_pieces(result))


def _pieces(result: ExecutionResult) -> Iterator[RenderableType]:
    told: set[str] = set()
    shown = visible_outputs(result.outputs)
    if not result.outputs:
        for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
            if text:
                yield _text(text, _STYLES[name])
    for item in shown[:_MOST_OUTPUTS]:
        yield from _output(item, result, told)
    if len(shown) > _MOST_OUTPUTS:
        yield Text(f"{len(shown) - _MOST_OUTPUTS:,} more outputs", style="dim")
    if result.error is not None and not any(isinstance(o, ErrorOutput) for o in result.outputs):
        yield _text(f"{result.error.name}: {result.error.value}", "red")
    rest = [artifact for artifact in result.artifacts if artifact.id not in told]
    for artifact in rest[:_MOST_ARTIFACTS]:
        yield _line(artifact)
    if len(rest) > _MOST_ARTIFACTS:
        yield Text(f"{len(rest) - _MOST_ARTIFACTS:,} more artifacts", style="dim")
    if len(lines := status_lines(result)) > 1 or result.exit_code:
        yield Text("\n".join(lines), style="dim")


_STYLES = {"stdout": "", "stderr": "yellow"}


def _output(
    item: VisibleOutput, result: ExecutionResult, told: set[str]
) -> Iterator[RenderableType]:
    output = item.output
    if isinstance(output, StreamOutput):
        yield _text(output.text, _STYLES[output.name])
    elif isinstance(output, ErrorOutput):
        yield _text("\n".join(output.traceback) or f"{output.name}: {output.value}", "red")
    elif isinstance(output, BundleOutput):
        made = [artifact for artifact in result.artifacts if item.index in artifact.outputs]
        for artifact in made:
            if artifact.id not in told:
                told.add(artifact.id)
                yield from _artifact(artifact)
        text = None if made else plain_text(output.data)
        if text is not None:
            yield _text(text, "")


def _artifact(artifact: Artifact) -> Iterator[RenderableType]:
    if artifact.table is not None:
        yield draw_table(artifact.table)
        return
    if artifact.is_raster:
        yield InlineImage(artifact)
    yield _line(artifact)


def _line(artifact: Artifact) -> Text:
    return Text(one_line(artifact.describe(), 300), style="cyan", overflow="fold")


def _text(text: str, style: str) -> Text:
    if len(text) > _LONGEST_TEXT:
        half = _LONGEST_TEXT // 2
        left_out = f"\n... {len(text) - 2 * half:,} characters left out ...\n"
        text = text[:half] + left_out + text[-half:]
    # trust: text from inside; rich takes no markup from a `Text`, and the terminal no control.
    return Text(clean(text).rstrip("\n"), style=style)


def draw_table(table: "Table") -> RenderableType:
    """Return a rich table: rows and columns of both ends, with counts of the rest.

    Args:
        table: The table.
    """
    grid = Grid(header_style="bold")
    columns = table.columns[:_MOST_COLUMNS]
    for column in columns:
        number = column.type in ("integer", "number")
        heading = Text(one_line(column.name, _LONGEST_CELL))
        grid.add_column(heading, justify="right" if number else "left", overflow="fold")
    rows = [*table.head, *table.tail]
    whole = len(rows) <= 2 * _MOST_ROWS and table.shape[0] <= len(rows)
    tail = [] if whole else [*(table.tail or table.head[_MOST_ROWS:])][-_MOST_ROWS:]
    head = rows if whole else [*table.head[:_MOST_ROWS]]
    for place, row in enumerate((*head, *tail)):
        if tail and place == len(head):
            grid.add_row(*("..." for _ in columns))
        grid.add_row(*(_cell(value) for value in row[: len(columns)]))
    count = f"{table.shape[0]:,} rows x {table.shape[1]:,} columns"
    more = len(table.columns) - len(columns)
    size = Text(count + (f", {more} not drawn" if more > 0 else ""), style="dim")
    # Below the grid and not its caption, which would be as narrow as the grid is.
    return Group(grid, size)


def _cell(value: object) -> Text:
    # trust: cells come from inside.
    return Text("" if value is None else one_line(strip_controls(str(value)[:1000]), _LONGEST_CELL))


class InlineImage:
    """Picture in a terminal that supports inline images; otherwise nothing.

    Args:
        artifact: The picture.
    """

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the escape sequence that displays the picture."""
        protocol = detect_protocol() if console.is_terminal else None
        content = self._artifact.content
        if protocol is None or content is None:
            return
        sequence = encode_image(content.bytes(), protocol)
        if sequence is not None:
            # A control segment has no width, so that rich neither wraps nor measures it.
            yield Segment(sequence, None, Control.home().segment.control)
            yield Segment.line()
