"""Items of what is known: ``base[key]``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.bounds import weight
from llm_sandbox.security.python.folding import UNKNOWN, attempt, wrapped
from llm_sandbox.security.python.lookups import attribute, called, found, module, of_class, wild
from llm_sandbox.security.python.sinks import CALLS, WATCHED, WILD, is_tracked
from llm_sandbox.security.python.values import (
    Alternatives,
    Class,
    Const,
    Deferred,
    Instance,
    Items,
    Namespace,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    import ast

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["item", "of_namespace"]

_BUILT_IN = frozenset(["eval", "exec", "compile", "open", "__import__", "getattr"])


def item(m: Interpreter, base: Value | None, key: Value | None, node: ast.AST) -> Value | None:
    """Return what ``base[key]`` is."""
    if base is None:
        return None
    if isinstance(base, Deferred) or isinstance(key, Deferred):
        if m.exact or not isinstance(base, Deferred):
            return item(m, m.force(base), m.force(key), node)
        return Deferred(lambda: item(m, m.force(base), m.force(key), node))
    if isinstance(key, Alternatives):
        return choose(item(m, base, one, node) for one in key.of)
    name = m.plain(key)
    if isinstance(base, Alternatives):
        return choose(item(m, one, key, node) for one in base.of)
    if isinstance(base, Const):
        return _of_text(m, base, name)
    if isinstance(base, (Items, Table)):
        return _of_container(m, base, name)
    if isinstance(base, Namespace):
        return of_namespace(m, base, name, node)
    if isinstance(base, Tainted):
        return base
    if isinstance(base, Ref):
        return _of_module(m, base, name, node)
    if isinstance(base, (Instance, Class)):
        method = "__getitem__" if isinstance(base, Instance) else "__class_getitem__"
        owner = base.cls if isinstance(base, Instance) else base
        return called(m, of_class(m, owner, method, node), base, [key], node)
    return None


def _of_text(m: Interpreter, base: Const, name: object) -> Value | None:
    if isinstance(name, slice) and not m.affords(weight(base.value, lazy=True)):
        return None
    found = attempt(operator.getitem, (base.value, name), {})
    return None if found is UNKNOWN else wrapped(found)


def _of_container(m: Interpreter, base: Items | Table, name: object) -> Value | None:
    if isinstance(base, Table):
        try:
            if name in base.entries:
                return base.entries[name]
        except TypeError:
            return None
        return choose(value for value in base.entries.values() if not isinstance(value, Const))
    if isinstance(name, slice):
        if not m.affords(len(base.items)):
            return None
        part = attempt(operator.getitem, (base.items, name), {})
        return Items(base.kind, part) if isinstance(part, list) else None
    if base.kind == "set" and base.items:
        return choose(base.items)
    if isinstance(name, int) and -len(base.items) <= name < len(base.items):
        return base.items[name]
    if name is UNKNOWN and len(base.items) < 500:
        return choose(value for value in base.items if not isinstance(value, Const))
    return None


def of_namespace(m: Interpreter, base: Namespace, name: object, node: ast.AST) -> Value | None:
    """Return what a namespace has under a name."""
    if not isinstance(name, str):
        return _unnamed(m, base, node) if name is UNKNOWN else None
    if base.scope is not None:
        if name in base.scope.values:
            return base.scope.values[name]
        if name == "__builtins__":
            return module(m, "builtins", node, ("globals()",))
        return None
    if base.of is not None:
        return attribute(m, base.of, name, node)
    if name in WATCHED:
        return module(m, name, node, ("__globals__",), sure=False)
    if name in WILD:
        return found(m, WILD[name], node, ("__globals__",), sure=False)
    if name == "__builtins__":
        return module(m, "builtins", node, ("__globals__",))
    if name in _BUILT_IN:
        return found(m, f"builtins.{name}", node, ("__globals__",), sure=False)
    return None


def _unnamed(m: Interpreter, base: Namespace, node: ast.AST) -> Value | None:
    if base.scope is not None:
        held = [
            value
            for value in list(base.scope.values.values())[:500]
            if isinstance(value, Ref) and is_tracked(value.name)
        ]
        if not held:
            return None
        m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, "globals()")
        return Tainted(tuple(held))
    if isinstance(base.of, Ref) and is_tracked(base.of.name):
        m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, f"{base.of.name}.__dict__")
        return Tainted((base.of,))
    return Tainted((base.of,)) if isinstance(base.of, Tainted) else None


def _of_module(m: Interpreter, base: Ref, name: object, node: ast.AST) -> Value | None:
    if base.name == "sys.modules":
        if isinstance(name, str):
            given = m.fields.get(f"sys.modules[{name}]")
            return given or module(m, name, node, ("sys.modules",))
        if name is UNKNOWN:
            m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, "sys.modules")
            return wild()
    if base.name == "builtins" and isinstance(name, str):
        # `__builtins__` is a dictionary in modules that are not the main one.
        return attribute(m, base, name, node)
    if base.name.startswith("ctypes.") and isinstance(name, str):
        return found(m, "ctypes.CDLL", node)
    return base if base.name in CALLS else None
