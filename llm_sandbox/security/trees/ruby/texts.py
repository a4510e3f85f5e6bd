"""Constant folding of Ruby: methods of texts, numbers and lists, and short blocks over them."""

import base64
import binascii
import re
import zlib
from collections.abc import Callable
from typing import Any, cast

from llm_sandbox.security.trees.syntax_tree import Node, SyntaxTree
from llm_sandbox.security.trees.text_operations import filled

__all__ = ["METHODS", "MODULE_FUNCTIONS", "OPERATORS", "evaluated"]

_MOST = 100_000


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _spread(letters: str) -> str:
    def between(found: re.Match[str]) -> str:
        first, last = ord(found[1]), ord(found[2])
        return "".join(map(chr, range(first, min(last, first + 0x200) + 1)))

    return re.sub(r"(.)-(.)", between, letters, flags=re.DOTALL)


def _translated(text: str, old: str, new: str) -> str:
    source, target = _spread(_text(old)), _spread(_text(new))
    if source.startswith("^"):
        raise ValueError("a negated set")
    if not target:
        return "".join(letter for letter in text if letter not in source)
    target = target.ljust(len(source), target[-1])
    table: dict[int, str] = {}
    for one, other in zip(source, target, strict=False):
        table.setdefault(ord(one), other)
    return _text(text).translate(table)


def _packed(parts: object, template: str) -> str:
    values, kind = _listed(parts), _text(template)[:1]
    if kind in {"c", "C", "U", "W"}:
        return "".join(chr(int(value) & 0x1FFFFF) for value in values)
    if kind in {"a", "A"}:
        return "".join(map(_text, values))
    if kind == "H":
        return bytes.fromhex(_text(values[0])).decode("latin-1")
    if kind in {"m"}:
        return base64.b64encode(_text(values[0]).encode("latin-1")).decode()
    raise ValueError("a template that is not followed")


def _unpacked(text: object, template: str) -> list[Any]:
    data, kind = _text(text), _text(template)[:1]
    if kind == "m":
        return [_decoded(data)]
    if kind in {"c", "C", "U"}:
        return [ord(letter) for letter in data]
    if kind == "H":
        return [data.encode("latin-1").hex()]
    if kind in {"a", "A"}:
        return [data]
    raise ValueError("a template that is not followed")


def _decoded(text: str) -> str:
    data = _text(text).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4)).decode("latin-1")
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _inflated(text: str) -> str:
    try:
        return (
            zlib.decompressobj().decompress(_text(text).encode("latin-1"), _MOST).decode("latin-1")
        )
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _element(value: object, index: object, count: object = None) -> object:
    sequence = cast("Any", value if isinstance(value, str | list) else None)
    if isinstance(index, str):
        if index in _text(value):
            return index
        raise KeyError(index)
    if isinstance(index, list):
        return sequence[index[0] : (index[-1] + 1 or None)] if index else sequence[:0]
    if not isinstance(index, int):
        raise TypeError("no index")
    if isinstance(count, int):
        return sequence[index : index + count]
    return sequence[index]


def _replaced(text: str, old: str, new: str) -> str:
    if not old or _text(text).count(_text(old)) * len(_text(new)) > _MOST:
        raise ValueError("too long")
    return text.replace(old, new)


def _formatted(template: object, *values: object) -> str:
    if len(_text(template)) > _MOST // 10:
        raise ValueError("too long")
    given = iter(values[0] if len(values) == 1 and isinstance(values[0], list) else values)

    def field(found: re.Match[str]) -> str:
        kind = found[1]
        if kind == "%":
            return "%"
        value = next(given, "")
        if kind == "c":
            return chr(value) if isinstance(value, int) else str(value)
        return format(value, kind) if kind in "xXob" and isinstance(value, int) else str(value)

    return filled(r"%[-0-9.]*([sdicxXobup%])", _text(template), field)


def _times(value: object, count: object) -> object:
    if isinstance(value, int) and isinstance(count, int):
        return value * count
    if isinstance(count, str):
        return _joined(value, count)
    if not isinstance(count, int) or not isinstance(value, str | list):
        raise TypeError("cannot be repeated")
    if len(value) * count > _MOST:
        raise ValueError("too long")
    return value * count


def _plus(one: Any, other: Any) -> object:
    if type(one) is not type(other):
        raise TypeError("of two kinds")
    return one + other


def _appended(one: object, other: object) -> object:
    if isinstance(one, int) and isinstance(other, int) and 0 <= other < 64:
        return one << other
    if isinstance(one, list):
        return [*one, other]
    return _text(one) + (chr(other) if isinstance(other, int) else _text(other))


def _ranged(first: object, last: object) -> list[Any]:
    if isinstance(first, int) and isinstance(last, int):
        if not -1 <= last - first <= 0x1000 and last >= 0:
            raise ValueError("too long")
        return [first, last] if last < first else list(range(first, last + 1))
    start = ord(_text(first))
    return [chr(code) for code in range(start, min(ord(_text(last)) + 1, start + 0x1000))]


def _joined(parts: object, between: str = "") -> str:
    texts = [str(part) for part in _listed(parts)]
    if sum(map(len, texts)) + len(_text(between)) * len(texts) > _MOST:
        raise ValueError("too long")
    return between.join(texts)


def _split(text: str, between: str = "") -> list[str]:
    return _text(text).split(between) if between else list(_text(text))


def _same(value: object, *_: object) -> object:
    return value


METHODS: dict[str, Callable[..., object]] = {
    "%": _formatted,
    "*": _times,
    "+": _plus,
    "<<": _appended,
    "[]": _element,
    "at": _element,
    "b": _same,
    "bytes": lambda text: [ord(letter) for letter in _text(text)],
    "capitalize": lambda text: _text(text).capitalize(),
    "chars": lambda text: list(_text(text)),
    "chomp": lambda text: _text(text).rstrip("\r\n"),
    "chop": lambda text: _text(text)[:-1],
    "chr": lambda code: chr(code) if isinstance(code, int) else _text(code)[:1],
    "codepoints": lambda text: [ord(letter) for letter in _text(text)],
    "concat": _appended,
    "delete": lambda text, letters: _translated(text, letters, ""),
    "delete_prefix": lambda text, start: _text(text).removeprefix(start),
    "delete_suffix": lambda text, end: _text(text).removesuffix(end),
    "downcase": lambda text: _text(text).lower(),
    "dup": _same,
    "each_char": lambda text: list(_text(text)),
    "encode": _same,
    "first": lambda value: _listed(value)[0],
    "flatten": _same,
    "force_encoding": _same,
    "freeze": _same,
    "gsub": _replaced,
    "hex": lambda text: int(_text(text), 16),
    "inspect": lambda value: f'"{value}"' if isinstance(value, str) else str(value),
    "intern": _text,
    "itself": _same,
    "join": _joined,
    "last": lambda value: _listed(value)[-1],
    "lstrip": lambda text: _text(text).lstrip(),
    "oct": lambda text: int(_text(text), 8),
    "ord": lambda text: ord(_text(text)[0]),
    "pack": _packed,
    "prepend": lambda text, start: _text(start) + _text(text),
    "push": _appended,
    "reverse": lambda value: cast("Any", value)[::-1],
    "rotate": lambda value, by=1: _listed(value)[by:] + _listed(value)[:by],
    "rstrip": lambda text: _text(text).rstrip(),
    "scan": lambda text, pattern: _split(text) if pattern == "." else _split(text, "\0"),
    "slice": _element,
    "split": _split,
    "squeeze": lambda text: re.sub(r"(.)\1+", r"\1", _text(text)),
    "strip": lambda text: _text(text).strip(),
    "sub": lambda text, old, new: _text(text).replace(_text(old), _text(new), 1),
    "succ": lambda text: chr(ord(_text(text)) + 1) if len(_text(text)) == 1 else None,
    "swapcase": lambda text: _text(text).swapcase(),
    "to_a": _listed,
    "to_i": lambda value, base=10: int(value, base) if isinstance(value, str) else value,
    "to_s": lambda value: str(value) if isinstance(value, int | str) else None,
    "to_str": _text,
    "to_sym": _text,
    "tr": _translated,
    "unpack": _unpacked,
    "unpack1": lambda text, template: _unpacked(text, template)[0],
    "upcase": lambda text: _text(text).upper(),
}
"""Methods, called with their receiver first. An exception means that the value stays unknown."""

METHODS["next"] = METHODS["succ"]
METHODS["each_byte"] = METHODS["bytes"]
for _name in ("upcase", "downcase", "reverse", "swapcase", "capitalize", "tr", "gsub", "sub"):
    METHODS[f"{_name}!"] = METHODS[_name]

OPERATORS: dict[str, Callable[..., object]] = {
    "%": _formatted,
    "*": _times,
    "+": _plus,
    "-": lambda one, other: one - other,
    "..": _ranged,
    "...": lambda first, last: _ranged(first, last - 1 if isinstance(last, int) else last),
    "<<": _appended,
    "^": lambda one, other: one ^ other,
    "|": lambda one, other: one | other,
}
"""Operators between two values."""

MODULE_FUNCTIONS: dict[str, Callable[..., object]] = {
    "Array": lambda value: value if isinstance(value, list) else [value],
    "Base64.decode64": _decoded,
    "Base64.strict_decode64": _decoded,
    "Base64.urlsafe_decode64": _decoded,
    "File.expand_path": lambda path, *_: path,
    "File.join": lambda *parts: "/".join(map(_text, parts)),
    "Integer": lambda text, base=10: int(text, base) if isinstance(text, str) else text,
    "String": str,
    "String.new": lambda text="", *_: _text(text),
    "Zlib.Inflate.inflate": _inflated,
    "Zlib.inflate": _inflated,
    "format": _formatted,
    "sprintf": _formatted,
}
"""Functions of modules, by full name."""


_DEEPEST = 8


def evaluated(tree: SyntaxTree, block: Node) -> Callable[[object], object] | None:
    """Return a block as a function of its parameter.

    The function raises ValueError, TypeError or LookupError for unsupported expressions. None when
    the block does not have exactly one parameter and one expression.
    """
    parameters, body = block.get("parameters"), block.get("body")
    if body is None or len(body.children) != 1:
        return None
    names = [tree.words(child) for child in parameters.children] if parameters else ["it"]
    if len(names) != 1:
        return None
    known = {names[0], "_1"} if parameters is None else {names[0]}

    def run(value: object) -> object:
        return _value(tree, body.children[0], known, value, 0)

    return run


def _value(tree: SyntaxTree, node: Node, names: set[str], value: object, depth: int) -> object:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    words = tree.words(node)

    def of(child: Node | None) -> object:
        if child is None:
            raise ValueError("a part is missing")
        return _value(tree, child, names, value, depth + 1)

    if node.kind == "identifier" and words in names:
        return value
    if node.kind == "parenthesized_statements" and len(node.children) == 1:
        return of(node.children[0])
    if node.kind == "binary":
        operator = node.get("operator")
        mark = tree.words(operator) if operator is not None else ""
        return OPERATORS[mark](of(node.get("left")), of(node.get("right")))
    if node.kind == "call" and node.get("receiver") is not None:
        method, given = node.get("method"), node.get("arguments")
        name = tree.words(method) if method is not None else ""
        arguments = [of(child) for child in given.children] if given is not None else []
        return METHODS[name](of(node.get("receiver")), *arguments)
    if isinstance(node.value, tuple) and len(node.value) == 1:
        only = node.value[0]
        if isinstance(only, str | int):
            return only
    raise ValueError("not followed")
