"""Words of shells: quotes, expansions, substitutions, variables, and output of small programs."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.sensitive_text import find_sensitive_text
from llm_sandbox.security.trees.bash.programs import LOADED
from llm_sandbox.security.trees.dataflow import Dataflow
from llm_sandbox.security.trees.sinks import Sinks
from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.text_operations import unescape
from llm_sandbox.security.trees.values import LONGEST_TEXT, Items, Values, texts, union

__all__ = ["EXPANSIONS", "Words", "printed", "spread_braces"]

_MOST = 100_000
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")


def printed(argv: Sequence[str | None], given: str | None) -> str | None:
    """Return the output of a program without its last line end; None when it is not known.

    Args:
        argv: Name and arguments of the program; None for unknown ones.
        given: Standard input; None when it is not known.
    """
    known = [word for word in argv if word is not None]
    if not known or len(known) != len(argv):
        return None
    name, arguments = known[0].rpartition("/")[2], known[1:]
    try:
        if name in _SOURCES:
            return _SOURCES[name](arguments)[:_MOST]
        if name in _FILTERS and given is not None:
            return _FILTERS[name](arguments, given)[:_MOST]
    except (ValueError, IndexError, binascii.Error, re.error):
        return None
    return None


def spread_braces(word: str) -> list[str]:
    """Return the words that `{a,b}c` expands to, at most 64."""
    words = [word]
    for _ in range(4):
        if not any(_BRACES.search(each) for each in words) or len(words) > 16:
            break
        words = [
            each[: found.start()] + choice + each[found.end() :]
            for each in words
            for found in [_BRACES.search(each)]
            if found
            for choice in found[1].split(",")[:16]
        ] or words
    return words[:64]


def _echo(arguments: list[str]) -> str:
    escapes = False
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        escapes = escapes or "e" in arguments[0]
        arguments = arguments[1:]
    text = " ".join(arguments)
    return unescape(text) if escapes else text


def _printf(arguments: list[str]) -> str:
    if arguments and arguments[0] == "--":
        arguments = arguments[1:]
    template, values = unescape(arguments[0]), arguments[1:]
    width = len(re.findall(r"%(?!%)[-0-9.]*[a-zA-Z]", template))
    rest = iter(values)

    def field(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        value = next(rest, "")
        if found[1] == "b":
            return unescape(value)
        return value[:1] if found[1] == "c" else value

    rounds = max(1, -(-len(values) // width)) if width else 1
    if rounds * len(template) + sum(map(len, values)) > _MOST:
        raise ValueError("too long")
    pattern = r"%[-0-9.]*([a-zA-Z%])"
    return "".join(re.sub(pattern, field, template) for _ in range(min(rounds, 1000)))


def _decode(arguments: list[str], given: str) -> str:
    if not {"-d", "-D", "--decode", "-di", "-id"} & set(arguments):
        return base64.b64encode(given.encode("utf-8", "replace")).decode()
    return base64.b64decode("".join(given.split())).decode("latin-1")


def _unhex(arguments: list[str], given: str) -> str:
    if not any(argument.startswith("-") and "r" in argument for argument in arguments):
        raise ValueError("prints digits")
    return bytes.fromhex("".join(given.split()).replace("\\x", "")).decode("latin-1")


def _spread(letters: str) -> str:
    def between(found: re.Match[str]) -> str:
        first, last = ord(found[1]), ord(found[2])
        return "".join(map(chr, range(first, min(last, first + 0x200) + 1)))

    letters = unescape(letters.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z"))
    return re.sub(r"(.)-(.)", between, letters, flags=re.DOTALL)


def _translate(arguments: list[str], given: str) -> str:
    if arguments[0] in {"-d", "--delete"}:
        gone = _spread(arguments[1])
        return "".join(letter for letter in given if letter not in gone)
    old, new = _spread(arguments[0]), _spread(arguments[1])
    table: dict[int, str] = {}
    for one, other in zip(old, new.ljust(len(old), new[-1]), strict=False):
        table[ord(one)] = other
    return given.translate(table)


def _edit(arguments: list[str], given: str) -> str:
    commands = [argument for argument in arguments if not argument.startswith("-")]
    found = re.fullmatch(r"s(.)(.*?)\1(.*?)\1(g?)", commands[0])
    if found is None or re.search(r"[\\\[\](){}*+?|^$.]", found[2]) or not found[2]:
        raise ValueError("not followed")
    if given.count(found[2]) * len(found[3]) > _MOST:
        raise ValueError("too long")
    return given.replace(found[2], found[3], -1 if found[4] else 1)


def _cut(arguments: list[str], given: str) -> str:
    found = re.fullmatch(r"-c\s*(\d+)?(-)?(\d+)?", " ".join(arguments))
    if found is None:
        raise ValueError("not followed")
    first = int(found[1] or 1)
    last = int(found[3]) if found[3] else None if found[2] else first
    return given[first - 1 : last]


def _same(_arguments: list[str], given: str) -> str:
    return given


_SOURCES: dict[str, Callable[[list[str]], str]] = {"echo": _echo, "printf": _printf}
_FILTERS: dict[str, Callable[[list[str], str], str]] = {
    "base64": _decode,
    "cat": _same,
    "cut": _cut,
    "rev": lambda _, given: "\n".join(line[::-1] for line in given.split("\n")),
    "sed": _edit,
    "tac": lambda _, given: "\n".join(reversed(given.split("\n"))),
    "tee": _same,
    "tr": _translate,
    "xxd": _unhex,
}


EXPANSIONS = frozenset(("command_substitution", "expansion", "simple_expansion"))
"""Kinds of nodes with text that is only known when the script runs."""

_GIVEN = {"IFS": " ", "HOME": "$HOME", "PWD": ".", "OLDPWD": ".", "USER": "user", "TMPDIR": "/tmp"}  # noqa: S108 - a name
_BUDGET = 2_000_000
_PIECE = re.compile(r"\$\{(!?)([\w]+)(?:\[([^\]]*)\])?(.*)\}\Z", re.DOTALL)


class Words(Dataflow):
    """Evaluator of words."""

    sinks: ClassVar[Sinks] = Sinks({})

    def __init__(self, tree: SyntaxTree, original: str) -> None:
        super().__init__(tree)
        self.original = original
        # Long texts that are put together again and again would take time without end.
        self._budget = _BUDGET + 20 * len(original)
        self.argv: dict[int, list[str | None]] = {}
        """Words of each command node; None for unknown words."""

    def word_rules(self) -> dict[str, Callable[[Node], Values | None]]:
        """Return the rules for words."""
        return {
            "ansi_c_string": self._ansi,
            "array": self._array,
            "command_substitution": self._substitution,
            "concatenation": self._pieces,
            "expansion": self._expansion,
            "heredoc_body": self._body,
            "number": self._word,
            "raw_string": self._raw,
            "simple_expansion": self._simple,
            "string": self._string,
            "variable_assignment": self._assignment,
            "word": self._word,
        }

    def words(self, node: Node) -> str:
        """Return the original text of a node."""
        return self.original[node.start : node.end]

    # Quotes

    def _word(self, node: Node) -> Values:
        text = self.words(node)
        if "\\" in text:
            text = re.sub(r"\\(\r?\n|[\s\S])", lambda hit: hit[1].strip("\r\n"), text)
        if text.startswith("~/"):
            text = "$HOME" + text[1:]
        return self._noted((text,), node)

    def _raw(self, node: Node) -> Values:
        return self._noted((self.words(node)[1:-1],), node)

    def _ansi(self, node: Node) -> Values:
        return self._noted((unescape(self.words(node)[2:-1]),), node)

    def _string(self, node: Node) -> Values:
        start, end = node.start + 1, node.end - 1
        return self._noted(self._between(node, start, end, in_quotes=True), node)

    def _body(self, node: Node) -> Values:
        value = self._between(node, node.start, node.end, in_quotes=True)
        if not value:
            self._report_text_in(node)
            return ()
        return self._noted(value, node)

    def _pieces(self, node: Node) -> Values:
        return self._noted(self._between(node, node.start, node.end, in_quotes=False), node)

    def _between(self, node: Node, start: int, end: int, *, in_quotes: bool) -> Values:
        """Join the parts of a node with the text between them, which the grammar leaves out."""
        pieces: list[str] = []
        at = start
        for child in [*node.children, None]:
            stop = end if child is None else child.start
            if stop > at:
                gap = self.original[at:stop]
                pieces.append(re.sub(r"\\([$`\"\\])", r"\1", gap) if in_quotes else gap)
            if child is None:
                break
            at = max(at, child.end)
            if child.kind in {"string_content", "heredoc_content"}:
                pieces.append(re.sub(r"\\([$`\"\\]|\r?\n)", r"\1", self.words(child)))
                continue
            value = texts(self.value(child))
            if not value:
                return ()
            pieces.append(value[0])
            self._budget -= len(value[0])
            if self._budget < 0:
                return ()
        if sum(map(len, pieces)) > LONGEST_TEXT:
            return ()
        return ("".join(pieces),)

    def _noted(self, value: Values, node: Node) -> Values:
        if node.parent is None or node.parent.kind not in {"concatenation", "string"}:
            if value:
                for text in texts(value)[:1]:
                    self._report_sensitive(text, node)
            else:
                self._report_text_in(node)
        return value

    def _report_text_in(self, node: Node) -> None:
        self._report_sensitive(self.words(node), node)

    def _report_sensitive(self, text: str, node: Node) -> None:
        named = set()
        for start, end, capability, what in find_sensitive_text(text):
            # Reading a start file is harmless; a write is reported at the redirection.
            if capability is not Capability.PERSISTENCE and capability not in named:
                named.add(capability)
                self.report(capability, node, text[start:end], detail=f"names {what}")
        if re.search(r"/dev/(?:tcp|udp)/", text):
            self.report(Capability.NETWORK_SOCKET, node, text[:80], detail="as a file of bash")

    # Expansions

    def _array(self, node: Node) -> Values:
        items: list[Values] = []
        for child in node.children:
            items.extend((word,) if word is not None else () for word in self.spread(child))
        return (Items(tuple(items)),)

    def _simple(self, node: Node) -> Values:
        return self._variable(self.words(node)[1:])

    def _variable(self, name: str) -> Values:
        known = self.look_up(name, self.top)
        if known:
            return known
        return (_GIVEN[name],) if name in _GIVEN else ()

    def _expansion(self, node: Node) -> Values:
        found = _PIECE.match(self.words(node))
        if found is None:
            return ()
        indirect, name, index, operation = found[1], found[2], found[3], found[4]
        value = self._variable(name)
        if indirect and value and not operation:
            value = tuple(each for text in texts(value)[:2] for each in self._variable(text))
        if index is not None:
            value = self._at(value, index)
        if operation.startswith((":-", ":=", "-", "=", ":+", "+")):
            default = [child for child in node.children if child.field != "operator"][1:]
            other = self.value(default[0]) if len(default) == 1 else ()
            return union(value, other) if not operation.lstrip(":").startswith("+") else other
        if not operation:
            return value
        try:
            results = [_operated(text, operation) for text in texts(value)[:2]]
        except ValueError:
            # A number of more digits than any is long.
            return ()
        return tuple(result for result in results if result is not None)

    def _at(self, value: Values, index: str) -> Values:
        for each in value:
            if isinstance(each, Items):
                if index in {"@", "*"}:
                    return (each,)
                if re.fullmatch("[0-9]{1,9}", index) and int(index) < len(each.items):
                    return each.items[int(index)]
        return ()

    def _substitution(self, node: Node) -> Values:
        inner = node.children[-1] if node.children else None
        value = self.value(inner)
        return tuple(text.rstrip("\n") for text in texts(value)[:2])

    def _assignment(self, node: Node) -> Values:
        name = node.get("name")
        if name is None:
            return ()
        word = self.words(name)
        value = self.value(node.get("value"))
        if self.original[name.end : name.end + 2] == "+=":
            known = texts(self.look_up(word, self.top) or ())[:1]
            value = tuple(old + new for old in known for new in texts(value)[:1])
            self.top.names[word] = value
        else:
            self.assign(word, value)
        if word in LOADED:
            self.report(LOADED[word], node, word, "high", "which decides what programs load")
        return ()

    def assign(self, name: str, value: Values) -> None:
        """Assign a value to a variable; its earlier values stay possible."""
        earlier = self.top.names.get(name, ())
        if not earlier:
            self.bind(name, value, self.top)
        elif value:
            self.top.names[name] = union(value, earlier)

    # Words of a command

    def spread(self, node: Node) -> list[str | None]:
        """Return the words that a node expands to, by braces and unquoted expansions."""
        value = self.value(node)
        if node.kind == "string" and len(node.children) == 1 and not texts(value):
            # Of `"${x[@]}"` each element is a word.
            value = self.value(node.children[0])
        for each in value:
            if isinstance(each, Items):
                return [texts(item)[0] if texts(item) else None for item in each.items]
        known = texts(value)
        if not known:
            return [None]
        raw = self.words(node)
        if "{" in raw and "," in raw and node.kind in {"concatenation", "word"}:
            return list(spread_braces(known[0]))
        is_open = node.kind in EXPANSIONS or (
            node.kind == "concatenation" and any(c.kind in EXPANSIONS for c in node.children)
        )
        if is_open and known[0].strip():
            return list(known[0].split())
        return [known[0]]

    def stdout_of(self, node: Node, given: str | None) -> str | None:
        """Return the output of a command for an input text."""
        return printed(self.argv.get(id(node), [None]), given)


def _operated(text: str, operation: str) -> str | None:
    """Return the result of `${x operation}` on a text; None for other operations."""
    if operation in {"^^", ",,", "^", ","}:
        changed = text.upper() if "^" in operation else text.lower()
        return changed if len(operation) == 2 else changed[:1] + text[1:]
    part = re.fullmatch(r":\s*(-?\d+)(?:\s*:\s*(\d+))?", operation)
    if part is not None:
        start = int(part[1])
        return text[start:][: int(part[2])] if part[2] else text[start:]
    found = re.fullmatch(r"//?([^/]*)(?:/(.*))?", operation, re.DOTALL)
    if found is not None and not re.search(r"[*?\[\]$]", found[1]) and found[1]:
        old, new = found[1].strip("\"'"), (found[2] or "").strip("\"'")
        old = old.replace("\\", "")
        if not old or text.count(old) * len(new) > LONGEST_TEXT:
            return None
        return text.replace(old, new, -1 if operation[:2] == "//" else 1)
    cut = re.fullmatch(r"(##?|%%?)([^*?\[\]$]+)", operation)
    if cut is not None:
        return text.removeprefix(cut[2]) if cut[1][0] == "#" else text.removesuffix(cut[2])
    return None
