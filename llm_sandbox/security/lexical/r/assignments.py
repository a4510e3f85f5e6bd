"""Which expressions R's variables were given, and where."""

from bisect import bisect_left
from collections import defaultdict

from llm_sandbox.security.lexical.r.tokens import LEFT, Script

__all__ = ["Assignments"]

_RIGHT = ("->", "->>")
_ENDS = (";", "{", "}")
_CALLS = ("assign", "delayedAssign")


class Assignments:
    """The assignments of a program: ``x <- 1``, ``1 -> x``, ``assign("x", 1)``, ``"x" = 1``."""

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
        """Return the range that a variable was last given before a token; None when unknown."""
        given = self._given.get(name)
        if not given or name in self._loops:
            return None
        at = bisect_left(given, (index,)) - 1
        # Within a function the assignment may stand below.
        at = max(at, 0) if len(given) == 1 else at
        return given[at][1:] if at >= 0 else None

    def is_function(self, name: str, index: int) -> bool:
        """Return whether a variable is a function that the program itself writes out."""
        given = self.before(name, index)
        if given is None:
            return False
        first = self._script.tokens[given[0]] if given[0] < given[1] else None
        return first is not None and first.text in {"function", "\\"}

    def _add_left(self, index: int) -> None:
        script = self._script
        if index == 0 or script.tokens[index - 1].kind not in {"name", "string"}:
            return
        # An element or a slot of something else was given a value, not the variable.
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
