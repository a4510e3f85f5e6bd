"""Constant folding of R: functions of constant vectors."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence

__all__ = ["FUNCTIONS", "LARGEST", "Scalar", "Vector", "VectorList", "words"]

Scalar = str | float
Vector = tuple[Scalar, ...]
"""Constant, which is a vector as in R; raw bytes and truth values are numbers."""

LARGEST = 4096
"""Maximum number of elements of a vector, and of characters in its texts together."""


class VectorList(tuple[Vector, ...]):
    """List of vectors, as `strsplit` returns it."""


_Named = Mapping[str, Vector]
_Function = Callable[[Sequence[Vector], _Named], "Vector | VectorList | None"]


def _one(vectors: Sequence[Vector], index: int = 0) -> Scalar:
    return vectors[index][0]


def words(value: Scalar) -> str:
    """Return a scalar as text, as R does."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value == int(value) else str(value)


def _combine(given: Sequence[Vector], named: _Named) -> Vector:
    parts = (*given, *named.values())
    together = tuple(value for vector in parts for value in vector)
    if any(isinstance(value, str) for value in together):
        return tuple(words(value) for value in together)
    return together


def _paste(given: Sequence[Vector], named: _Named, between: str) -> Vector | None:
    vectors = [vector for vector in given if vector]
    count = max((len(vector) for vector in vectors), default=0)
    longest = sum(max(len(words(value)) for value in vector) for vector in vectors)
    longest += len(between) * len(vectors)
    if count * max(len(vectors), longest) > 4 * LARGEST:
        return None
    rows = [between.join(words(v[row % len(v)]) for v in vectors) for row in range(count)]
    if "collapse" in named:
        collapse = words(named["collapse"][0])
        return (collapse.join(rows),) if count * len(collapse) <= 4 * LARGEST else None
    return tuple(rows)


def _characters(given: Sequence[Vector], named: _Named) -> Vector:
    codes = [int(value) for value in given[0] if not isinstance(value, str)]
    letters = [chr(code) for code in codes if 0 < code < 0x110000]
    return tuple(letters) if named.get("multiple", (0,))[0] else ("".join(letters),)


def _codes(given: Sequence[Vector], _named: _Named) -> Vector:
    return tuple(float(ord(letter)) for letter in words(_one(given)))


def _split(given: Sequence[Vector], named: _Named) -> VectorList:
    between = words(given[1][0] if len(given) > 1 else named.get("split", ("",))[0])
    if between in {"", "NULL"}:
        return VectorList(tuple(words(text)) for text in given[0])
    if len(between) > 1 and between[0] in "\\[":
        between = between[1]
    return VectorList(tuple(words(text).split(between)) for text in given[0])


def _translated(given: Sequence[Vector], named: _Named) -> Vector:
    old, new, texts = _by_name(given, named, "old", "new", "x")
    # As in R, `a-z` stands for all letters between.
    table = dict(zip(map(ord, _spread(words(old[0]))), _spread(words(new[0])), strict=False))
    return tuple(words(text).translate(table) for text in texts)


def _spread(letters: str) -> str:
    def between(found: re.Match[str]) -> str:
        return "".join(map(chr, range(ord(found[1]), min(ord(found[2]), ord(found[1]) + 255) + 1)))

    return re.sub(r"(.)-(.)", between, letters)


def _by_name(given: Sequence[Vector], named: _Named, *names: str) -> list[Vector]:
    rest = list(given)
    return [named[name] if name in named else rest.pop(0) for name in names]


def _replaced(given: Sequence[Vector], named: _Named, count: int) -> Vector | None:
    pattern, new, texts = _by_name(given, named, "pattern", "replacement", "x")
    old = words(pattern[0])
    if not named.get("fixed", (0,))[0]:
        old = re.sub(r"\\([^\w])|\[(.)\]", r"\1\2", old)
        if re.search(r"[\[\](){}*+?|^$\\]|\.", old) and old != ".":
            return None
    if not old or sum(len(words(text)) for text in texts) * len(words(new[0])) > 40 * LARGEST:
        return None
    return tuple(words(text).replace(old, words(new[0]), count) for text in texts)


def _part(given: Sequence[Vector], named: _Named) -> Vector | None:
    texts, first, last = _by_name(
        given, {"last": (1e6,), **named} if len(given) < 3 else named, "x", "first", "last"
    )
    count = max(len(texts), len(first), len(last))
    if count * max(len(words(text)) for text in texts) > 4 * LARGEST:
        return None
    return tuple(
        words(texts[row % len(texts)])[
            max(0, _whole(first[row % len(first)]) - 1) : _whole(last[row % len(last)])
        ]
        for row in range(min(count, LARGEST))
    )


def _whole(value: Scalar) -> int:
    return int(float(value))


def _formatted(given: Sequence[Vector], named: _Named) -> Vector:
    values = iter([_one(given, index) for index in range(1, len(given))])

    def field(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        value = next(values, "")
        if found[1] == "c":
            return chr(_whole(value))
        return format(_whole(value), found[1]) if found[1] in "xXo" else words(value)

    template = named["fmt"][0] if "fmt" in named else _one(given)
    return (re.sub(r"%[-0-9.]*([sdixXoc%])", field, words(template)),)


def _from_base64(given: Sequence[Vector], named: _Named) -> Vector | None:
    text = words(_one(given) if given else next(iter(named.values()))[0])
    try:
        return tuple(float(byte) for byte in base64.b64decode(text))
    except (binascii.Error, ValueError):
        return None


def _repeated(given: Sequence[Vector], named: _Named) -> Vector | None:
    times = _whole((named.get("times") or given[1])[0])
    return given[0] * times if 0 <= times * len(given[0]) <= LARGEST else None


def _numbers(given: Sequence[Vector], named: _Named) -> Vector:
    base = named.get("base", given[1] if len(given) > 1 else (10,))
    return tuple(float(int(words(text), _whole(base[0]))) for text in given[0])


def _either(given: Sequence[Vector], _named: _Named) -> Vector:
    left, right = given[0], given[1]
    return tuple(
        float(_whole(left[row % len(left)]) ^ _whole(right[row % len(right)]))
        for row in range(min(max(len(left), len(right)), LARGEST))
    )


def _path(given: Sequence[Vector], named: _Named) -> Vector | None:
    return _paste(given, named, "/")


def _same(given: Sequence[Vector], _named: _Named) -> Vector:
    return given[0]


FUNCTIONS: dict[str, _Function] = {
    "as.character": lambda given, _: tuple(words(value) for value in given[0]),
    "as.integer": lambda given, _: tuple(float(value) for value in given[0]),
    "as.numeric": lambda given, _: tuple(float(value) for value in given[0]),
    "as.raw": _same,
    "base64_dec": _from_base64,
    "base64_decode": _from_base64,
    "base64decode": _from_base64,
    "bitwXor": _either,
    "c": _combine,
    "casefold": lambda given, named: tuple(
        words(v).upper() if named.get("upper", (0,))[0] else words(v).lower() for v in given[0]
    ),
    "charToRaw": _codes,
    "chartr": _translated,
    "dQuote": lambda given, _: (f'"{words(_one(given))}"',),
    "file.path": _path,
    "gsub": lambda given, named: _replaced(given, named, -1),
    "I": _same,
    "identity": _same,
    "intToUtf8": _characters,
    "invisible": _same,
    "noquote": _same,
    "normalizePath": _same,
    "paste": lambda given, named: _paste(given, named, words(named.get("sep", (" ",))[0])),
    "paste0": lambda given, named: _paste(given, named, ""),
    "path.expand": _same,
    "rawToChar": _characters,
    "rep": _repeated,
    "rev": lambda given, _: given[0][::-1],
    "shQuote": lambda given, _: (f"'{words(_one(given))}'",),
    "sprintf": _formatted,
    "str_c": lambda given, named: _paste(given, named, words(named.get("sep", ("",))[0])),
    "strrep": lambda given, _: (words(_one(given)) * min(_whole(_one(given, 1)), 64),),
    "strsplit": _split,
    "strtoi": _numbers,
    "sub": lambda given, named: _replaced(given, named, 1),
    "substr": _part,
    "substring": _part,
    "tolower": lambda given, _: tuple(words(value).lower() for value in given[0]),
    "toupper": lambda given, _: tuple(words(value).upper() for value in given[0]),
    "trimws": lambda given, _: tuple(words(value).strip() for value in given[0]),
    "unlist": _same,
    "utf8ToInt": _codes,
    "xor": _either,
}
"""Modelled functions by name. An exception means that the value stays unknown."""
