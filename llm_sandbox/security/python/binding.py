"""Iteration over abstract values, and assignment to names, tuples, attributes and items."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.folding import UNKNOWN, attempt, length_of_range, text_of, wrapped
from llm_sandbox.security.python.sinks import is_tracked
from llm_sandbox.security.python.values import (
    Alternatives,
    Class,
    Const,
    Deferred,
    Function,
    Instance,
    Items,
    Namespace,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
    join,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["bind", "combinations", "members", "set_attribute", "set_item", "tracked_parts"]

_MOST_ITERATED = 20_000
_MOST_NUMBERS = 2_000
_MOST_WAYS = 64
_MEMBER = 10


def members(m: Interpreter, value: Value | None) -> list[Value | None] | None:
    """Return the members of a value; None when they are not known."""
    if isinstance(value, Items):
        return value.items if len(value.items) <= _MOST_ITERATED else None
    if isinstance(value, Const):
        found = value.value
        # Each member becomes an object, which costs as much as many characters.
        if isinstance(found, (str, bytes)) and len(found) <= _MOST_ITERATED:
            return [Const(one) for one in found] if m.affords(_MEMBER * len(found)) else None
        if isinstance(found, range) and length_of_range(found) <= _MOST_NUMBERS:
            return [Const(one) for one in found] if m.affords(_MEMBER * len(found)) else None
        return None
    if isinstance(value, Table):
        if not m.affords(_MEMBER * len(value.entries)):
            return None
        return [wrapped(key) for key in value.entries]
    if isinstance(value, Tainted):
        return [value]
    if isinstance(value, Namespace):
        return [Tainted((value.of,))] if isinstance(value.of, Ref) else None
    return None


def combinations(m: Interpreter, args: list[Value | None]) -> list[list[Value | None]] | None:
    """Return the combinations of alternative arguments, at most 64; None when there is only one."""
    if not any(isinstance(arg, Alternatives) for arg in args):
        return None
    ways: list[list[Value | None]] = [[]]
    for arg in args:
        found = [m.force(one) for one in arg.of] if isinstance(arg, Alternatives) else [arg]
        singles = [None if isinstance(one, Alternatives) else one for one in found]
        if len(ways) * len(singles) > _MOST_WAYS:
            singles = singles[:1]
        ways = [[*way, one] for way in ways for one in singles]
    return ways


_DEEPEST = 5
_MOST_PARTS = 2_000
_MOST_MEMBERS = 50_000
_COLD = (Const, Function, Deferred)


def tracked_parts(value: Value | None) -> list[Value]:
    """Return the tracked references within a value; see `sinks.is_tracked`."""
    if value is None or isinstance(value, Const):
        return []
    if isinstance(value, Ref):
        return [value] if is_tracked(value.name) else []
    if isinstance(value, Tainted):
        return [value]
    found: list[Value] = []
    seen: set[int] = set()
    row: list[Value] = [value]
    for _ in range(_DEEPEST):
        row = [part for one in row for part in _parts(one, seen, found)][:_MOST_PARTS]
        if not row:
            break
    return found


def _parts(value: Value, seen: set[int], found: list[Value]) -> list[Value]:
    """Return the untracked members of a value, and add the tracked ones to `found`."""
    if isinstance(value, Ref):
        found.extend([value] if is_tracked(value.name) else [])
        return []
    if isinstance(value, Tainted):
        found.append(value)
        return []
    held: Iterable[Value | None]
    # Instances of a class share its fields, and values may contain themselves.
    key = id(value.cls) if isinstance(value, Instance) else id(value)
    if key in seen:
        return []
    seen.add(key)
    if isinstance(value, Items):
        held = value.items[:500]
    elif isinstance(value, Table):
        held = list(value.entries.values())[:500]
    elif isinstance(value, Alternatives):
        held = value.of
    elif isinstance(value, Instance):
        held = list(value.cls.fields.values())[:50]
    elif isinstance(value, Namespace):
        held = (value.of,)
    else:
        return []
    return [one for one in held if one is not None and type(one) not in _COLD]


def bind(m: Interpreter, target: ast.expr, value: Value | None) -> None:
    """Bind the target of an assignment, loop or `with`."""
    if isinstance(target, ast.Name):
        m.scope.bind(target.id, value, m.block)
        if value is not None and m.scope.kind == "module" and type(value) is not Const:
            m.changes += 1
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(m, target.elts, value)
    elif isinstance(target, ast.Starred):
        bind(m, target.value, value)
    elif isinstance(target, ast.Attribute):
        set_attribute(m, m.value(target.value), target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        base, key = m.value(target.value), m.value(target.slice)
        set_item(m, base, key, value, target)


def _unpack(m: Interpreter, targets: list[ast.expr], value: Value | None) -> None:
    settled = m.force(value) if m.exact or isinstance(value, Deferred) else value
    if isinstance(settled, Alternatives):
        rows = [members(m, one) or [] for one in settled.of]
        width = max(map(len, rows))
        settled = Items(
            "list", [choose(row[n] for row in rows if n < len(row)) for n in range(min(width, 20))]
        )
    found = members(m, settled)
    if isinstance(settled, Tainted) or found is None:
        spilled = settled if isinstance(settled, Tainted) else None
        for target in targets:
            bind(m, target, spilled)
        return
    star = next((n for n, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    if star is None:
        for number, target in enumerate(targets):
            bind(m, target, found[number] if number < len(found) else None)
        return
    after = len(targets) - star - 1
    end = max(len(found) - after, star)
    for number, target in enumerate(targets[:star]):
        bind(m, target, found[number] if number < len(found) else None)
    bind(m, targets[star], Items("list", list(found[star:end])))
    for number, target in enumerate(targets[star + 1 :]):
        bind(m, target, found[end + number] if end + number < len(found) else None)


def set_attribute(
    m: Interpreter, base: Value | None, name: str, value: Value | None, node: ast.AST
) -> None:
    """Interpret ``base.name = value``."""
    for one in options(base):
        if isinstance(one, (Instance, Class, Function)):
            fields = one.cls.fields if isinstance(one, Instance) else one.fields
            fields[name] = join(fields.get(name), value)
        elif isinstance(one, Ref):
            _set_in_module(m, one, name, value, node)
    if base is None or isinstance(base, Ref):
        m.fields[name] = join(m.fields.get(name), value)


def _set_in_module(
    m: Interpreter, base: Ref, name: str, value: Value | None, node: ast.AST
) -> None:
    if base.name == "builtins":
        m.scope.module.bind(name, value, m.block)
    if name in {"__code__", "__globals__"}:
        m.report(Capability.INTROSPECTION, node, f"{base.name}.{name}")


def set_item(
    m: Interpreter, base: Value | None, key: Value | None, value: Value | None, node: ast.AST
) -> None:
    """Interpret ``base[key] = value``."""
    # A deferred key is evaluated only where keys are names.
    needed = m.exact or isinstance(base, (Namespace, Ref))
    name = m.plain(m.force(key) if needed else key)
    for one in options(base):
        if isinstance(one, Table):
            _set_entry(one, name, value)
        elif isinstance(one, Items):
            _set_member(m, one, name, value)
        elif isinstance(one, Namespace):
            _set_in_namespace(m, one, name, value, node)
        elif isinstance(one, Ref) and one.name == "sys.modules" and isinstance(name, str):
            m.fields[f"sys.modules[{name}]"] = value
        elif isinstance(one, Ref) and one.name == "os.environ":
            _set_variable(m, name, value, node)
    if base is None and tracked_parts(value):
        m.report_unresolved(Capability.MODULE_ESCAPE, node, _name_of(value))


def _name_of(value: Value | None) -> str:
    held = tracked_parts(value)
    while held and isinstance(held[0], Tainted):
        held = [one for one in held[0].held if isinstance(one, Ref)]
    return held[0].name if held and isinstance(held[0], Ref) else "a module"


def _set_entry(table: Table, name: object, value: Value | None) -> None:
    try:
        if name is UNKNOWN:
            table.entries[("?", len(table.entries))] = value
        else:
            table.entries[name] = value
    except TypeError:
        return


def _set_member(m: Interpreter, items: Items, name: object, value: Value | None) -> None:
    if isinstance(name, int) and -len(items.items) <= name < len(items.items):
        items.items[name] = value
    elif isinstance(name, slice):
        given = value.items if isinstance(value, Items) else None
        size = len(items.items) + len(given or ())
        if given is not None and name.step is None and size <= _MOST_MEMBERS and m.affords(size):
            attempt(items.items.__setitem__, (name, given), {})
    elif value is not None and len(items.items) < 10_000:
        items.items.append(value)


def _set_in_namespace(
    m: Interpreter, space: Namespace, name: object, value: Value | None, node: ast.AST
) -> None:
    if space.scope is not None:
        if isinstance(name, str):
            space.scope.bind(name, value, m.block)
        elif tracked_parts(value):
            m.report_unresolved(Capability.MODULE_ESCAPE, node, _name_of(value))
    elif isinstance(name, str):
        set_attribute(m, space.of, name, value, node)


def _set_variable(m: Interpreter, name: object, value: Value | None, node: ast.AST) -> None:
    if name in {"PYTHONSTARTUP", "LD_PRELOAD", "BASH_ENV", "LD_AUDIT", "PYTHONBREAKPOINT"}:
        m.report(Capability.PERSISTENCE, node, str(name), detail=f"by {text_of(value) or 'a file'}")
