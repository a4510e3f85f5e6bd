"""Calls: dispatch by the kind of callee, and effects of calls on tracked values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import effects, imports, models, nested_code
from llm_sandbox.security.python.binding import combinations, members, tracked_parts
from llm_sandbox.security.python.folding import (
    UNKNOWN,
    attempt,
    bytes_method,
    fold_call,
    weight,
    wrapped,
)
from llm_sandbox.security.python.full_names import canonical, names
from llm_sandbox.security.python.functions import run_function
from llm_sandbox.security.python.lookups import attribute, item, of_class
from llm_sandbox.security.python.methods import method
from llm_sandbox.security.python.pure import FUNCTIONS, LAZY, function
from llm_sandbox.security.python.sinks import WATCHED, WILD, capability_of, is_tracked
from llm_sandbox.security.python.values import (
    Alternatives,
    Args,
    BoundMethod,
    Class,
    Const,
    Deferred,
    Function,
    Getter,
    Instance,
    Items,
    Keywords,
    Namespace,
    Partial,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["call", "invoke", "reshaped"]

_SHAPES = frozenset(["list", "tuple", "set", "sorted", "reversed", "iter", "frozenset"])


_MEMBER = 10
_MOST_CELLS = 100_000
_CHOOSES = frozenset(["next", "max", "min"])


def reshaped(m: Interpreter, name: str, args: Args, node: Any) -> Value | None:
    """Return the result of a function that reorders or selects members that are not constants."""
    last = name.rpartition(".")[2]
    if not m.affords(_MEMBER * sum(len(one.items) for one in args if isinstance(one, Items))):
        return None
    if last == "zip":
        rows = [members(m, arg) for arg in args]
        shortest = min((len(row) for row in rows if row is not None), default=0)
        if all(row is not None for row in rows) and rows and len(rows) * shortest <= _MOST_CELLS:
            pairs = zip(*[row or [] for row in rows], strict=False)
            return Items("list", [Items("tuple", list(pair)) for pair in pairs])
    if last == "enumerate" and args:
        row = members(m, args[0])
        if row is not None:
            return Items("list", [Items("tuple", [Const(n), one]) for n, one in enumerate(row)])
    if last == "dict" and args:
        return _as_table(m, args[0])
    if last in _SHAPES and args:
        row = members(m, args[0])
        if row is not None:
            return Items("list", list(reversed(row)) if last == "reversed" else list(row))
    if last in _CHOOSES and args:
        return choose(members(m, args[0]) or args)
    held = [one for arg in args for one in tracked_parts(arg)]
    return Tainted(tuple(held[:20])) if held else None


def _as_table(m: Interpreter, value: Value | None) -> Value | None:
    if isinstance(value, (Table, Namespace)):
        return value
    entries: dict[object, Value | None] = {}
    for pair in members(m, value) or ():
        if not isinstance(pair, Items) or len(pair.items) != 2:
            return None
        key = m.plain(pair.items[0])
        attempt(
            entries.__setitem__, (key if key is not UNKNOWN else ("?", id(pair)), pair.items[1]), {}
        )
    return Table(entries)


_HARMLESS = frozenset(
    names(
        """
        print type id repr str hasattr isinstance issubclass dir help len callable bool display
        Markdown format hash
        """
    )
)
"""Builtins without an effect on their arguments."""


def call(m: Interpreter, node: ast.Call) -> Value | None:
    """Interpret a call: report its effects, and return its value."""
    callee = m.value(node.func)
    looked = len(m.lookups)
    args: Args = []
    for part in node.args:
        if isinstance(part, ast.Starred):
            spread = members(m, m.force(m.value(part.value))) or [None]
            args.extend(spread if m.affords(_MEMBER * len(spread)) else [None])
        else:
            args.append(m.value(part))
    keywords: Keywords = {}
    for keyword in node.keywords:
        value = m.value(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Table):
            if m.affords(_MEMBER * len(value.entries)):
                keywords.update({str(key): entry for key, entry in value.entries.items()})
        elif value is not None:
            keywords["**"] = value
    if type(callee) is Ref and callee.name.startswith("builtins.") and callee.name[9:] in _HARMLESS:
        # A harmless builtin does not pass its arguments on.
        del m.lookups[looked:]
    return invoke(m, callee, args, keywords, node)


def invoke(
    m: Interpreter, callee: Value | None, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Call a value: report the effects, and return the result."""
    if callee is None:
        return _unknown(m, args, keywords, node)
    if type(callee) is Ref:
        return _ref(m, callee, args, keywords, node)
    if isinstance(callee, Function):
        return run_function(m, callee, args, keywords, node)
    work = _KINDS.get(type(callee))
    return None if work is None else work(m, callee, args, keywords, node)


def _ref(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    name = ref.name
    ref.used = True
    model = models.MODELS.get(name)
    if model is None and name[-1] == "_" and name[-2:] == "__":
        name, model, args = _without_dunder(name, args)
    capability = capability_of(name)
    if capability is not None:
        effects.report_call(m, capability, Ref(name, ref.route, ref.sure), args, keywords, node)
    result: Value | None = None
    if name in nested_code.EVALUATORS:
        result = nested_code.follow_evaluation(m, name, args, keywords, node)
    if name in effects.CONDITIONS:
        effects.CONDITIONS[name](m, ref, args, keywords, node)
    elif capability is not None and m.function is not None and None in args:
        m.function.depends_on_arguments = True
    if result is not None:
        return result
    if model is not None:
        followed: Value | None = model(m, ref, args, keywords, node)
        return followed
    work = FUNCTIONS.get(name) or function(name)
    if work is not None:
        return _folded(m, work, name, args, keywords, node)
    owner, _, last = name.rpartition(".")
    if owner.startswith("builtins.") and owner.count(".") == 1:
        return _method_of_type(m, owner[9:], last, args, keywords, node)
    held = _handed_on(m, ref, args, keywords, node)
    if held is not None:
        return held
    return Ref(canonical(f"{name}()"), ref.route, ref.sure)


def _without_dunder(name: str, args: Args) -> tuple[str, Any, Args]:
    owner, _, last = name.rpartition(".")
    if last in {"__call__", "__init__", "__new__", "__enter__"}:
        shorter = owner.removesuffix("()")
        kept = args[1:] if last in {"__init__", "__new__"} and "()" not in owner else args
        return shorter, models.MODELS.get(shorter), kept
    return name, None, args


def _method_of_type(
    m: Interpreter, owner: str, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Call a method on its type: ``str.join(",", parts)``."""
    if name in {"__getattribute__", "__getattr__"} and len(args) == 2:
        return models.get_attribute(m, args[0], args[1], None, node)
    if name in {"__getitem__", "get", "pop", "setdefault"} and len(args) >= 2 and owner == "dict":
        return item(m, args[0], m.force(args[1]), node)
    if name == "__call__" and args:
        return invoke(m, args[0], args[1:], keywords, node)
    if name == "__subclasses__":
        return imports.subclasses()
    if name == "__setattr__" and len(args) == 3:
        models.MODELS["builtins.setattr"](m, Ref(""), args, keywords, node)
        return None
    if name in {"__init__", "__new__", "__init_subclass__"}:
        return None
    given = [m.plain(m.force(arg)) for arg in args]
    if any(one is UNKNOWN for one in given):
        if args and isinstance(args[0], (Items, Table)):
            return method(m, BoundMethod(args[0], name), args[1:], keywords, node)
        return None
    if not m.affords(weight(given)):
        return None
    return wrapped(bytes_method(owner, name, given, {}))


def _folded(
    m: Interpreter, work: Any, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if name == "builtins.dict" and keywords and not args:
        return Table({str(key): value for key, value in keywords.items()})
    if not m.exact and any(isinstance(arg, Deferred) for arg in args):
        return Deferred(lambda: _folded_now(m, work, name, args, keywords, node))
    return _folded_now(m, work, name, args, keywords, node)


def _folded_now(
    m: Interpreter, work: Any, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    settled = [m.force(arg) for arg in args]
    ways = combinations(m, settled)
    if ways is not None:
        return choose(_folded_now(m, work, name, way, keywords, node) for way in ways)
    given = [m.plain(arg) for arg in settled]
    named = {key: m.plain(m.force(value)) for key, value in keywords.items()}
    if any(one is UNKNOWN for one in given) or any(one is UNKNOWN for one in named.values()):
        return reshaped(m, name, settled, node)
    if not m.spend(1 + _length(given) // 500):
        return None
    result = fold_call(work, given, named, lazy=name in LAZY)
    if result is UNKNOWN or not m.spend(_length([result]) // 500):
        return None
    if isinstance(result, (str, bytes)):
        from llm_sandbox.security.python import strings

        strings.check_text(m, result, node)
    return None if result is UNKNOWN else wrapped(result)


def _length(given: list[Any]) -> int:
    """Return the length of arguments in characters; a member counts as many."""
    texts = sum(len(one) for one in given if isinstance(one, (str, bytes)))
    return texts + _MEMBER * sum(len(one) for one in given if isinstance(one, (list, tuple)))


def _unknown(m: Interpreter, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """Call an unknown value, which may use its arguments in any way."""
    func = getattr(node, "func", None)
    if isinstance(func, ast.Attribute):
        name = func.attr
        if name in effects.METHODS:
            effects.METHODS[name](m, args, keywords, node)
        elif name in WILD and args and name not in m.defined:
            capability = capability_of(WILD[name])
            if capability is not None:
                ref = Ref(WILD[name], (f"?.{name}",), sure=False)
                effects.report_call(m, capability, ref, args, keywords, node)
    return _handed_on(m, None, args, keywords, node)


def _handed_on(
    m: Interpreter, callee: Ref | None, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Report tracked values that an unmodelled call may return or call, and return its value."""
    given = [*args, *keywords.values()]
    if all(value is None or type(value) is Const for value in given):
        return None
    held = [one for value in given for one in tracked_parts(value)]
    functions = [
        value for value in given if isinstance(value, (Function, Partial, Getter, BoundMethod))
    ]
    if functions:
        _called_back(m, functions, args, keywords, held, node)
    if not held:
        return None
    if callee is None or not callee.name.startswith("builtins."):
        models.report_escape(m, held, node)
        _kept_by_receiver(m, held, node)
    return Tainted(tuple(held[:20]))


def _called_back(
    m: Interpreter,
    functions: list[Any],
    args: Args,
    keywords: Keywords,
    held: list[Value],
    node: Any,
) -> None:
    """Call functions that are passed to an unmodelled call, with its other arguments."""
    others = [value for value in (*args, *keywords.values()) if value not in functions]
    spread = keywords.get("args")
    given = members(m, spread) if spread is not None else None
    with m.unsure():
        for one in functions:
            if isinstance(one, Function) and not held and given is None:
                continue
            if isinstance(one, Partial):
                invoke(m, one.callee, [*one.args, *(given or [])], one.keywords, node)
            elif isinstance(one, Function):
                run_function(m, one, given or [*others[:8]], {}, node)
            elif isinstance(one, Getter) and held:
                invoke(m, one, [Tainted(tuple(held))], {}, node)
            elif isinstance(one, BoundMethod) and one.function is not None and (held or given):
                run_function(m, one.function, [one.base, *(given or others[:8])], {}, node)


def _kept_by_receiver(m: Interpreter, held: list[Value], node: Any) -> None:
    func = getattr(node, "func", None)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        scope = m.scope.find(func.value.id)
        if scope is not None:
            before = scope.values.get(func.value.id)
            kept = before.held if isinstance(before, Tainted) else ()
            scope.values[func.value.id] = Tainted((*kept, *held)[:20])


def _bound(
    m: Interpreter, bound: BoundMethod, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if bound.function is not None:
        return run_function(m, bound.function, [bound.base, *args], keywords, node)
    return method(m, bound, args, keywords, node)


def _partial(
    m: Interpreter, partial: Partial, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return invoke(m, partial.callee, [*partial.args, *args], {**partial.keywords, **keywords}, node)


def _getter(
    m: Interpreter, getter: Getter, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if not args:
        return None
    results: list[Value | None] = []
    for given in getter.names:
        name = m.force(given)
        if getter.kind == "item":
            results.append(item(m, args[0], name, node))
            continue
        value = args[0]
        text = m.plain(name)
        if not isinstance(text, str):
            results.append(models.get_attribute(m, value, name, None, node))
            continue
        for part in text.split("."):
            value = attribute(m, value, part, node)
        if getter.kind == "method":
            value = invoke(m, value, getter.args, getter.keywords, node)
        results.append(value)
    return results[0] if len(results) == 1 else Items("tuple", results)


def _instantiated(m: Interpreter, cls: Class, args: Args, keywords: Keywords, node: Any) -> Value:
    instance = Instance(cls)
    for base in cls.bases:
        if isinstance(base, Ref):
            with m.unsure():
                _ref(m, Ref(base.name, base.route, base.sure), args, keywords, node)
    for name in ("__new__", "__init__", "__post_init__"):
        made = of_class(m, cls, name, node)
        if isinstance(made, Function):
            run_function(m, made, [instance, *args], keywords, node)
    if "__init__" not in cls.fields:
        cls.fields.update({key: value for key, value in keywords.items() if value is not None})
    if tracked_parts(Items("list", args)) and "__init__" not in cls.fields:
        cls.fields.setdefault("__getattr__", None)
        return Tainted(tuple(tracked_parts(Items("list", args))[:20]))
    return instance


def _instance(
    m: Interpreter, one: Instance, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    called = of_class(m, one.cls, "__call__", node)
    if isinstance(called, Function):
        return run_function(m, called, [one, *args], keywords, node)
    return invoke(m, called, args, keywords, node) if called is not None else None


def _alternatives(
    m: Interpreter, choice: Alternatives, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    with m.unsure():
        return choose([invoke(m, one, args, keywords, node) for one in choice.of])


def _tainted(m: Interpreter, carrier: Tainted, args: Args, keywords: Keywords, node: Any) -> Value:
    for one in carrier.held[:20]:
        if isinstance(one, Ref) and one.name in WATCHED:
            # An unknown module was already reported at its lookup.
            if one.sure:
                m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, f"{one.name}.?")
        elif isinstance(one, Tainted):
            _tainted(m, one, args, keywords, node)
        elif isinstance(one, Ref) and is_tracked(one.name):
            with m.unsure():
                _ref(m, Ref(one.name, one.route, one.sure), args, keywords, node)
    return carrier


def _deferred(
    m: Interpreter, put_off: Deferred, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return invoke(m, m.force(put_off), args, keywords, node)


_KINDS: dict[type, Any] = {
    Deferred: _deferred,
    BoundMethod: _bound,
    Tainted: _tainted,
    Alternatives: _alternatives,
    Class: _instantiated,
    Getter: _getter,
    Instance: _instance,
    Partial: _partial,
}
