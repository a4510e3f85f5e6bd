"""Functions and classes of the program: definitions with decorators, and calls of their bodies."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python.binding import tracked_parts
from llm_sandbox.security.python.lookups import of_class
from llm_sandbox.security.python.values import (
    BoundMethod,
    Class,
    Const,
    Deferred,
    Function,
    Getter,
    Instance,
    Items,
    Partial,
    Ref,
    Scope,
    Table,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["analyse", "annotation", "define_class", "define_function", "run_function"]

_MOST_RUNS = 12
_MOST_ANALYSES = 3
_DEEPEST = 16
_SHALLOW = 3


def run_function(
    m: Interpreter,
    function: Function,
    args: list[Value | None],
    keywords: dict[str, Value | None],
    node: ast.AST,
) -> Value | None:
    """Call a function of the program: report the effects, and return the result."""
    given = [*args, *keywords.values()]
    if any(_is_worth_following(value) for value in given):
        function.called = True
        if function.runs < _MOST_RUNS and m.spend(10):
            function.runs += 1
            return _run(m, function, args, keywords)
        return None
    analyse(m, function)
    if _is_final(function, given):
        return function.result
    known = [value for value in given if value is not None]
    if (
        (function.unresolved or function.depends_on_arguments)
        and known
        and function.runs < _MOST_RUNS
    ):
        function.called = True
        function.runs += 1
        return _run(m, function, args, keywords)
    if m.exact:
        return _run(m, function, args, keywords) if m.spend(5) else None
    if not known and function.node.args.args:
        return function.result
    return Deferred(lambda: _run(m, function, args, keywords) if m.spend(5) else None)


def _is_final(function: Function, given: list[Value | None]) -> bool:
    """Return whether the result for unknown arguments is valid for all arguments."""
    result = function.result
    if (
        result is None
        or isinstance(result, Deferred)
        or function.unresolved
        or function.depends_on_arguments
    ):
        return False
    return not (_has_text(given) and isinstance(result, Const))


def _is_worth_following(value: Value | None) -> bool:
    if value is None or isinstance(value, (Const, Deferred)):
        return False
    if isinstance(value, (Function, Partial, Getter, Class)):
        return True
    if isinstance(value, Instance):
        return bool(tracked_parts(value))
    if isinstance(value, BoundMethod):
        return value.function is not None
    return bool(tracked_parts(value)) or (
        isinstance(value, (Items, Table))
        and any(_is_worth_following(v) for v in _values(value)[:20])
    )


def _values(value: Items | Table) -> list[Value | None]:
    return value.items if isinstance(value, Items) else list(value.entries.values())


def _has_text(values: list[Value | None]) -> bool:
    return any(isinstance(value, (Const, Items, Deferred)) for value in values)


def analyse(m: Interpreter, function: Function) -> None:
    """Interpret a function with unknown arguments, unless nothing changed since the last time."""
    if function.running or function.seen_at == m.changes:
        return
    if function.seen_at >= 0 and (function.runs >= _MOST_ANALYSES or not m.spend(20)):
        return
    function.runs += function.seen_at >= 0
    function.seen_at = m.changes
    function.unresolved.clear()
    owner = function.owner
    first: list[Value | None] = []
    if owner is not None and _has_self(function):
        first = [Instance(owner)]
        if owner.ready is False:
            owner.ready = True
            made = owner.fields.get("__init__")
            if isinstance(made, Function) and made is not function:
                analyse(m, made)
    before = m.exact
    m.exact = False
    try:
        function.result = _run(m, function, first, {})
        if getattr(function.node, "name", "") in {"__reduce__", "__reduce_ex__"}:
            _reduce(m, function)
    except RecursionError:
        # Nested too deeply in other calls; it is interpreted again when those are done.
        function.seen_at = -1
        if not m.depth:
            raise
    finally:
        m.exact = before


def _reduce(m: Interpreter, function: Function) -> None:
    """Call the result of `__reduce__`, as copying or loading the object does."""
    from llm_sandbox.security.python.calls import invoke

    result = function.result
    if isinstance(result, Items) and len(result.items) >= 2:
        args = result.items[1]
        with m.unsure():
            given = list(args.items) if isinstance(args, Items) else []
            invoke(m, result.items[0], given, {}, function.node)


def _has_self(function: Function) -> bool:
    node = function.node
    if not node.args.args and not node.args.posonlyargs:
        return False
    decorators = getattr(node, "decorator_list", ())
    return not any(getattr(one, "id", "") == "staticmethod" for one in decorators)


def _run(
    m: Interpreter, function: Function, args: list[Value | None], keywords: dict[str, Value | None]
) -> Value | None:
    if m.depth >= _DEEPEST or (function.running and not m.exact) or function.running > 12:
        return None
    node = function.node
    scope = Scope("function", function.scope, function.owner)
    if function.owner is not None:
        # Methods do not see the names of a class body.
        scope.parent = function.scope.parent if function.scope.kind == "class" else function.scope
    _bind_arguments(function, scope, args, keywords)
    before = m.scope, m.block, m.returned, m.function
    m.scope, m.block, m.returned, m.function = scope, 0, [], function
    context = m.context()
    m.restore(function.context)
    m.depth += 1
    function.running += 1
    try:
        if isinstance(node, ast.Lambda):
            return m.value(node.body)
        m.run(node.body)
        return _result(m.returned)
    except RecursionError:
        if m.depth < _SHALLOW:
            raise
        return None
    finally:
        m.scope, m.block, m.returned, m.function = before
        m.restore(context)
        m.depth -= 1
        function.running -= 1


def _result(returned: list[Value | None]) -> Value | None:
    return returned[0] if len(returned) == 1 else choose(returned)


def _bind_arguments(
    function: Function, scope: Scope, args: list[Value | None], keywords: dict[str, Value | None]
) -> None:
    spec = function.node.args
    names = [one.arg for one in (*spec.posonlyargs, *spec.args)]
    values = scope.values
    for number, name in enumerate(names[len(names) - len(function.defaults) :]):
        values[name] = function.defaults[number]
    for one, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=False):
        values[one.arg] = default
    for name in names:
        values.setdefault(name, None)
    for number, value in enumerate(args[: len(names)]):
        values[names[number]] = value
    if spec.vararg is not None:
        values[spec.vararg.arg] = Items("tuple", list(args[len(names) :])) if args else None
    named = set(names) | {one.arg for one in spec.kwonlyargs}
    if spec.kwarg is not None:
        others = {key: value for key, value in keywords.items() if key not in named}
        values[spec.kwarg.arg] = (
            Table({str(key): value for key, value in others.items()}) if others else None
        )
    values.update({key: value for key, value in keywords.items() if key in named})


def annotation(m: Interpreter, node: ast.expr | None) -> None:
    """Evaluate an annotation without taking the names in it for uses."""
    if node is None or type(node) is ast.Name or type(node) is ast.Constant:
        return
    looked = len(m.lookups)
    m.value(node)
    del m.lookups[looked:]


def define_function(m: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Bind a function with its defaults and decorators."""
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
    """Return the value of a definition after its decorators."""
    from llm_sandbox.security.python.calls import invoke

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
    """Interpret a class body, and bind the class."""
    from llm_sandbox.security.python.calls import invoke

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
