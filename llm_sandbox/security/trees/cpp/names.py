"""Names of C++: macros, qualified names and declarations, resolved to full names."""

import re
from collections.abc import Callable

from llm_sandbox.security.trees.cpp.tables import NETWORK_NAMES, OPENERS, SINKS
from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.syntax_tree import Node, OffsetMap
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import Ref, Values

__all__ = ["Macro", "Names", "declared_name", "expand", "without_splices"]

_LONGEST = 4_000
_SPLICE = re.compile(r"(?<=\w)\\\r?\n(?=\w)")
_DIGRAPH = re.compile(r"%:|<%|%>|<:(?!:)|:>|\?\?[=/'()!<>-]")
_MEANS = {
    "%:": "# ",
    "<%": "{ ",
    "%>": "} ",
    "<:": "[ ",
    ":>": "] ",
    "??=": "#  ",
    "??(": "[  ",
    "??)": "]  ",
    "??<": "{  ",
    "??>": "}  ",
}
_WORD = re.compile(r"[A-Za-z_]\w*")
_PASTE = re.compile(r"\s*##\s*")


class Macro:
    """Macro that ``#define`` defines."""

    __slots__ = ("parameters", "text")

    def __init__(self, parameters: list[str] | None, text: str) -> None:
        self.parameters = parameters
        """Parameters; None for a macro without parentheses."""
        self.text = text


def without_splices(text: str) -> tuple[str, OffsetMap]:
    """Return a program without line splices and digraphs."""
    if "%" in text or "??" in text or "<:" in text:
        text = _DIGRAPH.sub(lambda found: _MEANS.get(found[0], found[0]), text)
    if "\\\n" not in text and "\\\r\n" not in text:
        return text, OffsetMap()
    parts: list[str] = []
    new: list[int] = []
    old: list[int] = []
    at = length = 0
    for found in _SPLICE.finditer(text):
        kept = text[at : found.start()]
        parts.append(kept)
        length += len(kept)
        at = found.end()
        new.append(length)
        old.append(at)
    return "".join([*parts, text[at:]]), OffsetMap(tuple(new), tuple(old))


def expand(
    macro: Macro, arguments: list[str], macros: dict[str, Macro], depth: int = 0
) -> str | None:
    """Return the expansion of a macro with its arguments, nested macros included.

    Returns:
        The text, or None when it is longer than 4,000 characters.
    """
    given = dict(zip(macro.parameters or (), arguments, strict=False))
    if macro.parameters and macro.parameters[-1] == "...":
        given["__VA_ARGS__"] = ", ".join(arguments[len(macro.parameters) - 1 :])
    text = _PASTE.sub("\0", macro.text)
    text = re.sub(
        r"(?<!\0)#\s*([A-Za-z_]\w*)",
        lambda found: f'"{given[found[1]]}"' if found[1] in given else found[0],
        text,
    )
    text = _WORD.sub(lambda found: given.get(found[0], found[0]), text).replace("\0", "")
    if len(text) > _LONGEST:
        return None
    if depth < 8:
        text = _WORD.sub(lambda found: _word(found[0], macros, depth), text)
    return text if len(text) <= _LONGEST else None


def _word(word: str, macros: dict[str, Macro], depth: int) -> str:
    macro = macros.get(word)
    if macro is None or macro.parameters is not None:
        return word
    return expand(macro, [], macros, depth + 1) or word


_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_NAMES = {"field_identifier", "identifier", "type_identifier"}
_ALSO_KNOWN = frozenset(
    {*OPENERS, *NETWORK_NAMES, "mmap", "mprotect", "VirtualAlloc", "string"}
) | {
    "VirtualProtect",
    "to_string",
    "thread",
    "wstring",
    "string_view",
    "filesystem::path",
}


def declared_name(declarator: Node | None) -> Node | None:
    """Return the name within a declarator with pointers, calls and indexes."""
    node = declarator
    for _ in range(40):
        if node is None or node.kind in _NAMES:
            return node
        inner = node.get("declarator") or node.first(*_NAMES)
        node = inner or (node.children[-1] if node.children else None)
    return None


class Names(Dataflow):
    """Resolver of names."""

    sinks = SINKS
    scoping = frozenset(
        {
            "class_specifier",
            "function_definition",
            "lambda_expression",
            "namespace_definition",
            "struct_specifier",
        }
    )
    macros: dict[str, Macro]
    spaces: dict[str, str]
    """Aliases of namespaces."""
    opened_spaces: list[str]
    """Namespaces of ``using`` directives."""
    types: dict[str, str]
    """Aliases of types."""

    def declarations(self) -> dict[str, Callable[[Node], object]]:
        """Return the declaration rules by kind of node."""
        return {
            "function_definition": self._declare_function,
            "init_declarator": self._declare_in,
            "parameter_declaration": self._declare_in,
            "optional_parameter_declaration": self._declare_in,
            "for_range_loop": self._declare_in,
        }

    def _declare_function(self, node: Node) -> None:
        declarator = node.get("declarator")
        name = declared_name(declarator)
        if name is None:
            return
        listed = declarator.get("parameters") if declarator is not None else None
        parameters = (
            [declared_name(each.get("declarator")) for each in listed.children] if listed else []
        )
        function = self.function(node, [each for each in parameters if each is not None])
        self.opened.setdefault(id(self.scope(node)), function)
        if name.kind != "type_identifier":
            self.declare(self.tree.words(name), self.scope(node.parent))

    def _declare_in(self, node: Node) -> None:
        name = declared_name(node.get("declarator"))
        if name is not None:
            self.declare(self.tree.words(name), self.scope(node))

    def full_name(self, words: str) -> str:
        """Return a name in the form of the tables."""
        name = "".join(words.split()).partition("<")[0].removeprefix("::")
        first, sign, rest = name.partition("::")
        if sign and first in self.spaces:
            name = f"{self.spaces[first]}::{rest}"
        elif not sign and name in self.types:
            name = self.types[name]
        return name.removeprefix("std::")

    def library(self, words: str) -> Ref | None:
        """Return the library reference of a name that the program does not declare, or None."""
        name = self.full_name(words)
        for known in (name, *(f"{space}::{name}" for space in self.opened_spaces[:20])):
            full = known.removeprefix("std::")
            if (
                full in _ALSO_KNOWN
                or full in self.sinks.writes
                or self.sinks.of_call(full) is not None
            ):
                return Ref(full)
            if self.sinks.of_read(full) is not None:
                return Ref(full)
        return None

    def name(self, node: Node) -> Values:
        """Return the value of a name."""
        parent = node.parent
        names = node.field in {"declarator", "name"}
        if (
            parent is not None
            and node.field != "value"
            and (names or parent.kind.endswith("_declarator"))
        ):
            return ()
        words = self.tree.words(node)
        known = self.look_up(words, self.scope(node))
        if known is not None:
            return known
        macro = self.macros.get(words)
        if macro is not None and macro.parameters is None:
            literals = _LITERAL.findall(macro.text)
            if literals and macro.text.startswith('"'):
                return (unescape("".join(literals)),)
        found = self.library(words)
        if found is None:
            return self.field(words)
        self.report_read(found, node)
        return (found,)

    def qualified(self, node: Node) -> Values:
        """Return the value of a qualified name."""
        if node.parent is not None and node.parent.kind == "qualified_identifier":
            return ()
        words = self.tree.words(node)
        found = self.library(words)
        if found is not None:
            return (found,)
        return self.look_up("".join(words.split()).removeprefix("::"), self.top) or ()

    def name_space(self, node: Node) -> None:
        """Declare an alias of a namespace."""
        name = node.get("name")
        if name is not None and len(node.children) > 1:
            full = self.full_name(self.tree.words(node.children[-1]))
            self.spaces[self.tree.words(name)] = full

    def use(self, node: Node) -> None:
        """Declare the names and namespaces of ``using``."""
        words = self.tree.words(node).strip().rstrip(";").split(None, 1)
        name = words[1] if len(words) > 1 else ""
        if name.startswith("namespace"):
            space = self.full_name(name.removeprefix("namespace"))
            if space not in self.opened_spaces and space != "std":
                self.opened_spaces.append(space)
            return
        full = self.full_name(name)
        self.types[full.rpartition("::")[2]] = full

    def alias(self, node: Node) -> None:
        """Declare an alias of a type."""
        name, kind = node.get("name"), node.get("type")
        if name is not None and kind is not None:
            self._name_type(self.tree.words(name), kind, node)

    def typedef(self, node: Node) -> None:
        """Declare an alias of a type by ``typedef``."""
        kind, name = node.get("type"), declared_name(node.get("declarator"))
        if name is not None and kind is not None:
            self._name_type(self.tree.words(name), kind, node)

    def _name_type(self, name: str, kind: Node, node: Node) -> None:
        words = self.tree.words(node)
        pointer = re.search(r"\(\s*\*", words) is not None
        self.types[name] = "(*)" if pointer else self.full_name(self.tree.words(kind))

    def type_of(self, node: Node) -> Values:
        """Return the value of a type."""
        found = self.library(self.tree.words(node))
        return (found,) if found is not None else ()
