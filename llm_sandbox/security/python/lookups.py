"""Attributes and items of what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import reexports
from llm_sandbox.security.python.folding import UNKNOWN, wrapped
from llm_sandbox.security.python.modules import canonical
from llm_sandbox.security.python.pure import CONSTANTS
from llm_sandbox.security.python.sinks import CALLS, READS, WATCHED, is_hot
from llm_sandbox.security.python.values import (
    Attempt,
    Bound,
    Carrier,
    Choice,
    Class,
    Const,
    Function,
    Instance,
    Items,
    Partial,
    Place,
    Ref,
    Space,
    Table,
    Value,
    Written,
    choose,
)
from llm_sandbox.security.python.words import names

if TYPE_CHECKING:
    import ast

    from llm_sandbox.security.python.machine import Machine

__all__ = ["attribute", "called", "found", "module", "of_class", "wild"]

_WALKS = frozenset(
    names(
        """
        __subclasses__ __globals__ f_globals f_builtins f_locals f_back gi_frame cr_frame ag_frame
        tb_frame func_globals __builtins__ gi_code f_code co_code
        """
    )
)
"""Attributes by which the interpreter's own objects are walked."""
_NAMESPACES = frozenset(["__globals__", "f_globals", "f_builtins", "f_locals", "func_globals"])
_ITSELF = frozenset(["__call__", "__func__", "__wrapped__", "__get__", "__origin__", "__new__"])
_TELLING = frozenset(
    names(
        """
    os subprocess ctypes builtins pty importlib posix _io _os _subprocess
    """
    )
)


def wild() -> Carrier:
    """Return a module of which nothing is known but that it may be any."""
    return Carrier(
        (Ref("os", sure=False), Ref("subprocess", sure=False), Ref("builtins", sure=False))
    )


def found(
    m: Machine, name: str, node: ast.AST, route: tuple[str, ...] = (), sure: bool = True
) -> Ref:
    """Return what a full name stands for, remembered when it is of interest."""
    ref = Ref(name, route, sure)
    if name in CALLS:
        m.look(ref, node)
    elif name in READS:
        m.see(READS[name], node, name, route=route)
    return ref


def module(m: Machine, name: str, node: ast.AST, route: tuple[str, ...], sure: bool = True) -> Ref:
    """Return a module that is reached other than by an import."""
    name = canonical(name)
    m.comes_by(name, node, route, sure)
    return Ref(name, route, sure)


def attribute(m: Machine, base: Value | None, name: str, node: ast.AST) -> Value | None:
    """Return what ``base.name`` is."""
    if base is None:
        return _of_unknown(m, name, node)
    if type(base) is Ref:
        return _of_ref(m, base, name, node)
    work = _ATTRIBUTES.get(type(base))
    return None if work is None else work(m, base, name, node)


def _of_unknown(m: Machine, name: str, node: ast.AST) -> Value | None:
    if name in m.fields:
        return m.fields[name]
    if name in _WALKS:
        return _walked(m, name, node, None)
    if name in _TELLING:
        return Ref(canonical(name.lstrip("_")), (name,), sure=False)
    return None


def _walked(m: Machine, name: str, node: ast.AST, base: Value | None) -> Value | None:
    if name == "__builtins__":
        return module(m, "builtins", node, ("__builtins__",))
    subject = f"{base.name}.{name}" if isinstance(base, Ref) else name
    m.see(Capability.INTROSPECTION, node, subject)
    if name == "__subclasses__":
        return Bound(Items("set", []), name)
    return Space(base) if name in _NAMESPACES else Bound(base, name) if base is not None else None


def _of_ref(m: Machine, base: Ref, name: str, node: ast.AST) -> Value | None:
    full = f"{base.name}.{name}"
    if name[0] == "_" and name[:2] == "__":
        special = _special(m, base, name, node)
        if special is not None:
            return special
    if m.fields and name in m.fields and m.fields[name] is not None:
        return m.fields[name]
    if name in {"value", "_value_"} and is_hot(base.name):
        # The value of a member of an enumeration.
        return base
    constant = CONSTANTS.get(full, UNKNOWN)
    if constant is not UNKNOWN:
        return Const(constant)
    if base.name == "IPython.shell()" and name in {"user_ns", "user_global_ns"}:
        return Space(scope=m.scope.module)
    target = reexports.target(base.name, name)
    if target is not None and target != full:
        if target in WATCHED:
            m.comes_by(target, node, (full,), base.sure)
        return found(m, target, node, (*base.route, full), base.sure)
    if name in _TELLING and full not in WATCHED and "()" not in base.name:
        return module(m, name.lstrip("_"), node, (*base.route, full), sure=False)
    return found(m, canonical(full), node, base.route, base.sure)


def _special(m: Machine, base: Ref, name: str, node: ast.AST) -> Value | None:
    if name == "__dict__":
        return Space(base)
    if name in _ITSELF and base.name in CALLS:
        return base
    if name in {"__getattribute__", "__getattr__"}:
        return Bound(base, name)
    if name == "__self__" and base.name.startswith("builtins."):
        return module(m, "builtins", node, (f"{base.name}.__self__",))
    if name in {"__loader__", "__spec__"}:
        return Ref(f"importlib.{name}")
    if name == "__name__" and f"{base.name}.__name__" not in CONSTANTS:
        return Const(base.name if base.name in WATCHED else base.name.rpartition(".")[2])
    if name == "__module__":
        return Const(base.name.rpartition(".")[0])
    if name in _NAMESPACES:
        m.see(Capability.INTROSPECTION, node, f"{base.name}.{name}")
        return Space(Ref(_module_of(base.name), (f"{base.name}.{name}",)))
    return _walked(m, name, node, base) if name in _WALKS else None


def _module_of(name: str) -> str:
    parts = name.replace("()", "").split(".")
    for end in range(len(parts), 0, -1):
        if ".".join(parts[:end]) in WATCHED:
            return ".".join(parts[:end])
    kept = [part for part in parts if not part.startswith("__")]
    return ".".join(kept[:-1] or kept)


def _of_constant(m: Machine, base: Value, name: str, node: ast.AST) -> Value | None:
    if name == "__class__" and isinstance(base, Const):
        return Ref(f"builtins.{type(base.value).__name__}")
    if name == "__doc__" and isinstance(base, Const):
        return wrapped(type(base.value).__doc__)
    if name in _WALKS:
        return _walked(m, name, node, base)
    if isinstance(base, Const) and isinstance(base.value, slice) and name in {"start", "stop"}:
        return wrapped(getattr(base.value, name))
    return Bound(base, name)


def _of_items(m: Machine, base: Items | Table, name: str, node: ast.AST) -> Value | None:
    kind = base.kind if isinstance(base, Items) else "dict"
    if name == "value":
        # The value of a member of an enumeration.
        return base
    if name == "__class__":
        return Ref(f"builtins.{kind}")
    if name == "__doc__":
        return Const(CONSTANTS.get(f"builtins.{kind}.__doc__"))
    return _walked(m, name, node, base) if name in _WALKS else Bound(base, name)


def of_class(m: Machine, owner: Class, name: str, node: ast.AST, depth: int = 0) -> Value | None:
    """Return what a class has under a name, itself or from its bases."""
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


def _of_instance(m: Machine, base: Instance, name: str, node: ast.AST) -> Value | None:
    if name == "__class__":
        return base.cls
    if name == "__dict__":
        return Space(base)
    value = of_class(m, base.cls, name, node)
    if value is None and "__getattr__" in base.cls.fields:
        return called(m, base.cls.fields["__getattr__"], base, [Const(name)], node)
    if isinstance(value, Function):
        kind = _decorated(value)
        if kind == "property":
            return called(m, value, base, [], node)
        return value if kind == "staticmethod" else Bound(base, name, value)
    return value if value is not None else _of_unknown(m, name, node)


def called(
    m: Machine, function: Value | None, base: Value, args: list[Value | None], node: ast.AST
) -> Value | None:
    """Return what a method of an object gives."""
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


def _of_local_class(m: Machine, base: Class, name: str, node: ast.AST) -> Value | None:
    if name == "__dict__":
        return Space(base)
    if name == "__name__":
        return Const(base.name)
    value = of_class(m, base, name, node)
    if value is not None:
        is_class_method = isinstance(value, Function) and _decorated(value) == "classmethod"
        return (
            Bound(base, name, value) if is_class_method and isinstance(value, Function) else value
        )
    if name in _WALKS and name != "__subclasses__":
        return _walked(m, name, node, None)
    return None


def _of_function(m: Machine, base: Function, name: str, node: ast.AST) -> Value | None:
    if name in base.fields:
        return base.fields[name]
    if name == "__defaults__":
        return Items("tuple", list(base.defaults))
    if name in _NAMESPACES:
        m.see(Capability.INTROSPECTION, node, name)
        return Space(scope=base.scope.module)
    if name in {"__call__", "__wrapped__", "__func__", "__get__"}:
        return base
    if name == "__code__":
        return Partial(base, [], {})
    if name == "__name__":
        return Const(getattr(base.node, "name", "<lambda>"))
    return _walked(m, name, node, None) if name in _WALKS else None


def _of_bound(m: Machine, base: Bound, name: str, node: ast.AST) -> Value | None:
    if isinstance(base.base, Attempt):
        return attribute(m, attribute(m, m.settle(base.base), base.name, node), name, node)
    if name in {"__call__", "__func__"}:
        return base
    if name == "__self__":
        return base.base
    if name in _WALKS:
        return _walked(m, name, node, base.function)
    return None


def _of_partial(m: Machine, base: Partial, name: str, node: ast.AST) -> Value | None:
    if name == "func":
        return base.callee
    return base if name == "__call__" else Items("tuple", base.args) if name == "args" else None


def _of_place(m: Machine, base: Place, name: str, node: ast.AST) -> Value | None:
    if name in {"parent", "parents"}:
        return Place(
            base.path.rpartition("/")[0] or "/" if base.path and "/" in base.path else None
        )
    if name in {"name", "stem", "suffix"}:
        return Const(base.path.rpartition("/")[2]) if base.path and name == "name" else None
    return Bound(base, name)


def _of_choice(m: Machine, base: Choice, name: str, node: ast.AST) -> Value | None:
    return choose(attribute(m, one, name, node) for one in base.of)


def _of_carrier(m: Machine, base: Carrier, name: str, node: ast.AST) -> Value | None:
    for one in base.held[:20]:
        if isinstance(one, Carrier):
            inner = _of_carrier(m, one, name, node)
            if isinstance(inner, Ref):
                return inner
        elif isinstance(one, Ref):
            full = canonical(f"{one.name}.{name}")
            if is_hot(full):
                return found(m, full, node, one.route, sure=False)
    if name in _WALKS:
        return _walked(m, name, node, None)
    return base


def _of_space(m: Machine, base: Space | Written, name: str, node: ast.AST) -> Value | None:
    return Bound(base, name)


def _of_attempt(m: Machine, base: Attempt, name: str, node: ast.AST) -> Value | None:
    return Bound(base, name)


_ATTRIBUTES: dict[type, Any] = {
    Attempt: _of_attempt,
    Bound: _of_bound,
    Carrier: _of_carrier,
    Choice: _of_choice,
    Class: _of_local_class,
    Const: _of_constant,
    Function: _of_function,
    Instance: _of_instance,
    Items: _of_items,
    Partial: _of_partial,
    Place: _of_place,
    Space: _of_space,
    Table: _of_items,
    Written: _of_space,
}
