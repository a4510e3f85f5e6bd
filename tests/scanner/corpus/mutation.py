"""Broken programs: pieces of the corpora, cut, spliced, repeated and spoilt."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from tests.scanner.corpus.languages import attacks_of, ordinary_of
from tests.scanner.corpus.positions import annotated
from tests.scanner.corpus.snippets import attacks

if TYPE_CHECKING:
    import random

__all__ = ["mutated", "seeds"]

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
OPENING = (
    *("(", "[", "{", "((", "f'{", '"""', "'''", "`", "${", "$(", "<<", "/*", "//", "#", "\\", "!"),
    *("%%", "lambda:", "not ", "-", "~", "if 1:\n ", "<?", "=begin\n", "%w(", 'R"(', "@"),
)
RARE = (
    *("\x00", "\ufeff", "\u202e", "\u200b", "\ud800", "\udfff", "\U0001f600", "\u2028", "\x85"),
    *("\r", "\r\n", "\t", "\f", "\v", "\x1b", "\x1a", "\x7f", "\uff4f", "\U0001d428", "ß", "İ"),
    *("\u0301", "\U0010ffff"),
)
LONGEST = 4_000
"""Characters of most inputs; one in two hundred is long."""


@cache
def seeds(lang: str) -> tuple[str, ...]:
    """Return the programs that inputs are made of, for a language."""
    if lang == "python":
        chosen = [snippet.code for snippet in attacks()[::7]]
        return (*chosen, *(program.code for program in annotated()))
    return (*(code for _, code in attacks_of(lang)), *ordinary_of(lang))


def mutated(lang: str, random: random.Random) -> str:
    """Return one input.

    Args:
        lang: The language.
        random: What decides; the same numbers give the same input.
    """
    text = random.choice(seeds(lang))
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        text = random.choice(_MUTATORS)(text, lang, random)
        if len(text) > LONGEST:
            start = random.randrange(len(text) - LONGEST + 1)
            text = text[start : start + LONGEST]
    if random.randrange(200) == 0:
        text = _long(text, random)
    return text


def _place(text: str, random: random.Random) -> int:
    return random.randint(0, len(text))


def _swap(text: str, lang: str, random: random.Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    one, two = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[one], tokens[two] = tokens[two], tokens[one]
    return "".join(tokens)


def _drop(text: str, lang: str, random: random.Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    start = random.randrange(len(tokens))
    del tokens[start : start + random.choice((1, 1, 2, 8))]
    return "".join(tokens)


def _repeat(text: str, lang: str, random: random.Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    start = random.randrange(len(tokens))
    piece = tokens[start : start + random.choice((1, 2, 5))]
    return "".join(tokens[:start] + piece * random.choice((2, 3, 30)) + tokens[start:])


def _splice(text: str, lang: str, random: random.Random) -> str:
    other = random.choice(seeds(lang))
    start = _place(other, random)
    here = _place(text, random)
    return text[:here] + other[start : start + random.randint(1, 200)] + text[here:]


def _cut(text: str, lang: str, random: random.Random) -> str:
    return text[: _place(text, random)] if random.random() < 0.5 else text[_place(text, random) :]


def _lines(text: str, lang: str, random: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return "".join(lines)


def _join(text: str, lang: str, random: random.Random) -> str:
    other = random.choice(seeds(lang))
    return f"{text}\n{other}" if random.random() < 0.5 else f"{other}\n{text}"


def _rename(text: str, lang: str, random: random.Random) -> str:
    words = sorted(set(re.findall(r"\w+", text + " " + random.choice(seeds(lang)))))
    return re.sub(rf"\b{random.choice(words)}\b", random.choice(words), text) if words else text


def _rare(text: str, lang: str, random: random.Random) -> str:
    here = _place(text, random)
    return text[:here] + random.choice(RARE) * random.choice((1, 1, 3)) + text[here:]


def _letter(text: str, lang: str, random: random.Random) -> str:
    here = _place(text, random)
    return text[:here] + chr(random.randrange(32, 127)) + text[here + 1 :]


def _nest(text: str, lang: str, random: random.Random) -> str:
    here = _place(text, random)
    opening = random.choice(OPENING)
    return text[:here] + opening * random.choice((1, 2, 20, 400)) + text[here:]


def _wrap(text: str, lang: str, random: random.Random) -> str:
    depth = random.choice((1, 10, 100))
    left, right = random.choice((("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("-", "")))
    return left * depth + text + right * depth


def _indent(text: str, lang: str, random: random.Random) -> str:
    return "\n".join(" " * random.choice((0, 0, 1, 4)) + line for line in text.split("\n"))


def _ends(text: str, lang: str, random: random.Random) -> str:
    return text.replace("\n", random.choice(("\r\n", "\r", "", " ", "\\\n", "\n\n")))


def _long(text: str, random: random.Random) -> str:
    kind = random.randrange(4)
    if kind == 0:
        return text + "x" * 20_000
    if kind == 1:
        return " + ".join(["1"] * 3_000) + "\n" + text
    if kind == 2:
        return random.choice(OPENING) * 3_000 + text
    return (text[:400] + "\n") * 40


_MUTATORS = (
    *(_lines, _lines, _join, _join, _join, _rename, _rename, _rename, _swap, _drop, _repeat),
    *(_splice, _splice, _cut, _rare, _letter, _nest, _wrap, _indent, _ends),
)
