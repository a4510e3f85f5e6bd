"""Comprehensions and generators."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.folding import UNKNOWN
from llm_sandbox.security.python.iteration import members
from llm_sandbox.security.python.scopes import Scope
from llm_sandbox.security.python.targets import bind
from llm_sandbox.security.python.values import (
    Const,
    Deferred,
    Function,
    Items,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["comprehension", "dict_comprehension"]


def comprehension(
    m: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
) -> Value | None:
    """Return what a list, set or generator is made of."""
    return _comprehended(m, node, lambda: m.value(node.elt))


def dict_comprehension(m: Interpreter, node: ast.DictComp) -> Value | None:
    """Return what a dictionary is made of."""
    return _comprehended(m, node, lambda: Items("tuple", [m.value(node.key), m.value(node.value)]))


def _comprehended(m: Interpreter, node: Any, element: Callable[[], Value | None]) -> Value | None:
    generators: list[ast.comprehension] = node.generators
    first = m.value(generators[0].iter)
    outer = m.scope

    def work() -> Value | None:
        found: list[Value | None] = []
        with m.within(Scope("comprehension", outer)):
            if not _turn(m, generators, first, element, found):
                return None
        return _gathered(m, node, found)

    if m.exact:
        return work()
    with m.within(Scope("comprehension", outer)):
        loose: list[Value | None] = []
        _turn(m, generators, first, element, loose, every=False)
    known = _gathered(m, node, loose)
    kept = [one for one in loose for one in options(one) if not isinstance(one, Const)]
    if any(isinstance(one, (Ref, Function, Tainted, Items)) for one in kept):
        exact = (
            m.force(Deferred(work)) if isinstance(first, Items) and len(first.items) < 200 else None
        )
        return known if exact is None else exact
    return Deferred(work) if first is not None else None


def _turn(
    m: Interpreter,
    generators: list[ast.comprehension],
    given: Value | None,
    element: Callable[[], Value | None],
    found: list[Value | None],
    every: bool = True,
) -> bool:
    """Go through the members of one `for` of a comprehension; False when they are not known."""
    generator, rest = generators[0], generators[1:]
    turns = members(m, m.force(given) if every else given)
    if turns is None or not every:
        if every:
            return False
        turns = [choose(turns) if turns is not None else _spill(given)]
    for one in turns:
        if every and not m.spend(2):
            return False
        bind(m, generator.target, one)
        tests = [m.force(m.value(test)) if every else m.value(test) for test in generator.ifs]
        if every and any(isinstance(test, Const) and not test.value for test in tests):
            continue
        if rest:
            if not _turn(m, rest, m.value(rest[0].iter), element, found, every) and every:
                return False
        else:
            found.append(element())
    return True


def _spill(value: Value | None) -> Value | None:
    return value if isinstance(value, Tainted) else None


def _gathered(m: Interpreter, node: ast.AST, found: list[Value | None]) -> Value:
    if isinstance(node, ast.DictComp):
        entries: dict[object, Value | None] = {}
        for number, pair in enumerate(found):
            assert isinstance(pair, Items)  # noqa: S101 - made by `dict_comprehension`
            key = m.plain(pair.items[0])
            try:
                hash(key)
            except TypeError:
                key = UNKNOWN
            entries[("?", number) if key is UNKNOWN else key] = pair.items[1]
        return Table(entries)
    return Items("set" if isinstance(node, ast.SetComp) else "list", found)
