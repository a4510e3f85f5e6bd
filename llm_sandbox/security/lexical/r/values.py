"""Assignments of R's variables, and constant values of expressions."""

from bisect import bisect_left
from collections import defaultdict

from llm_sandbox.security.lexical.r.folding import (
    FUNCTIONS,
    LARGEST,
    Scalar,
    Vector,
    VectorList,
    words,
)
from llm_sandbox.security.lexical.r.tokens import LEFT, Script

__all__ = ["Assignments", "Known", "Values"]

_RIGHT = ("->", "->>")
_ENDS = (";", "{", "}")
_CALLS = ("assign", "delayedAssign")


class Assignments:
    """Assignments of a program: ``x <- 1``, ``1 -> x``, ``assign("x", 1)``, ``"x" = 1``."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._given: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        self._loops: set[str] = set()
        line_start = 0
        # From the last one on, as the end of `x <- y <- 1` is that of what it ends with.
        for index in range(len(script.tokens) - 1, -1, -1):
            if script.is_op(index, *LEFT):
                script.expression_end(index + 1)
        for index, token in enumerate(script.tokens):
            kind, text = token.kind, token.text
            if kind == "op":
                if text in _ENDS:
                    line_start = index + 1
                elif text in LEFT:
                    self._add_left(index)
                elif text in _RIGHT:
                    self._add_right(index, line_start)
            elif kind == "newline":
                line_start = index + 1
            elif text == "in" and script.is_op(index - 2, "("):
                self._loops.add(script.tokens[index - 1].text)
            elif text in _CALLS and script.is_op(index + 1, "("):
                self._add_call(index + 1)

    def before(self, name: str, index: int) -> tuple[int, int] | None:
        """Return the range last assigned to a variable before a token; None when unknown."""
        given = self._given.get(name)
        if not given or name in self._loops:
            return None
        at = bisect_left(given, (index,)) - 1
        # Within a function the assignment may stand below.
        at = max(at, 0) if len(given) == 1 else at
        return given[at][1:] if at >= 0 else None

    def is_function(self, name: str, index: int) -> bool:
        """Return whether a variable is a function that the program itself defines."""
        given = self.before(name, index)
        if given is None:
            return False
        first = self._script.tokens[given[0]] if given[0] < given[1] else None
        return first is not None and first.text in {"function", "\\"}

    def _add_left(self, index: int) -> None:
        script = self._script
        if index == 0 or script.tokens[index - 1].kind not in {"name", "string"}:
            return
        # The target is an element or a slot, not the variable.
        if script.is_op(index - 2, "$", "@", "::", ":::"):
            return
        if script.tokens[index].text == "=" and script.is_op(index - 2, "(", ","):
            return
        end = script.expression_end(index + 1)
        self._given[script.tokens[index - 1].text].append((index, index + 1, end))

    def _add_right(self, index: int, line_start: int) -> None:
        tokens = self._script.tokens
        if index + 1 < len(tokens) and tokens[index + 1].kind in {"name", "string"}:
            self._given[tokens[index + 1].text].append((index, line_start, index))

    def _add_call(self, opening: int) -> None:
        arguments = self._script.arguments(opening)
        if len(arguments) > 1 and arguments[0].end == arguments[0].start + 1:
            target = self._script.tokens[arguments[0].start]
            if target.kind == "string":
                given = (opening, arguments[1].start, arguments[1].end)
                self._given[target.text].append(given)


_DEEPEST = 24
_STEPS = 200_000
_WORDS = {"TRUE": 1.0, "T": 1.0, "FALSE": 0.0, "F": 0.0, "pi": 3.14159, "NULL": None}
_LETTERS = {
    "letters": tuple("abcdefghijklmnopqrstuvwxyz"),
    "LETTERS": tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
}
_EACH = frozenset({"lapply", "map", "map_chr", "sapply", "vapply"})
_PIPES = ("|>", "%>%")
_LEVELS = (("|>", "%>%"), ("+", "-"), ("*", "/"), (":",))
Known = Vector | VectorList | None


class Values:
    """Evaluator of token ranges, with a cache."""

    def __init__(self, script: Script, assignments: Assignments) -> None:
        self._script = script
        self._assignments = assignments
        self._known: dict[tuple[int, int], Known] = {}
        self._left = _STEPS

    def text(self, start: int, end: int) -> str | None:
        """Return the text of a range that is a single text, else None."""
        value = self.of(start, end)
        if value is None or isinstance(value, VectorList) or len(value) != 1:
            return None
        return value[0] if isinstance(value[0], str) else None

    def texts(self, start: int, end: int) -> tuple[str, ...]:
        """Return all texts of a range; empty when they are not known."""
        value = self.of(start, end)
        if value is None or isinstance(value, VectorList):
            return ()
        return tuple(part for part in value if isinstance(part, str))

    def of(self, start: int, end: int, depth: int = 0) -> Known:
        """Return the value of a range; None when it is not known."""
        start, end = self._script.trimmed(start, end)
        if depth > _DEEPEST or start >= end or self._left <= 0:
            return None
        key = (start, end)
        if key not in self._known:
            self._known[key] = None
            try:
                value = self._of(start, end, depth)
            except (ArithmeticError, IndexError, KeyError, TypeError, ValueError, RuntimeError):
                # Arguments of a kind that R would refuse as well.
                value = None
            self._known[key] = value if value is not None and _is_small(value) else None
        return self._known[key]

    def _of(self, start: int, end: int, depth: int) -> Known:
        script = self._script
        if end == start + 1:
            return self._single(start, depth)
        if script.is_op(start + 1, *LEFT):
            return self.of(start + 2, end, depth + 1)
        operator = self._operator(start, end)
        if operator is not None:
            return self._binary(start, operator, end, depth)
        if script.is_op(start, "-") and end == start + 2:
            value = self.of(start + 1, end, depth + 1)
            return None if not value else (-_number(_flat(value), 0),)
        opening = script.mates.get(end - 1)
        if opening is None or opening < start:
            return None
        if opening == start and script.is_op(start, "(", "{"):
            return self.of(start + 1, end - 1, depth + 1)
        if script.is_op(opening, "["):
            return self._element(start, opening, end, depth)
        if script.is_op(opening, "("):
            return self._call(start, opening, depth, None)
        return None

    def _single(self, index: int, depth: int) -> Known:
        token = self._script.tokens[index]
        if token.kind == "string":
            return (token.text,)
        if token.kind == "number":
            digits = token.text.rstrip("Li")
            return (float(int(digits, 16)) if digits[:2] in {"0x", "0X"} else float(digits),)
        if token.kind != "name":
            return None
        given = self._assignments.before(token.text, index)
        if given is not None:
            return self.of(*given, depth + 1)
        if token.text in _LETTERS:
            return _LETTERS[token.text]
        word = _WORDS.get(token.text)
        return None if word is None else (word,)

    def _operator(self, start: int, end: int) -> int | None:
        """Return the position of the last operator with the lowest precedence in a range."""
        script, best, level = self._script, None, len(_LEVELS)
        at = start
        while at < end:
            self._left -= 1
            token = script.tokens[at]
            if at > start and token.kind == "op":
                for rank, texts in enumerate(_LEVELS[: level + 1]):
                    if token.text in texts:
                        best, level = at, rank
                        break
            at = script.after(at)
        return best

    def _binary(self, start: int, operator: int, end: int, depth: int) -> Known:
        mark = self._script.tokens[operator].text
        left = self.of(start, operator, depth + 1)
        if left is None or isinstance(left, VectorList):
            return None
        if mark in _PIPES:
            opening = self._script.mates.get(end - 1)
            if opening is None or opening <= operator:
                single = FUNCTIONS.get(self._script.tokens[end - 1].text)
                return None if single is None else single([left], {})
            return self._call(operator + 1, opening, depth, left)
        right = self.of(operator + 1, end, depth + 1)
        if not right or isinstance(right, VectorList):
            return None
        if mark == ":":
            first, last = int(_number(left, 0)), int(_number(right, 0))
            step = 1 if first <= last else -1
            if abs(last - first) > LARGEST:
                return None
            return tuple(map(float, range(first, last + step, step)))
        count = min(max(len(left), len(right)), LARGEST)
        pairs = [(_number(left, row), _number(right, row)) for row in range(count)]
        if mark == "+":
            return tuple(a + b for a, b in pairs)
        if mark == "-":
            return tuple(a - b for a, b in pairs)
        return tuple(a * b if mark == "*" else a / b for a, b in pairs)

    def _element(self, start: int, opening: int, end: int, depth: int) -> Known:
        script = self._script
        double = script.is_op(opening + 1, "[") and script.mates.get(opening + 1) == end - 2
        base = self.of(start, opening, depth + 1)
        inner = (opening + 2, end - 2) if double else (opening + 1, end - 1)
        index = self.of(*inner, depth + 1)
        if base is None or not index or isinstance(index, VectorList):
            return None
        if isinstance(base, VectorList):
            return base[int(_number(index, 0)) - 1] if double else None
        places = [int(_number(index, row)) for row in range(len(index))]
        if any(place < 0 for place in places):
            return tuple(v for row, v in enumerate(base, 1) if -row not in places)
        return tuple(base[place - 1] for place in places if 0 < place <= len(base))

    def _call(self, start: int, opening: int, depth: int, first: Vector | None) -> Known:
        script = self._script
        name = script.tokens[opening - 1].text
        if opening - 1 != start and not script.is_op(opening - 2, "::", ":::"):
            return None
        arguments = script.arguments(opening)
        if name in _EACH and len(arguments) > 1:
            return self._each(arguments[0].start, arguments[0].end, opening, depth)
        if name == "do.call" and len(arguments) > 1:
            return self._done(opening, depth)
        if name == "Reduce" and len(arguments) > 1:
            reducer = script.tokens[arguments[0].start].text
            parts = self.of(arguments[1].start, arguments[1].end, depth + 1)
            if reducer == "paste0" and parts and not isinstance(parts, VectorList):
                return ("".join(map(words, parts)),)
            return None
        function = FUNCTIONS.get(name)
        if function is None:
            return None
        given: list[Vector] = [] if first is None else [first]
        named: dict[str, Vector] = {}
        for argument in arguments:
            value = self.of(argument.start, argument.end, depth + 1)
            if value is None:
                if script.tokens[argument.start].text in {"NULL", "character"}:
                    continue
                return None
            flat = _flat(value)
            if argument.name in {"", "..."} or (argument.name == "x" and not given):
                given.append(flat)
            else:
                named[argument.name] = flat
        return function(given, named)

    def _each(self, start: int, end: int, opening: int, depth: int) -> Known:
        arguments = self._script.arguments(opening)
        value = self.of(start, end, depth + 1)
        function = FUNCTIONS.get(self._script.tokens[arguments[1].start].text)
        if value is None or function is None or arguments[1].end != arguments[1].start + 1:
            return None
        named = {}
        for argument in arguments[2:]:
            extra = self.of(argument.start, argument.end, depth + 1)
            if argument.name and extra is not None:
                named[argument.name] = _flat(extra)
        rows = value if isinstance(value, VectorList) else [(part,) for part in value]
        results = [function([row], named) for row in rows]
        if any(result is None for result in results):
            return None
        flat = [_flat(result) for result in results if result is not None]
        if all(len(row) == 1 for row in flat):
            return tuple(part for row in flat for part in row)
        return VectorList(flat)

    def _done(self, opening: int, depth: int) -> Known:
        script = self._script
        function, listed = script.arguments(opening)[:2]
        name = script.tokens[function.start].text
        if name not in FUNCTIONS or not script.is_op(listed.start + 1, "("):
            return None
        return self._call_named(name, listed.start + 1, depth)

    def _call_named(self, name: str, opening: int, depth: int) -> Known:
        given, named = [], {}
        for argument in self._script.arguments(opening):
            value = self.of(argument.start, argument.end, depth + 1)
            if value is None:
                return None
            if argument.name:
                named[argument.name] = _flat(value)
            else:
                given.append(_flat(value))
        return FUNCTIONS[name](given, named)


def _flat(value: Vector | VectorList) -> Vector:
    if isinstance(value, VectorList):
        return tuple(part for vector in value for part in vector)
    return value


def _number(vector: Vector, row: int) -> float:
    value: Scalar = vector[row % len(vector)]
    if isinstance(value, str):
        raise TypeError("not a number")
    return value


def _is_small(value: Vector | VectorList) -> bool:
    flat = _flat(value)
    return len(flat) <= LARGEST and sum(len(v) for v in flat if isinstance(v, str)) <= LARGEST
