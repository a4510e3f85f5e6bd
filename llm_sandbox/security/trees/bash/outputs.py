"""What small programs print, so that text which a shell puts together can be followed."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from llm_sandbox.security.trees.escapes import unescape

__all__ = ["printed", "spread_braces"]

_MOST = 100_000
_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")


def printed(argv: Sequence[str | None], given: str | None) -> str | None:
    """Return what a program prints, without its last line end; None when that is not known.

    Args:
        argv: Its name and arguments; None for those that are not known.
        given: What it reads; None when that is not known.
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
    """Return the words that `{a,b}c` stands for, at most 64."""
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
