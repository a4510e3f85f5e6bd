"""Loops: turn by turn when they put a text together, else once for all turns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_sandbox.security.python.interpreter import BREAK, RETURN
from llm_sandbox.security.python.iteration import members
from llm_sandbox.security.python.targets import bind
from llm_sandbox.security.python.values import (
    Const,
    Items,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["for_", "while_"]

_MOST_TURNS = 4_000
_MOST_LOOSE_TURNS = 64
_NODES_PER_WORK = 4


def for_(m: Interpreter, node: ast.For | ast.AsyncFor) -> int:
    """Follow a ``for``."""
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
    """Work that one turn takes, by the size of the loop's body."""
    work = m.turn_work.get(id(node))
    if work is None:
        size = sum(1 for statement in node.body for _ in ast.walk(statement))
        work = m.turn_work[id(node)] = 1 + size // _NODES_PER_WORK
    return work


def _gathers(m: Interpreter, body: list[ast.stmt], depth: int = 0) -> bool:
    """Return whether a loop puts text or a list together, which is then followed turn by turn."""
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
    """Follow a ``while``."""
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
