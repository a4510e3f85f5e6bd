"""Visible outputs of a run once its updates and clear requests are applied."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from llm_sandbox.results.outputs import (
    ClearOutput,
    DisplayOutput,
    Output,
    ResultOutput,
    StreamOutput,
    UpdateOutput,
)

__all__ = ["BundleOutput", "VisibleOutput", "displays", "plain_text", "visible_outputs"]

BundleOutput = DisplayOutput | ResultOutput | UpdateOutput
"""Outputs that hold a MIME bundle."""


@dataclass(frozen=True, slots=True)
class VisibleOutput:
    """Output as it is at the end of the run."""

    index: int
    """Index in `ExecutionResult.outputs` of the visible content: for an updated display that of the
    update."""
    output: Output
    """The output; an updated display has the newest bundle. Never a `ClearOutput`."""
    start: int = 0
    """For a stream, offset of its text in the whole stream, in characters."""


def visible_outputs(outputs: Sequence[Output]) -> tuple[VisibleOutput, ...]:
    """Return the visible outputs, in order.

    A display is at its first position, with the content of its last update. Outputs before a clear
    request are not visible; one with `wait` applies when the next output arrives. An update of a
    display of an earlier run is an output of its own.

    Args:
        outputs: Outputs of a run.
    """
    screen = _Screen()
    for index, output in enumerate(outputs):
        screen.add(index, output)
    return tuple(item for item in screen.items if item is not None)


class _Screen:
    """Visible outputs in order, with displays by their handle."""

    def __init__(self) -> None:
        self.items: list[VisibleOutput | None] = []
        self._places: dict[str, list[int]] = {}
        self._lengths = {"stdout": 0, "stderr": 0}
        self._clears = False

    def add(self, index: int, output: Output) -> None:
        if isinstance(output, ClearOutput):
            self._clears = True
            if not output.wait:
                self._clear()
            return
        if self._clears:
            self._clear()
        if isinstance(output, StreamOutput):
            self.items.append(VisibleOutput(index, output, self._lengths[output.name]))
            self._lengths[output.name] += len(output.text)
        elif isinstance(output, UpdateOutput):
            self._update(index, output)
        else:
            if isinstance(output, DisplayOutput) and output.display_id is not None:
                self._places.setdefault(output.display_id, []).append(len(self.items))
            self.items.append(VisibleOutput(index, output))

    def _update(self, index: int, output: UpdateOutput) -> None:
        places = self._places.get(output.display_id)
        if places is None:
            self._places[output.display_id] = [len(self.items)]
            self.items.append(VisibleOutput(index, output))
            return
        for place in places:
            item = self.items[place]
            if item is not None:
                self.items[place] = VisibleOutput(index, _updated(item.output, output))

    def _clear(self) -> None:
        self._clears = False
        # Handles stay known: an update of a display that was cleared is not seen.
        self.items = [None] * len(self.items)


def _updated(old: Output, new: UpdateOutput) -> Output:
    if isinstance(old, DisplayOutput | UpdateOutput):
        return replace(old, data=new.data, metadata=new.metadata)
    return new


def plain_text(data: Mapping[str, object]) -> str | None:
    """Return the text of a bundle: plain, else Markdown, else LaTeX; None when it has none."""
    for mime in ("text/plain", "text/markdown", "text/latex"):
        text = data.get(mime)
        if isinstance(text, str) and text:
            return text
    return None


def displays(items: Sequence[VisibleOutput]) -> Iterator[tuple[VisibleOutput, BundleOutput]]:
    """Return the outputs that have a bundle."""
    for item in items:
        if isinstance(item.output, BundleOutput):
            yield item, item.output
