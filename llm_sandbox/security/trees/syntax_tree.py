"""Light syntax trees of programs, with offsets in characters of the text.

The grammars come from one wheel for each language and are loaded when a program of that language is
first parsed. Parsing takes linear time for any program, and nothing here is recursive: nesting may
have any depth.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Span
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Language, Tree
    from tree_sitter import Node as GrammarNode

__all__ = ["Node", "OffsetMap", "SyntaxTree", "read"]

_WHEELS = {
    "bash": "tree_sitter_bash",
    "cpp": "tree_sitter_cpp",
    "go": "tree_sitter_go",
    "java": "tree_sitter_java",
    "javascript": "tree_sitter_javascript",
    "ruby": "tree_sitter_ruby",
}


_PATIENCE_S = 3.0
_PIECE = 1 << 16
_MOST_MEMORY = 512 << 20
_MOST_OPEN = 500
_QUICK = 4_000
_STATEMENT_END = re.compile(rb"[;{}]")
_TEXT = re.compile(rb'"[^"\n]*"')


class Node:
    """Node of a syntax tree.

    `children` has the named nodes and those unnamed ones that have a field (operators).
    """

    __slots__ = ("children", "end", "field", "kind", "parent", "scope", "start", "value")

    kind: str
    """Name in the grammar, such as ``call_expression``; ``ERROR`` for a syntax error."""
    field: str
    """Field of the parent, such as ``arguments``; empty for none."""
    start: int
    """Offset of the first character in the parsed text."""
    end: int
    """Offset after the last character."""
    parent: "Node | None"
    """Parent; None for the root."""
    children: "list[Node]"
    """Children in the order of the text."""
    scope: object
    """Slot for the engine, such as for the scope of the node; None at first."""
    value: object
    """Slot for the engine, such as for the values of the node; None at first."""

    def __init__(self, kind: str, field: str, start: int, end: int, parent: "Node | None") -> None:
        self.kind = kind
        self.field = field
        self.start = start
        self.end = end
        self.parent = parent
        self.children = []
        self.scope = None
        self.value = None

    def get(self, field: str) -> "Node | None":
        """Return the first child of a field, or None."""
        for child in self.children:
            if child.field == field:
                return child
        return None

    def all(self, field: str) -> "list[Node]":
        """Return all children of a field."""
        return [child for child in self.children if child.field == field]

    def first(self, *kinds: str) -> "Node | None":
        """Return the first child of one of the kinds, or None."""
        for child in self.children:
            if child.kind in kinds:
                return child
        return None

    def walk(self) -> "Iterator[Node]":
        """Yield the node and its descendants, parents first, in the order of the text."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def above(self, *kinds: str) -> "Node | None":
        """Return the nearest ancestor of one of the kinds, or None."""
        node = self.parent
        while node is not None and node.kind not in kinds:
            node = node.parent
        return node


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Map from offsets in a rewritten text to offsets in the original.

    Args:
        new: Offsets in the rewritten text at which another shift begins, ascending.
        old: For each of them, the offset in the original text.
    """

    new: tuple[int, ...] = ()
    old: tuple[int, ...] = ()

    def back(self, offset: int) -> int:
        """Return the original offset for an offset in the rewritten text."""
        at = bisect_right(self.new, offset) - 1
        return offset if at < 0 else self.old[at] + offset - self.new[at]


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """Syntax tree of a program, and its first syntax error."""

    source: Source
    """Original program."""
    text: str
    """Parsed text: that of the source, or a rewritten one of another length."""
    offset_map: OffsetMap
    """Map from offsets of the parsed text to those of the source."""
    root: Node
    """Root node."""
    order: list[Node]
    """All nodes, children before their parents, in the order of the text."""
    problem: str = ""
    """First syntax error; empty without one."""
    problem_span: Span | None = None
    """Span of the syntax error."""

    def words(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text[node.start : node.end]

    def span(self, node: Node, last: Node | None = None) -> Span:
        """Return the span of a node in the source, or from there to the end of `last`."""
        return self.between(node.start, (last or node).end)

    def between(self, start: int, end: int) -> Span:
        """Return the span in the source between two offsets of the parsed text."""
        return self.source.span(self.offset_map.back(start), self.offset_map.back(end))


def read(
    source: Source, lang: str, text: str | None = None, offset_map: OffsetMap | None = None
) -> SyntaxTree:
    """Parse a program.

    Args:
        source: The program.
        lang: Language of the grammar: ``javascript``, ``java``, ``cpp``, ``go``, ``ruby``,
            ``bash``.
        text: Rewritten text to parse; None (default) for the text of the source.
        offset_map: Map from the offsets of `text` to those of the source; None (default) when they
            are equal.

    Raises:
        ImportError: The grammar is not installed.
    """
    text = source.text if text is None else text
    offset_map = offset_map or OffsetMap()
    parsed = _parsed(_grammar(lang), _one_byte_each(text))
    if parsed is None:
        root = Node("ERROR", "", 0, len(text), None)
        problem = f"is too tangled to be read as a program of {lang}"
        return SyntaxTree(source, text, offset_map, root, [root], problem, source.line_span(1))
    root, order, broken = _light(parsed.root_node)
    tree = SyntaxTree(source, text, offset_map, root, order)
    if broken is None:
        return tree
    span = tree.between(broken.start, max(broken.end, broken.start + 1))
    words = tree.words(broken).strip().partition("\n")[0][:40]
    near = f" near {words!r}" if words else ""
    return SyntaxTree(source, text, offset_map, root, order, f"not a program of {lang}{near}", span)


@cache
def _grammar(lang: str) -> "Language":
    from tree_sitter import Language

    return Language(import_module(_WHEELS[lang]).language())


def _parsed(grammar: "Language", data: bytes) -> "Tree | None":
    """Return the tree, or None when parsing takes too long or too much memory."""
    from tree_sitter import Parser

    # What has two readings may be kept in both to its end, which is quadratic in time and memory.
    if any(part.count(b"<") > _MOST_OPEN for part in _STATEMENT_END.split(_TEXT.sub(b"", data))):
        return None
    if len(data) < _QUICK:
        return Parser(grammar).parse(data)
    end = monotonic() + _PATIENCE_S + _PATIENCE_S * len(data) / 1_000_000
    most = _resident() + _MOST_MEMORY
    asked = count(1)

    def is_enough(_offset: int, _error: bool) -> bool:
        return next(asked) % 32 == 0 and (monotonic() > end or _resident() > most)

    try:
        return Parser(grammar).parse(
            lambda offset, _: data[offset : offset + _PIECE], progress_callback=is_enough
        )
    except ValueError:
        return None


def _resident() -> int:
    """Return the resident memory of this process in bytes; 0 where it is not known."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - called often
            return int(file.read().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0


class _Stand(dict[int, int]):
    """Single-byte substitutes of characters, which the grammars treat alike."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        if code in {0x2028, 0x2029, 0x85}:
            stand = ord("\n")
        elif char.isspace() or code == 0xFEFF:
            stand = ord(" ")
        else:
            # No keyword of any language has a Z. The other stand-in is no part of any program, but
            # may be in strings and comments.
            stand = ord("Z") if f"a{char}".isidentifier() else 1
        self[code] = stand
        return stand


_STAND = _Stand({code: code for code in range(1, 128)})


def _one_byte_each(text: str) -> bytes:
    # Offsets in bytes are offsets in characters then, and halves of surrogate pairs do no harm.
    if not text.isascii() or "\0" in text:
        text = text.translate(_STAND)
    return text.encode("ascii")


def _light(top: "GrammarNode") -> tuple[Node, list[Node], Node | None]:
    """Return the root, all nodes with children first, and the first error node."""
    cursor = top.walk()
    root = current = Node(top.type, "", top.start_byte, top.end_byte, None)
    order: list[Node] = []
    broken: Node | None = root if top.type == "ERROR" else None
    has_error = top.has_error
    into, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    # `parents` has None for the nodes that are left out.
    moved = into()
    while True:
        if moved:
            seen = cursor.node
            assert seen is not None  # noqa: S101 - a cursor is always on a node
            field = cursor.field_name
            if seen.is_named or field is not None:
                node = Node(seen.type, field or "", seen.start_byte, seen.end_byte, current)
                current.children.append(node)
                if has_error and broken is None and (node.kind == "ERROR" or seen.is_missing):
                    broken = node
                if into():
                    current = node
                    continue
                order.append(node)
            elif has_error and broken is None and seen.is_missing:
                broken = Node("ERROR", "", seen.start_byte, seen.end_byte, current)
        moved = along()
        if not moved:
            if not up():
                break
            order.append(current)
            if current.parent is None:
                break
            current = current.parent
    if not order or order[-1] is not root:
        order.append(root)
    return root, order, broken
