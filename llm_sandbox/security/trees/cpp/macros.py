"""Macros of C and C++: what a name stands for before the program is read."""

import re

from llm_sandbox.security.trees.syntax_tree import OffsetMap

__all__ = ["Macro", "expand", "without_splices"]

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
    """What ``#define`` says of one name."""

    __slots__ = ("parameters", "text")

    def __init__(self, parameters: list[str] | None, text: str) -> None:
        self.parameters = parameters
        """None when it takes none and has no parentheses."""
        self.text = text


def without_splices(text: str) -> tuple[str, OffsetMap]:
    """Return a program with its words whole, and with one spelling for each bracket."""
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
    """Return what a macro stands for with these arguments, other macros in it undone too.

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
