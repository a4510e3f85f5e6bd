"""Definitions of functions and classes, with their decorators."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.calls import invoke
from llm_sandbox.security.python.lookups import of_class
from llm_sandbox.security.python.scopes import Scope
from llm_sandbox.security.python.targets import tracked_parts
from llm_sandbox.security.python.values import (
    Class,
    Const,
    Deferred,
    Function,
    Items,
    Ref,
    Table,
    Tainted,
    Value,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["annotation", "define_class", "define_function"]


def annotation(m: Interpreter, node: ast.expr | None) -> None:
    """Follow what works out an annotation; what it names is not handed on."""
    if node is None or type(node) is ast.Name or type(node) is ast.Constant:
        return
    looked = len(m.lookups)
    m.value(node)
    del m.lookups[looked:]


def define_function(m: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Bind a function, with its defaults and decorators."""
    spec = node.args
    for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        annotation(m, one.annotation)
    annotation(m, node.returns)
    made = Function(
        node,
        m.scope,
        [m.value(default) for default in spec.defaults],
        [m.value(default) if default is not None else None for default in spec.kw_defaults],
        m.context(),
        m.scope.owner if m.scope.kind == "class" else None,
    )
    m.functions.append(made)
    m.defined.add(node.name)
    m.scope.bind(node.name, _decorated(m, node, made), m.block)
    return 0


def _decorated(m: Interpreter, node: Any, value: Value) -> Value:
    """What a definition is bound to: itself, unless a decorator of the program changes it."""
    for decorator in reversed(node.decorator_list):
        wrapper = m.value(decorator)
        if isinstance(wrapper, Ref) and wrapper.name in {
            "builtins.property",
            "builtins.staticmethod",
            "builtins.classmethod",
        }:
            continue
        if wrapper is None:
            continue
        result = invoke(m, wrapper, [value], {}, decorator)
        if (
            (result is not None and not isinstance(result, (Ref, Deferred, Tainted)))
            or isinstance(result, Tainted)
            or (isinstance(result, Ref) and tracked_parts(result))
        ):
            value = result
    return value


def define_class(m: Interpreter, node: ast.ClassDef) -> int:
    """Follow a class body, and bind the class."""
    bases = [m.value(base) for base in node.bases]
    scope = Scope("class", m.scope)
    made = Class(node.name, scope, bases, node)
    scope.owner = made
    keywords = {one.arg or "**": m.value(one.value) for one in node.keywords}
    m.defined.add(node.name)
    made.fields = scope.values
    with m.within(scope):
        m.run(node.body)
    meta = keywords.get("metaclass")
    if isinstance(meta, Class):
        made.bases.append(meta)
    elif meta is not None:
        table = Table({str(key): value for key, value in scope.values.items()})
        invoke(m, meta, [Const(node.name), Items("tuple", bases), table], {}, node)
    for base in bases:
        if isinstance(base, Class):
            hook = of_class(m, base, "__init_subclass__", node)
            if isinstance(hook, Function):
                invoke(
                    m, hook, [made], {k: v for k, v in keywords.items() if k != "metaclass"}, node
                )
    m.scope.bind(node.name, _decorated(m, node, made), m.block)
    return 0
