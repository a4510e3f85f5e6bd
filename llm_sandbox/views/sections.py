"""Sections of a result's view for a model: status, streams, displays, lists."""

import json
from collections.abc import Sequence

from llm_sandbox.artifacts.artifact import Artifact, human_size
from llm_sandbox.results.outputs import StreamOutput
from llm_sandbox.views.sanitize import clean, fenced, one_line

__all__ = [
    "ArtifactSection",
    "Lines",
    "ListSection",
    "TextSection",
    "heading_of",
    "line_of",
    "name_of",
]

_HEAD = 0.4
"""Share of a shortened text that its head gets; the end is more informative."""
_SMALLEST = 24
"""Fewest characters of a text that are informative."""
_SHORT = 60
"""Length of a text below which omitting it saves nothing."""
_MOST_NAMES = 6
_LONGEST_PATH = 120
_LONGEST_LINE = 300
_LONGEST_TITLE = 60
_LONGEST_WORDS = 160


class TextSection:
    """Text with a heading, shown by its head and tail.

    Args:
        title: Heading.
        text: The text, from inside.
        reader: Beginning of the call by which the model reads the rest, with its handle, such as
            ``read("stdout"``; empty when it cannot be read.
        start: Offset of the text in the content of the handle, in characters.
        head: Share of the shown text that comes from the beginning.
    """

    def __init__(
        self, title: str, text: str, reader: str = "", start: int = 0, head: float = _HEAD
    ) -> None:
        self._title = title
        self._text = text
        self._reader = reader
        self._start = start
        self._head = head
        # Counted once: to go over 100 MB takes as long as all the rest.
        self._lines = text.count("\n")

    @property
    def size(self) -> int:
        """Number of characters of content."""
        return len(self._text)

    @property
    def title(self) -> str:
        """Heading."""
        return self._title

    def render(self, characters: int) -> str:
        """Return the section; see `Section`."""
        text = self._text
        if characters >= len(text) or len(text) <= _SHORT:
            return f"{self._title}\n{fenced(clean(text))}"
        if characters < _SMALLEST:
            return f"{self._title}\n{self._left_out(0, len(text))}"
        first = self._end_of_head(int(characters * self._head))
        last = self._start_of_tail(len(text) - (characters - int(characters * self._head)))
        # trust: only these two pieces of a text from inside are looked at, however long it is.
        blocks = [clean(text[:first]), clean(text[last:])]
        shown = [fenced(block) if block.strip() else "" for block in blocks]
        parts = [self._title, shown[0], self._left_out(first, last), shown[1]]
        return "\n".join(part for part in parts if part)

    def _end_of_head(self, end: int) -> int:
        return self._text.rfind("\n", end // 2, end) + 1 or end

    def _start_of_tail(self, start: int) -> int:
        middle = start + (len(self._text) - start) // 2
        return self._text.find("\n", start, middle) + 1 or start

    def _left_out(self, first: int, last: int) -> str:
        shown = self._text.count("\n", 0, first) + self._text.count("\n", last)
        what = f"{self._lines - shown:,} lines, {last - first:,} characters left out"
        if not self._reader:
            return f"[{what}]"
        return f"[{what}; {self._reader}, offset={self._start + first}) gives them]"


class ArtifactSection:
    """Displayed artifact: its facts, and as much of its data as fits.

    Args:
        artifact: The artifact.
        texts: Data of the artifact, from the longest form to the shortest; a single text is cut if
            it does not fit. Empty if there is none.
        remark: Remark on the picture.
        reader: As of `TextSection`.
    """

    def __init__(
        self, artifact: Artifact, texts: Sequence[str] = (), remark: str = "", reader: str = ""
    ) -> None:
        title = heading_of(artifact, has_data=any(texts))
        title += f"; {remark}" if remark else ""
        bodies = [TextSection(title, text, reader, head=0.6) for text in texts if text]
        self._title, self._bodies = title, bodies

    @property
    def size(self) -> int:
        """Number of characters of content."""
        return self._bodies[0].size if self._bodies else 0

    def render(self, characters: int) -> str:
        """Return the section; see `Section`."""
        for body in self._bodies:
            if body.size <= characters:
                return body.render(body.size)
        if len(self._bodies) != 1 or characters < _SMALLEST:
            return self._title
        return self._bodies[0].render(characters)


class Lines:
    """Lines of the host, of which as many as fit are shown.

    Args:
        lines: The lines, the most important first.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    @property
    def size(self) -> int:
        """Number of characters of content."""
        return sum(len(line) + 1 for line in self._lines[1:])

    def render(self, characters: int) -> str:
        """Return the section; see `Section`."""
        kept = list(self._lines[:1])
        for line in self._lines[1:]:
            characters -= len(line) + 1
            if characters < 0:
                break
            kept.append(line)
        return "\n".join(kept)


class ListSection:
    """List of one line per item, in order; of a long list the first and the last lines.

    Args:
        title: Heading.
        entries: Artifacts, and the text printed between them; only the shown ones are formatted.
        reader: Beginning of the call by which the model reads all lines; empty if there is none.
    """

    def __init__(
        self, title: str, entries: Sequence[Artifact | StreamOutput], reader: str = ""
    ) -> None:
        self._title = title
        self._reader = reader
        self._entries = entries
        self._lines: dict[int, str] = {}

    @property
    def size(self) -> int:
        """Most characters of content."""
        return len(self._entries) * (_LONGEST_LINE + 1)

    def render(self, characters: int) -> str:
        """Return the section; see `Section`."""
        first, last, used = 0, len(self._entries), 0
        while first < last:
            at_front = first <= len(self._entries) - last
            used += len(self._line(first if at_front else last - 1)) + 1
            if used > characters:
                break
            first, last = (first + 1, last) if at_front else (first, last - 1)
        blocks = [self._block(0, first), self._block(last, len(self._entries))]
        if first == last:
            return f"{self._title}\n{fenced(self._text(0, len(self._entries)))}"
        parts = [self._title, blocks[0], self._left_out(first, last), blocks[1]]
        return "\n".join(part for part in parts if part)

    def _block(self, start: int, stop: int) -> str:
        return fenced(self._text(start, stop)) if start < stop else ""

    def _left_out(self, start: int, stop: int) -> str:
        made = sum(isinstance(entry, Artifact) for entry in self._entries[start:stop])
        printed = stop - start - made
        and_printed = f" and {printed:,} pieces of output" if printed else ""
        names_all = f"; {self._reader} names all" if self._reader else ""
        return f"[{made:,} things{and_printed} left out{names_all}]"

    def _text(self, start: int, stop: int) -> str:
        return "\n".join(map(self._line, range(start, stop)))

    def _line(self, place: int) -> str:
        line = self._lines.get(place)
        if line is None:
            entry = self._entries[place]
            if isinstance(entry, StreamOutput):
                line = f"{entry.name}: {one_line(entry.text.strip(), _LONGEST_WORDS)}"
            else:
                line = line_of(entry)
            self._lines[place] = line
        return line


def heading_of(artifact: Artifact, *, has_data: bool = False) -> str:
    """Return the host's line about an artifact: its kind, its subject, and measured facts.

    Args:
        artifact: The artifact; text from inside is quoted or omitted.
        has_data: Whether the data of the artifact follows, and need not be described.
    """
    shows = artifact.chart or artifact.table
    if artifact.chart is not None:
        facts = [_quoted(artifact.chart.describe())]
    elif artifact.table is not None:
        rows, columns = artifact.table.shape
        names = [column.name for column in artifact.table.columns[:_MOST_NAMES]]
        more = [] if columns == len(names) else ["…"]
        named = f": {_quoted(', '.join([*names, *more]))}" if names and not has_data else ""
        facts = [f"{rows:,} rows x {columns:,} columns{named}"]
    else:
        facts = [one_line(artifact.mime, 60)]
    if artifact.width and artifact.height:
        facts.append(f"{artifact.width} x {artifact.height}")
    if artifact.pages:
        facts.append(f"{artifact.pages} pages")
    if artifact.duration_s is not None:
        facts.append(f"{artifact.duration_s:.1f} s")
    if artifact.size and shows is None:
        facts.append(human_size(artifact.size))
    if artifact.change:
        facts.append(artifact.change)
    path = f" {_quoted(artifact.paths[0], _LONGEST_PATH)}" if artifact.paths else ""
    return f"{artifact.type.value} {artifact.id}{path}: {', '.join(facts)}"


def name_of(artifact: Artifact) -> str:
    """Return the caption of a picture: its kind, its title or path quoted, its handle.

    Args:
        artifact: The artifact.
    """
    title = artifact.chart.name if artifact.chart is not None else None
    title = title or (artifact.paths[0] if artifact.paths else None)
    named = f" {_quoted(title, _LONGEST_TITLE)}" if title else ""
    return f"{artifact.type.value}{named} ({artifact.id})"


def _quoted(text: str, most: int = _LONGEST_WORDS) -> str:
    return json.dumps(one_line(text, most), ensure_ascii=False)


def line_of(artifact: Artifact) -> str:
    """Return one line about an artifact for a list, beginning with its handle.

    Args:
        artifact: The artifact; the line must be put between fences.
    """
    shows = artifact.chart or artifact.table
    said = artifact.describe()
    if shows is not None:
        path = f" {artifact.paths[0]}" if artifact.paths else ""
        said = f"{artifact.type.value}{path} - {shows.describe()}"
    # trust: titles and names from inside; the line is clean, and is shown between fences only.
    return f"{artifact.id} {one_line(said, _LONGEST_LINE - 60)}"
