"""Resolution of R expressions to functions."""

from dataclasses import dataclass

from llm_sandbox.security.lexical.r.tokens import LEFT, Argument, Script
from llm_sandbox.security.lexical.r.values import Assignments, Values

__all__ = ["NEVER_OWN", "OWN", "Meaning", "Names"]

_DEEPEST = 12
OWN = "own function "
"""Prefix of the names of functions that the program itself defines."""
# Programs that write a function of such a name are few, and one that never runs may hide the real.
NEVER_OWN = frozenset((".C", ".Call", ".External", "dyn.load", "system", "system2"))
"""Functions that are resolved to R's even when the program defines one of that name."""
_LOOKUPS = {
    ".Primitive": 0,
    "as.name": 0,
    "as.symbol": 0,
    "dynGet": 0,
    "ensym": 0,
    "get": 0,
    "get0": 0,
    "getAnywhere": 0,
    "getExportedValue": 1,
    "getFunction": 0,
    "getFromNamespace": 0,
    "match.fun": 0,
    "sym": 0,
}
_SAME_WORDS = (
    "Vectorize as_mapper cmpfun compose identity invisible memoise partial safely "
    "possibly quietly slowly force match.fun get"
)
_SAME = frozenset(_SAME_WORDS.split())
_ENVIRONMENT_WORDS = (
    ".BaseNamespaceEnv .GlobalEnv as.environment asNamespace baseenv emptyenv environment "
    "getNamespace globalenv list2env ns_env pos.to.env topenv"
)
_ENVIRONMENTS = frozenset(_ENVIRONMENT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Meaning:
    """Function that an expression resolves to."""

    name: str
    """Name, with the package where that is written: ``sys::exec_wait``. Empty for a lookup by an
    unknown text."""
    route: tuple[str, ...] = ()
    """Indirections by which the function is reached."""


class Names:
    """Resolver of the expressions of one program to functions."""

    def __init__(self, script: Script, assignments: Assignments, values: Values) -> None:
        self._script = script
        self._assignments = assignments
        self._values = values

    def callee_start(self, opening: int) -> int:
        """Return the start of the expression that a parenthesis calls."""
        script, at = self._script, opening - 1
        for _ in range(8):
            if at < 0:
                return opening
            if script.is_op(at, ")", "]"):
                at = script.mates.get(at, at)
                before = at - 1
                if script.is_op(before, "[") or self._ends_value(before):
                    at = before
                    continue
                return at
            if script.is_op(at, "["):
                at -= 1
                continue
            if not script.is_op(at - 1, "::", ":::", "$", "@"):
                return at
            at -= 2
        return at

    def is_followed(self, name: str) -> bool:
        """Return whether the result of a function is modelled when it is passed a function."""
        return name in _SAME or name in _LOOKUPS or name in {"assign", "delayedAssign"}

    def _ends_value(self, index: int) -> bool:
        if index < 0:
            return False
        token = self._script.tokens[index]
        if token.kind == "op":
            return token.text in {")", "]"}
        return token.kind in {"name", "string"} and token.text not in {"function", "in"}

    def meaning(self, start: int, end: int, depth: int = 0) -> Meaning | None:
        """Return the function that a range of tokens resolves to; None for a harmless one."""
        script = self._script
        start, end = script.trimmed(start, end)
        if start >= end or depth > _DEEPEST:
            return None
        if end == start + 1:
            return self._single(start, depth)
        if script.is_op(start + 1, *LEFT):
            return self.meaning(start + 2, end, depth + 1)
        if end == start + 3 and script.is_op(start + 1, "::", ":::"):
            name = f"{script.tokens[start].text}::{script.tokens[start + 2].text}"
            return Meaning(name.removeprefix("base::").removeprefix("utils::"))
        opening = script.mates.get(end - 1, -1)
        if opening == start and script.is_op(start, "(", "{"):
            return self.meaning(start + 1, end - 1, depth + 1)
        if opening > start and script.is_op(opening, "("):
            return self._call(start, opening, depth)
        return self._member(start, end, depth)

    def _single(self, index: int, depth: int) -> Meaning | None:
        token = self._script.tokens[index]
        if token.kind == "string":
            return Meaning(token.text)
        if token.kind != "name":
            return None
        given = self._assignments.before(token.text, index)
        if given is not None:
            if token.text in NEVER_OWN:
                return Meaning(token.text)
            if self._assignments.is_function(token.text, index):
                return Meaning(f"{OWN}{token.text}")
            known = self.meaning(*given, depth + 1)
            if known is not None and self._script.tokens[given[0]].kind != "string":
                return Meaning(known.name, (token.text, *known.route))
        return Meaning(token.text)

    def _call(self, start: int, opening: int, depth: int) -> Meaning | None:
        script = self._script
        name = script.tokens[opening - 1].text
        arguments = script.arguments(opening)
        if not arguments or (opening - 1 != start and not script.is_op(opening - 2, "::", ":::")):
            return None
        if name in _LOOKUPS:
            chosen = arguments[min(_LOOKUPS[name], len(arguments) - 1)]
            text = self._values.text(chosen.start, chosen.end)
            if text is not None:
                package = self._package(arguments)
                return Meaning(f"{package}::{text}" if package else text, (name,))
            if name == "match.fun" or chosen.end == chosen.start + 1:
                known = self.meaning(chosen.start, chosen.end, depth + 1)
                own = script.tokens[chosen.start].text
                if known is not None and known.name != own and name == "match.fun":
                    return Meaning(known.name, (name, *known.route))
                if name == "match.fun":
                    return known
            return Meaning("", (name,))
        if name in _SAME:
            known = self.meaning(arguments[0].start, arguments[0].end, depth + 1)
            return None if known is None else Meaning(known.name, (name, *known.route))
        return None

    def _package(self, arguments: tuple[Argument, ...]) -> str:
        for argument in arguments:
            if argument.name in {"ns", "envir", "pos"}:
                text = self._values.text(argument.start, argument.end)
                if text and text not in {"base", "utils", "package:base"}:
                    return text.removeprefix("package:")
        return ""

    def _member(self, start: int, end: int, depth: int) -> Meaning | None:
        """Return the function that ``place$name`` or ``place[["name"]]`` resolves to."""
        script = self._script
        if script.is_op(end - 2, "$", "@"):
            base, name = (start, end - 2), script.tokens[end - 1].text
        elif script.is_op(end - 1, "]"):
            opening = script.mates.get(end - 1, start)
            inner = (opening + 1, end - 1)
            if script.is_op(opening + 1, "["):
                inner = (opening + 2, end - 2)
            text = self._values.text(*inner)
            if text is None:
                return Meaning("", ("[[",)) if self._is_environment(start, opening, depth) else None
            base, name = (start, opening), text
        else:
            return None
        if self._is_environment(*base, depth):
            return Meaning(name, (script.tokens[start].text,))
        if name == "new":
            # A class is called by what it makes.
            return self.meaning(*base, depth + 1)
        return self._of_list(base, name, depth)

    def _is_environment(self, start: int, end: int, depth: int) -> bool:
        """Return whether an expression is an environment that holds functions of R."""
        if start >= end or depth > _DEEPEST:
            return False
        token = self._script.tokens[start]
        if token.text in _ENVIRONMENTS:
            return True
        given = self._assignments.before(token.text, start) if end == start + 1 else None
        return given is not None and self._is_environment(*given, depth + 1)

    def _of_list(self, base: tuple[int, int], name: str, depth: int) -> Meaning | None:
        script = self._script
        start, end = base
        if end == start + 1 and script.tokens[start].kind == "name":
            given = self._assignments.before(script.tokens[start].text, start)
            if given is None:
                return None
            start, end = given
        if start + 1 < end and script.tokens[start].text in {"c", "list"}:
            for argument in script.arguments(start + 1) if script.is_op(start + 1, "(") else ():
                if argument.name == name:
                    known = self.meaning(argument.start, argument.end, depth + 1)
                    return None if known is None else Meaning(known.name, ("list", *known.route))
        return None
