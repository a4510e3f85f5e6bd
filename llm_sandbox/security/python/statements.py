"""Interpretation of statements, loops included."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.binding import bind, members, tracked_parts
from llm_sandbox.security.python.calls import invoke
from llm_sandbox.security.python.expressions import binary
from llm_sandbox.security.python.functions import annotation, define_class, define_function
from llm_sandbox.security.python.imports import import_, import_from
from llm_sandbox.security.python.interpreter import BREAK, CONTINUE, RETURN
from llm_sandbox.security.python.lookups import of_class
from llm_sandbox.security.python.values import Const, Instance, Items, Table, Tainted, Value, choose

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["STATEMENTS", "for_", "while_"]

_MOST_TURNS = 4_000
_MOST_LOOSE_TURNS = 64
_NODES_PER_WORK = 4


def for_(m: Interpreter, node: ast.For | ast.AsyncFor) -> int:
    """Interpret a ``for``."""
    value = m.value(node.iter)
    if m.exact or _gathers(m, node.body):
        turns = members(m, m.force(value))
        if turns is not None and (
            m.exact or len(turns) <= _MOST_LOOSE_TURNS or not _is_numbers(m.force(value))
        ):
            return _turns(m, node, turns[:_MOST_TURNS])
    known = members(m, value)
    with m.branch():
        bind(
            m,
            node.target,
            choose(known[:12]) if known else value if isinstance(value, Tainted) else None,
        )
        m.loops += _is_endless(node.iter)
        m.run(node.body)
        m.loops -= _is_endless(node.iter)
    if node.orelse:
        with m.branch():
            m.run(node.orelse)
    return 0


def _is_endless(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(
        node.func, "attr", getattr(node.func, "id", "")
    ) in {
        "count",
        "cycle",
    }


def _is_numbers(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, range)


def _turns(m: Interpreter, node: ast.For | ast.AsyncFor, turns: list[Value | None]) -> int:
    before = m.exact
    m.exact = True
    try:
        for one in turns:
            if not m.spend(_turn_work(m, node)):
                break
            bind(m, node.target, one)
            ended = m.run(node.body)
            if ended == BREAK:
                break
            if ended == RETURN:
                return RETURN
        else:
            m.run(node.orelse)
    finally:
        m.exact = before
    return 0


def _turn_work(m: Interpreter, node: ast.For | ast.AsyncFor | ast.While) -> int:
    """Return the work of one iteration, by the size of the loop's body."""
    work = m.turn_work.get(id(node))
    if work is None:
        size = sum(1 for statement in node.body for _ in ast.walk(statement))
        work = m.turn_work[id(node)] = 1 + size // _NODES_PER_WORK
    return work


def _gathers(m: Interpreter, body: list[ast.stmt], depth: int = 0) -> bool:
    """Return whether a loop builds text or a list, and is therefore unrolled."""
    for statement in body[:12]:
        name: ast.expr | None = None
        if isinstance(statement, ast.AugAssign):
            name = statement.target
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
            name = statement.targets[0]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            func = statement.value.func
            if isinstance(func, ast.Attribute) and func.attr in {
                "append",
                "extend",
                "insert",
                "add",
            }:
                name = func.value
        elif isinstance(statement, (ast.If, ast.For, ast.While)) and depth < 2:
            name = None
            if _gathers(m, statement.body, depth + 1):
                return True
        if isinstance(name, ast.Name):
            scope = m.scope.find(name.id)
            value = scope.values[name.id] if scope is not None else None
            if isinstance(value, Items) or (
                isinstance(value, Const) and isinstance(value.value, (str, bytes))
            ):
                return True
    return False


def while_(m: Interpreter, node: ast.While) -> int:
    """Interpret a ``while``."""
    if m.exact or _gathers(m, node.body):
        ended = _turns_while(m, node)
        if ended is not None:
            return ended
    m.value(node.test)
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    with m.branch():
        m.loops += endless
        m.run(node.body)
        m.loops -= endless
    if node.orelse:
        with m.branch():
            m.run(node.orelse)
    return 0


def _turns_while(m: Interpreter, node: ast.While) -> int | None:
    before = m.exact
    m.exact = True
    try:
        for turn in range(_MOST_TURNS if before else _MOST_LOOSE_TURNS):
            test = m.force(m.value(node.test))
            if not isinstance(test, Const) or not m.spend(_turn_work(m, node)):
                return None if turn == 0 else 0
            if not test.value:
                m.run(node.orelse)
                return 0
            ended = m.run(node.body)
            if ended == BREAK:
                return 0
            if ended == RETURN:
                return RETURN
    finally:
        m.exact = before
    return 0


_MOST_ITEMS = 20_000


def _expression(m: Interpreter, node: ast.Expr) -> int:
    if type(node.value) is not ast.Constant:
        m.value(node.value)
    return 0


def _assign(m: Interpreter, node: ast.Assign) -> int:
    if m.magics:
        _follow_magic(m, node)
    value = m.value(node.value)
    for target in node.targets:
        if type(target) is ast.Name:
            m.scope.bind(target.id, value, m.block)
            if value is not None and type(value) is not Const and m.scope.kind == "module":
                m.changes += 1
        else:
            bind(m, target, value)
    return 0


def _annotated(m: Interpreter, node: ast.AnnAssign) -> int:
    annotation(m, node.annotation)
    if node.value is not None:
        bind(m, node.target, m.value(node.value))
    return 0


def _augmented(m: Interpreter, node: ast.AugAssign) -> int:
    if isinstance(node.target, ast.Name):
        scope = m.scope.find(node.target.id)
        before = scope.values[node.target.id] if scope is not None else None
    else:
        before = m.value(node.target)
    value = m.value(node.value)
    if isinstance(before, Items) and isinstance(node.op, ast.Add):
        if len(before.items) < _MOST_ITEMS:
            before.items.extend((members(m, m.force(value)) or [None])[:_MOST_ITEMS])
        return 0
    if isinstance(before, Instance):
        called = of_class(m, before.cls, f"__i{type(node.op).__name__.lower()}__", node)
        called = called or of_class(m, before.cls, f"__{type(node.op).__name__.lower()}__", node)
        if called is not None:
            invoke(m, called, [before, value], {}, node)
    bind(m, node.target, binary(m, type(node.op), before, value, node))
    return 0


def _if(m: Interpreter, node: ast.If) -> int:
    test = m.value(node.test)
    if m.exact:
        test = m.force(test)
        if isinstance(test, Const):
            return m.run(node.body if test.value else node.orelse)
    with m.branch():
        _narrow(m, node.test)
        m.run(node.body)
    if node.orelse:
        with m.branch():
            m.run(node.orelse)
    return 0


def _narrow(m: Interpreter, test: ast.expr) -> None:
    """Bind the name in ``if name == "text"`` to that text."""
    if (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and isinstance(test.comparators[0].value, str)
    ):
        m.scope.values[test.left.id] = Const(test.comparators[0].value)


def _with(m: Interpreter, node: ast.With | ast.AsyncWith) -> int:
    for part in node.items:
        value = m.value(part.context_expr)
        if isinstance(value, Instance):
            entered = of_class(m, value.cls, "__enter__", node)
            entered = entered or of_class(m, value.cls, "__aenter__", node)
            if entered is not None:
                value = invoke(m, entered, [value], {}, part.context_expr) or value
        elif isinstance(value, Items) and value.items:
            value = value.items[0]
        if part.optional_vars is not None:
            bind(m, part.optional_vars, value)
    return m.run(node.body)


def _try(m: Interpreter, node: Any) -> int:
    ended = m.run(node.body)
    for handler in node.handlers:
        with m.branch():
            if handler.type is not None:
                annotation(m, handler.type)
            if handler.name:
                m.scope.bind(handler.name, m.raised, m.block)
            m.run(handler.body)
    m.run(node.orelse)
    return m.run(node.finalbody) or ended


def _return(m: Interpreter, node: ast.Return) -> int:
    m.returned.append(m.value(node.value) if node.value is not None else None)
    return RETURN


def _delete(m: Interpreter, node: ast.Delete) -> int:
    for target in node.targets:
        if not isinstance(target, ast.Name):
            m.value(target)
    return 0


def _raise(m: Interpreter, node: ast.Raise) -> int:
    for part in (node.exc, node.cause):
        if part is not None:
            held = tracked_parts(m.value(part))
            if held:
                m.raised = Tainted(tuple(held[:20]))
    return RETURN


def _assert(m: Interpreter, node: ast.Assert) -> int:
    m.value(node.test)
    if node.msg is not None:
        m.value(node.msg)
    return 0


def _elsewhere(m: Interpreter, node: ast.Global | ast.Nonlocal) -> int:
    scope = m.scope
    for name in node.names:
        if isinstance(node, ast.Global):
            scope.elsewhere[name] = scope.module
        elif scope.parent is not None:
            other = scope.parent.find(name)
            if other is not None:
                scope.elsewhere[name] = other
    return 0


def _match(m: Interpreter, node: ast.Match) -> int:
    value = m.value(node.subject)
    for case in node.cases:
        with m.branch():
            _pattern(m, case.pattern, value)
            if case.guard is not None:
                m.value(case.guard)
            m.run(case.body)
    return 0


def _pattern(m: Interpreter, node: ast.pattern, value: Value | None) -> None:
    if isinstance(node, ast.MatchAs):
        if node.pattern is not None:
            _pattern(m, node.pattern, value)
        if node.name is not None:
            m.scope.bind(node.name, value, m.block)
    elif isinstance(node, ast.MatchSequence):
        row = members(m, value) or []
        for number, part in enumerate(node.patterns):
            _pattern(m, part, row[number] if number < len(row) else None)
    elif isinstance(node, ast.MatchMapping):
        _mapping_pattern(m, node, value)
    elif isinstance(node, ast.MatchClass):
        _class_pattern(m, node, value)
    elif isinstance(node, ast.MatchOr):
        for part in node.patterns:
            _pattern(m, part, value)
    elif isinstance(node, ast.MatchStar) and node.name is not None:
        m.scope.bind(node.name, None, m.block)


def _mapping_pattern(m: Interpreter, node: ast.MatchMapping, value: Value | None) -> None:
    table = value.entries if isinstance(value, Table) else {}
    for key, part in zip(node.keys, node.patterns, strict=True):
        known = m.value(key)
        name = known.value if isinstance(known, Const) else None
        _pattern(m, part, table.get(name))
    if node.rest is not None:
        m.scope.bind(node.rest, value, m.block)


def _class_pattern(m: Interpreter, node: ast.MatchClass, value: Value | None) -> None:
    looked = len(m.lookups)
    m.value(node.cls)
    del m.lookups[looked:]
    for part in (*node.patterns, *node.kwd_patterns):
        _pattern(m, part, choose(tracked_parts(value)))


def _pass(m: Interpreter, node: ast.stmt) -> int:
    if m.magics:
        _follow_magic(m, node)
    return 0


def _follow_magic(m: Interpreter, node: ast.stmt) -> None:
    magic = m.magics.pop(node.lineno, None)
    if magic is not None:
        from llm_sandbox.security.python.notebook import follow_magic

        follow_magic(m, magic)


def _break(m: Interpreter, node: ast.Break) -> int:
    return BREAK


def _continue(m: Interpreter, node: ast.Continue) -> int:
    return CONTINUE


STATEMENTS: dict[type[ast.AST], Callable[[Any, Any], int]] = {
    ast.AnnAssign: _annotated,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AsyncFor: for_,
    ast.AsyncFunctionDef: define_function,
    ast.AsyncWith: _with,
    ast.AugAssign: _augmented,
    ast.Break: _break,
    ast.ClassDef: define_class,
    ast.Continue: _continue,
    ast.Delete: _delete,
    ast.Expr: _expression,
    ast.For: for_,
    ast.FunctionDef: define_function,
    ast.Global: _elsewhere,
    ast.If: _if,
    ast.Import: import_,
    ast.ImportFrom: import_from,
    ast.Match: _match,
    ast.Nonlocal: _elsewhere,
    ast.Pass: _pass,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.While: while_,
    ast.With: _with,
}
"""Kind of node to the function that interprets it; returns 0, or the way in which the statement
ends its block."""
