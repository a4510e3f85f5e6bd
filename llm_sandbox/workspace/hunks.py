"""Hunks of a unified diff between two texts.

Lines that occur exactly once in both are matched first (patience diff), in linear time; only short
gaps between them are compared line by line, since hostile texts could make that slow.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

__all__ = ["hunks"]

_CONTEXT = 3
_COMPARED = 200
"""Maximum lines on each side for a comparison of all pairs."""
_NO_NEWLINE = "\\ No newline at end of file\n"

_Block = tuple[int, int, int, int]
"""Changed block: start and end lines in the first text, start and end lines in the second."""


def hunks(first: bytes, second: bytes) -> str:
    """Return the hunks of a unified diff; invalid UTF-8 is decoded as by `os.fsdecode`."""
    old, new = _lines(first), _lines(second)
    blocks = list(_differences(old, new))
    return "".join(_hunk(old, new, group) for group in _grouped(blocks))


def _lines(content: bytes) -> list[str]:
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


# --- what differs


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[_Block]:
    at, to = 0, 0
    for start, begin, length in [*_matches(old, new), (len(old), len(new), 0)]:
        if at < start or to < begin:
            yield at, start, to, begin
        at, to = start + length, begin + length


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return maximal runs of equal lines as positions and length, in order."""
    pairs: list[tuple[int, int]] = []
    # A stack in place of recursion: texts nest as deep as their maker likes.
    todo = [(0, len(old), 0, len(new))]
    while todo:
        at, end, to, stop = todo.pop()
        while at < end and to < stop and old[at] == new[to]:
            pairs.append((at, to))
            at, to = at + 1, to + 1
        while at < end and to < stop and old[end - 1] == new[stop - 1]:
            end, stop = end - 1, stop - 1
            pairs.append((end, stop))
        if at == end or to == stop:
            continue
        anchors = _anchors(old, new, (at, end, to, stop))
        if anchors:
            pairs += anchors
            edges = [(at - 1, to - 1), *anchors, (end, stop)]
            todo += [
                (a + 1, b, c + 1, d)
                for (a, c), (b, d) in pairwise(edges)
                if a + 1 < b and c + 1 < d
            ]
        elif end - at <= _COMPARED and stop - to <= _COMPARED:
            matcher = SequenceMatcher(None, old[at:end], new[to:stop], autojunk=False)
            for match in matcher.get_matching_blocks():
                pairs += [(at + match.a + n, to + match.b + n) for n in range(match.size)]
    return _runs(sorted(pairs))


def _anchors(old: Sequence[str], new: Sequence[str], part: _Block) -> list[tuple[int, int]]:
    """Return the longest sequence of unique common lines in the same order."""
    at, end, to, stop = part
    counts, others = Counter(old[at:end]), Counter(new[to:stop])
    places = {new[n]: n for n in range(to, stop) if others[new[n]] == 1}
    found = [
        (n, places[old[n]]) for n in range(at, end) if counts[old[n]] == 1 and old[n] in places
    ]
    # The longest ascending row of the second numbers.
    tops: list[int] = []
    links: list[int] = []
    heads: list[int] = []
    for number, (_, place) in enumerate(found):
        pile = bisect_left(tops, place)
        links.append(heads[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        heads[pile : pile + 1] = [number]
    row: list[tuple[int, int]] = []
    number = heads[-1] if heads else -1
    while number >= 0:
        row.append(found[number])
        number = links[number]
    return row[::-1]


def _runs(pairs: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for a, b in pairs:
        if runs and (a, b) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((a, b, 1))
    return runs


# --- how it is written


def _grouped(blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Group blocks whose context would overlap."""
    group: list[_Block] = []
    for block in blocks:
        if group and block[0] - group[-1][1] > 2 * _CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(old: list[str], new: list[str], group: list[_Block]) -> str:
    start = max(0, group[0][0] - _CONTEXT)
    begin = max(0, group[0][2] - _CONTEXT)
    end = min(len(old), group[-1][1] + _CONTEXT)
    stop = min(len(new), group[-1][3] + _CONTEXT)
    parts = [f"@@ -{_range(start, end)} +{_range(begin, stop)} @@\n"]
    at = start
    for a, b, c, d in group:
        parts += [_line(" ", line) for line in old[at:a]]
        parts += [_line("-", line) for line in old[a:b]]
        parts += [_line("+", line) for line in new[c:d]]
        at = b
    parts += [_line(" ", line) for line in old[at:end]]
    return "".join(parts)


def _range(start: int, end: int) -> str:
    length = end - start
    # An empty range names the line before it.
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"
