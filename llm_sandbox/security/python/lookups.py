"""Attributes and items of abstract values: ``base.name`` and ``base[key]``."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import full_names
from llm_sandbox.security.python.folding import UNKNOWN, attempt, weight, wrapped
from llm_sandbox.security.python.full_names import canonical, names
from llm_sandbox.security.python.pure import CONSTANTS
from llm_sandbox.security.python.sinks import CALLS, READS, WATCHED, WILD, is_tracked
from llm_sandbox.security.python.values import (
    Alternatives,
    BoundMethod,
    Class,
    Const,
    Deferred,
    Function,
    Instance,
    Items,
    Namespace,
    OpenFile,
    Partial,
    PathValue,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    import ast

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["attribute", "called", "found", "item", "module", "of_class", "of_namespace", "wild"]

_WALKS = frozenset(
    names(
        """
        __subclasses__ __globals__ f_globals f_builtins f_locals f_back gi_frame cr_frame ag_frame
        tb_frame func_globals __builtins__ gi_code f_code co_code
        """
    )
)
"""Attributes that lead to internal objects of the interpreter."""
_NAMESPACES = frozenset(["__globals__", "f_globals", "f_builtins", "f_locals", "func_globals"])
_ITSELF = frozenset(["__call__", "__func__", "__wrapped__", "__get__", "__origin__", "__new__"])
_TELLING = frozenset(
    names(
        """
    os subprocess ctypes builtins pty importlib posix _io _os _subprocess
    """
    )
)


def wild() -> Tainted:
    """Return an unknown module, which may be any."""
    return Tainted(
        (Ref("os", sure=False), Ref("subprocess", sure=False), Ref("builtins", sure=False))
    )


def found(
    m: Interpreter, name: str, node: ast.AST, route: tuple[str, ...] = (), sure: bool = True
) -> Ref:
    """Return the reference of a full name, recorded when it is tracked."""
    ref = Ref(name, route, sure)
    if name in CALLS:
        m.note_lookup(ref, node)
    elif name in READS:
        m.report(READS[name], node, name, route=route)
    return ref


def module(
    m: Interpreter, name: str, node: ast.AST, route: tuple[str, ...], sure: bool = True
) -> Ref:
    """Return a module that is reached other than by an import."""
    name = canonical(name)
    m.report_module(name, node, route, sure)
    return Ref(name, route, sure)


def attribute(m: Interpreter, base: Value | None, name: str, node: ast.AST) -> Value | None:
    """Return the value of ``base.name``."""
    if base is None:
        return _of_unknown(m, name, node)
    if type(base) is Ref:
        return _of_ref(m, base, name, node)
    work = _ATTRIBUTES.get(type(base))
    return None if work is None else work(m, base, name, node)


def _of_unknown(m: Interpreter, name: str, node: ast.AST) -> Value | None:
    if name in m.fields:
        return m.fields[name]
    if name in _WALKS:
        return _walked(m, name, node, None)
    if name in _TELLING:
        return Ref(canonical(name.lstrip("_")), (name,), sure=False)
    return None


def _walked(m: Interpreter, name: str, node: ast.AST, base: Value | None) -> Value | None:
    if name == "__builtins__":
        return module(m, "builtins", node, ("__builtins__",))
    subject = f"{base.name}.{name}" if isinstance(base, Ref) else name
    m.report(Capability.INTROSPECTION, node, subject)
    if name == "__subclasses__":
        return BoundMethod(Items("set", []), name)
    return (
        Namespace(base)
        if name in _NAMESPACES
        else BoundMethod(base, name)
        if base is not None
        else None
    )


def _of_ref(m: Interpreter, base: Ref, name: str, node: ast.AST) -> Value | None:
    full = f"{base.name}.{name}"
    if name[0] == "_" and name[:2] == "__":
        special = _special(m, base, name, node)
        if special is not None:
            return special
    if m.fields and name in m.fields and m.fields[name] is not None:
        return m.fields[name]
    if name in {"value", "_value_"} and is_tracked(base.name):
        # The value of a member of an enumeration.
        return base
    constant = CONSTANTS.get(full, UNKNOWN)
    if constant is not UNKNOWN:
        return Const(constant)
    if base.name == "IPython.shell()" and name in {"user_ns", "user_global_ns"}:
        return Namespace(scope=m.scope.module)
    target = full_names.target(base.name, name)
    if target is not None and target != full:
        if target in WATCHED:
            m.report_module(target, node, (full,), base.sure)
        return found(m, target, node, (*base.route, full), base.sure)
    if name in _TELLING and full not in WATCHED and "()" not in base.name:
        return module(m, name.lstrip("_"), node, (*base.route, full), sure=False)
    return found(m, canonical(full), node, base.route, base.sure)


def _special(m: Interpreter, base: Ref, name: str, node: ast.AST) -> Value | None:
    if name == "__dict__":
        return Namespace(base)
    if name in _ITSELF and base.name in CALLS:
        return base
    if name in {"__getattribute__", "__getattr__"}:
        return BoundMethod(base, name)
    if name == "__self__" and base.name.startswith("builtins."):
        return module(m, "builtins", node, (f"{base.name}.__self__",))
    if name in {"__loader__", "__spec__"}:
        return Ref(f"importlib.{name}")
    if name == "__name__" and f"{base.name}.__name__" not in CONSTANTS:
        return Const(base.name if base.name in WATCHED else base.name.rpartition(".")[2])
    if name == "__module__":
        return Const(base.name.rpartition(".")[0])
    if name in _NAMESPACES:
        m.report(Capability.INTROSPECTION, node, f"{base.name}.{name}")
        return Namespace(Ref(_module_of(base.name), (f"{base.name}.{name}",)))
    return _walked(m, name, node, base) if name in _WALKS else None


def _module_of(name: str) -> str:
    parts = name.replace("()", "").split(".")
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in WATCHED:
            return ".".join(parts[:end])
    kept = [part for part in parts if not part.startswith("__")]
    return ".".join(kept[:-1] or kept)


def _of_constant(m: Interpreter, base: Value, name: str, node: ast.AST) -> Value | None:
    if name == "__class__" and isinstance(base, Const):
        return Ref(f"builtins.{type(base.value).__name__}")
    if name == "__doc__" and isinstance(base, Const):
        return wrapped(type(base.value).__doc__)
    if name in _WALKS:
        return _walked(m, name, node, base)
    if isinstance(base, Const) and isinstance(base.value, slice) and name in {"start", "stop"}:
        return wrapped(getattr(base.value, name))
    return BoundMethod(base, name)


def _of_items(m: Interpreter, base: Items | Table, name: str, node: ast.AST) -> Value | None:
    kind = base.kind if isinstance(base, Items) else "dict"
    if name == "value":
        # The value of a member of an enumeration.
        return base
    if name == "__class__":
        return Ref(f"builtins.{kind}")
    if name == "__doc__":
        return Const(CONSTANTS.get(f"builtins.{kind}.__doc__"))
    return _walked(m, name, node, base) if name in _WALKS else BoundMethod(base, name)


def of_class(
    m: Interpreter, owner: Class, name: str, node: ast.AST, depth: int = 0
) -> Value | None:
    """Return an attribute of a class or of its bases."""
    if name in owner.fields:
        return owner.fields[name]
    for base in owner.bases:
        if isinstance(base, Class) and depth < 10:
            inherited = of_class(m, base, name, node, depth + 1)
            if inherited is not None:
                return inherited
        elif isinstance(base, Ref) and base.name in CALLS:
            return found(m, base.name, node)
        elif isinstance(base, Ref) and base.name != "builtins.object":
            return Ref(f"{base.name}().{name}")
    return None


def _of_instance(m: Interpreter, base: Instance, name: str, node: ast.AST) -> Value | None:
    if name == "__class__":
        return base.cls
    if name == "__dict__":
        return Namespace(base)
    value = of_class(m, base.cls, name, node)
    if value is None and "__getattr__" in base.cls.fields:
        return called(m, base.cls.fields["__getattr__"], base, [Const(name)], node)
    if isinstance(value, Function):
        kind = _decorated(value)
        if kind == "property":
            return called(m, value, base, [], node)
        return value if kind == "staticmethod" else BoundMethod(base, name, value)
    return value if value is not None else _of_unknown(m, name, node)


def called(
    m: Interpreter, function: Value | None, base: Value, args: list[Value | None], node: ast.AST
) -> Value | None:
    """Return the result of a method of an object."""
    from llm_sandbox.security.python.calls import invoke

    return invoke(m, function, [base, *args], {}, node)


def _decorated(function: Function) -> str:
    for decorator in getattr(function.node, "decorator_list", ()):
        name = getattr(decorator, "id", getattr(decorator, "attr", ""))
        if name in {"property", "cached_property", "lazyproperty"}:
            return "property"
        if name in {"staticmethod", "classmethod"}:
            return str(name)
    return ""


def _of_local_class(m: Interpreter, base: Class, name: str, node: ast.AST) -> Value | None:
    if name == "__dict__":
        return Namespace(base)
    if name == "__name__":
        return Const(base.name)
    value = of_class(m, base, name, node)
    if value is not None:
        is_class_method = isinstance(value, Function) and _decorated(value) == "classmethod"
        return (
            BoundMethod(base, name, value)
            if is_class_method and isinstance(value, Function)
            else value
        )
    if name in _WALKS and name != "__subclasses__":
        return _walked(m, name, node, None)
    return None


def _of_function(m: Interpreter, base: Function, name: str, node: ast.AST) -> Value | None:
    if name in base.fields:
        return base.fields[name]
    if name == "__defaults__":
        return Items("tuple", list(base.defaults))
    if name in _NAMESPACES:
        m.report(Capability.INTROSPECTION, node, name)
        return Namespace(scope=base.scope.module)
    if name in {"__call__", "__wrapped__", "__func__", "__get__"}:
        return base
    if name == "__code__":
        return Partial(base, [], {})
    if name == "__name__":
        return Const(getattr(base.node, "name", "<lambda>"))
    return _walked(m, name, node, None) if name in _WALKS else None


def _of_bound(m: Interpreter, base: BoundMethod, name: str, node: ast.AST) -> Value | None:
    if isinstance(base.base, Deferred):
        return attribute(m, attribute(m, m.force(base.base), base.name, node), name, node)
    if name in {"__call__", "__func__"}:
        return base
    if name == "__self__":
        return base.base
    if name in _WALKS:
        return _walked(m, name, node, base.function)
    return None


def _of_partial(m: Interpreter, base: Partial, name: str, node: ast.AST) -> Value | None:
    if name == "func":
        return base.callee
    return base if name == "__call__" else Items("tuple", base.args) if name == "args" else None


def _of_path(m: Interpreter, base: PathValue, name: str, node: ast.AST) -> Value | None:
    if name in {"parent", "parents"}:
        return PathValue(
            base.path.rpartition("/")[0] or "/" if base.path and "/" in base.path else None
        )
    if name in {"name", "stem", "suffix"}:
        return Const(base.path.rpartition("/")[2]) if base.path and name == "name" else None
    return BoundMethod(base, name)


def _of_alternatives(m: Interpreter, base: Alternatives, name: str, node: ast.AST) -> Value | None:
    return choose(attribute(m, one, name, node) for one in base.of)


def _of_tainted(m: Interpreter, base: Tainted, name: str, node: ast.AST) -> Value | None:
    for one in base.held[:20]:
        if isinstance(one, Tainted):
            inner = _of_tainted(m, one, name, node)
            if isinstance(inner, Ref):
                return inner
        elif isinstance(one, Ref):
            full = canonical(f"{one.name}.{name}")
            if is_tracked(full):
                return found(m, full, node, one.route, sure=False)
    if name in _WALKS:
        return _walked(m, name, node, None)
    return base


def _of_namespace(
    m: Interpreter, base: Namespace | OpenFile, name: str, node: ast.AST
) -> Value | None:
    return BoundMethod(base, name)


def _of_deferred(m: Interpreter, base: Deferred, name: str, node: ast.AST) -> Value | None:
    return BoundMethod(base, name)


_ATTRIBUTES: dict[type, Any] = {
    Deferred: _of_deferred,
    BoundMethod: _of_bound,
    Tainted: _of_tainted,
    Alternatives: _of_alternatives,
    Class: _of_local_class,
    Const: _of_constant,
    Function: _of_function,
    Instance: _of_instance,
    Items: _of_items,
    Partial: _of_partial,
    PathValue: _of_path,
    Namespace: _of_namespace,
    Table: _of_items,
    OpenFile: _of_namespace,
}


_BUILT_IN = frozenset(["eval", "exec", "compile", "open", "__import__", "getattr"])


def item(m: Interpreter, base: Value | None, key: Value | None, node: ast.AST) -> Value | None:
    """Return the value of ``base[key]``."""
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
    """Return the value of a name in a namespace."""
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
