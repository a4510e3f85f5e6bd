"""Evaluation of expressions to abstract values, comprehensions included."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python import strings
from llm_sandbox.security.python.binding import bind, members
from llm_sandbox.security.python.calls import call
from llm_sandbox.security.python.folding import (
    LONGEST,
    UNKNOWN,
    are_short,
    attempt,
    fold_call,
    fold_operator,
    size_after,
    wrapped,
)
from llm_sandbox.security.python.lookups import attribute, item
from llm_sandbox.security.python.pure import FUNCTIONS
from llm_sandbox.security.python.sinks import CALLS
from llm_sandbox.security.python.values import (
    Alternatives,
    Const,
    Deferred,
    Function,
    Items,
    PathValue,
    Ref,
    Scope,
    Table,
    Tainted,
    Value,
    choose,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["EXPRESSIONS", "binary", "comprehension", "dict_comprehension"]


def comprehension(
    m: Interpreter, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
) -> Value | None:
    """Return the value of a list, set or generator comprehension."""
    return _comprehended(m, node, lambda: m.value(node.elt))


def dict_comprehension(m: Interpreter, node: ast.DictComp) -> Value | None:
    """Return the value of a dictionary comprehension."""
    return _comprehended(m, node, lambda: Items("tuple", [m.value(node.key), m.value(node.value)]))


def _comprehended(m: Interpreter, node: Any, element: Callable[[], Value | None]) -> Value | None:
    generators: list[ast.comprehension] = node.generators
    first = m.value(generators[0].iter)
    outer = m.scope

    def work() -> Value | None:
        found: list[Value | None] = []
        with m.within(Scope("comprehension", outer)):
            if not _iterate(m, generators, first, element, found):
                return None
        return _gathered(m, node, found)

    if m.exact:
        return work()
    with m.within(Scope("comprehension", outer)):
        loose: list[Value | None] = []
        _iterate(m, generators, first, element, loose, every=False)
    known = _gathered(m, node, loose)
    kept = [one for one in loose for one in options(one) if not isinstance(one, Const)]
    if any(isinstance(one, (Ref, Function, Tainted, Items)) for one in kept):
        exact = (
            m.force(Deferred(work)) if isinstance(first, Items) and len(first.items) < 200 else None
        )
        return known if exact is None else exact
    return Deferred(work) if first is not None else None


def _iterate(
    m: Interpreter,
    generators: list[ast.comprehension],
    given: Value | None,
    element: Callable[[], Value | None],
    found: list[Value | None],
    every: bool = True,
) -> bool:
    """Iterate over one `for` of a comprehension; False when its members are not known."""
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
            if not _iterate(m, rest, m.value(rest[0].iter), element, found, every) and every:
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


_BUILTINS = {name: Ref(f"builtins.{name}") for name in dir(builtins)}
_BUILTINS.update(
    {
        name: Ref(f"builtins.{name}")
        for name in ("execfile", "unichr", "raw_input", "reload", "xrange", "unicode", "file")
    }
)
_BUILTINS["get_ipython"] = Ref("IPython.get_ipython")
_BUILTINS["__builtins__"] = Ref("builtins")
_BUILTINS["__loader__"] = Ref("importlib.__loader__")
_BUILTINS["__spec__"] = Ref("importlib.__spec__")
_BUILTINS["display"] = Ref("IPython.display.display")
_FRESH = frozenset(name for name in _BUILTINS if f"builtins.{name}" in CALLS)
_NAMES: dict[str, Value] = {"__name__": Const("__main__"), "__doc__": Const(None)}
_MOST_PAIRS = 64
_MOST_ITEMS = 50_000
_MEMBER = 10
_NUMBERS = (int, float)


def _name(m: Interpreter, node: ast.Name) -> Value | None:
    name = node.id
    scope: Scope | None = m.scope
    while scope is not None:
        if name in scope.values and (scope is m.scope or scope.kind != "class"):
            return scope.values[name]
        scope = scope.parent
    found = _BUILTINS.get(name)
    if found is None:
        return _NAMES.get(name)
    if name in _FRESH:
        found = Ref(found.name)
        m.note_lookup(found, node)
    return found


def _attribute(m: Interpreter, node: ast.Attribute) -> Value | None:
    return attribute(m, m.value(node.value), node.attr, node)


def _constant(m: Interpreter, node: ast.Constant) -> Value:
    found = node.value
    if type(found) is str or type(found) is bytes:
        strings.check_text(m, found, node)
    return Const(found)


def _joined(m: Interpreter, node: ast.JoinedStr) -> Value | None:
    parts = [m.value(part) for part in node.values]
    if any(isinstance(part, Deferred) for part in parts):
        return Deferred(lambda: _text_of(m, [m.force(part) for part in parts], node))
    return _text_of(m, parts, node)


def _text_of(m: Interpreter, parts: list[Value | None], node: ast.AST) -> Value | None:
    texts = [m.plain(part) for part in parts]
    if any(text is UNKNOWN for text in texts):
        return None
    # All are texts already, or constants of the program.
    if sum(len(text) for text in texts if isinstance(text, str)) > LONGEST:
        return None
    text = "".join(map(str, texts))
    if not m.affords(len(text)):
        return None
    strings.check_text(m, text, node)
    return Const(text)


def _formatted(m: Interpreter, node: ast.FormattedValue) -> Value | None:
    value = m.value(node.value)
    spec = m.value(node.format_spec) if node.format_spec else Const("")
    if isinstance(value, Deferred):
        return Deferred(lambda: _format(m, m.force(value), node.conversion, spec))
    return _format(m, value, node.conversion, spec)


def _format(
    m: Interpreter, value: Value | None, conversion: int, spec: Value | None
) -> Value | None:
    found, how = m.plain(value), m.plain(spec)
    if isinstance(value, PathValue) and value.path is not None:
        found = value.path
    if found is UNKNOWN or not isinstance(how, str):
        return None
    if conversion == ord("r"):
        found = fold_call(FUNCTIONS["builtins.repr"], [found], {}, lazy=True)
    text = fold_call(FUNCTIONS["builtins.format"], [found, how], {}, lazy=True)
    return None if text is UNKNOWN or not m.affords(len(text)) else Const(text)


def _binary(m: Interpreter, node: ast.BinOp) -> Value | None:
    # The left side of a long sum is as deep as the sum is long.
    rest: list[ast.BinOp] = []
    left_node: ast.expr = node
    while isinstance(left_node, ast.BinOp):
        rest.append(left_node)
        left_node = left_node.left
    left = m.value(left_node)
    for one in reversed(rest):
        left = binary(m, type(one.op), left, m.value(one.right), one)
    return left


def binary(
    m: Interpreter, kind: type[ast.operator], left: Value | None, right: Value | None, node: ast.AST
) -> Value | None:
    """Return the value of a binary operator on two values."""
    if left is None or right is None:
        if isinstance(left, (PathValue, Const)) or isinstance(right, Const):
            return _partly(kind, left, right)
        return None
    if isinstance(left, Deferred) or isinstance(right, Deferred):
        return Deferred(lambda: binary(m, kind, m.force(left), m.force(right), node))
    if isinstance(left, Const) and isinstance(right, Const):
        return _operated(m, kind, left.value, right.value, node)
    if isinstance(left, Alternatives) or isinstance(right, Alternatives):
        pairs = [(one, other) for one in options(left) for other in options(right)]
        return choose(binary(m, kind, one, other, node) for one, other in pairs[:_MOST_PAIRS])
    if isinstance(left, PathValue) and kind is ast.Div:
        return _below(m, left, m.plain(right), node)
    if isinstance(right, PathValue) and kind is ast.Div and isinstance(m.plain(left), str):
        return _below(m, PathValue(m.plain(left)), right.path, node)
    if (type(left), kind) in _JOINS and type(left) is type(right):
        return _merged(m, left, right)
    if isinstance(left, Items) and kind is ast.Mult and isinstance(m.plain(right), int):
        return Items(left.kind, list(left.items)) if left.items else left
    one, other = m.plain(left), m.plain(right)
    if one is UNKNOWN or other is UNKNOWN:
        return _carried(left, right)
    return _operated(m, kind, one, other, node)


_JOINS = {(Items, ast.Add), (Table, ast.BitOr)}


def _merged(m: Interpreter, left: Value, right: Value) -> Value | None:
    """Concatenate two lists, or merge two dictionaries."""
    if isinstance(left, Items) and isinstance(right, Items):
        if not m.affords(len(left.items) + len(right.items)):
            return None
        return Items(left.kind, [*left.items, *right.items][:_MOST_ITEMS])
    assert isinstance(left, Table)  # noqa: S101 - as `_JOINS` says
    assert isinstance(right, Table)  # noqa: S101
    if not m.affords(_MEMBER * (len(left.entries) + len(right.entries))):
        return None
    return Table({**left.entries, **right.entries})


def _operated(
    m: Interpreter, kind: type[ast.operator], one: Any, other: Any, node: ast.AST
) -> Value | None:
    size = size_after(kind, one, other)
    found = fold_operator(kind, one, other) if size is not None and m.affords(size) else UNKNOWN
    if found is UNKNOWN:
        strings.check_size(m, kind, one, other, node)
        return None
    if isinstance(found, (str, bytes)):
        strings.check_text(m, found, node)
        return Const(found)
    return wrapped(found)


def _partly(kind: type[ast.operator], left: Value | None, right: Value | None) -> Value | None:
    if kind is ast.Div and isinstance(left, PathValue):
        return PathValue(None)
    return None


def _below(m: Interpreter, base: PathValue, name: object, node: ast.AST) -> PathValue:
    if base.path is None or not isinstance(name, str):
        return PathValue(None)
    if name.startswith("/"):
        return PathValue(name)
    path = f"{base.path.rstrip('/')}/{name}"
    strings.check_text(m, path, node)
    return PathValue(path)


def _carried(left: Value, right: Value) -> Value | None:
    held = [one for one in (*options(left), *options(right)) if isinstance(one, Tainted)]
    return held[0] if held else None


def _unary(m: Interpreter, node: ast.UnaryOp) -> Value | None:
    found = m.value(node.operand)
    if m.exact:
        found = m.force(found)
    if not isinstance(found, Const):
        return None
    try:
        match node.op:
            case ast.USub():
                return wrapped(-found.value)  # type: ignore[operator]
            case ast.Invert():
                return wrapped(~found.value)  # type: ignore[operator]
            case ast.UAdd():
                return wrapped(+found.value)  # type: ignore[operator]
            case _:
                return Const(not found.value)
    except TypeError:
        return None


def _either(m: Interpreter, node: ast.BoolOp) -> Value | None:
    values = [m.value(part) for part in node.values]
    if m.exact and all(isinstance(value, Const) for value in values):
        constants = [value.value for value in values if isinstance(value, Const)]
        wanted = isinstance(node.op, ast.Or)
        return Const(next((c for c in constants if bool(c) is wanted), constants[-1]))
    return choose(values)


def _conditional(m: Interpreter, node: ast.IfExp) -> Value | None:
    test = m.force(m.value(node.test)) if m.exact else m.value(node.test)
    if m.exact and isinstance(test, Const):
        return m.value(node.body if test.value else node.orelse)
    return choose((m.value(node.body), m.value(node.orelse)))


def _compare(m: Interpreter, node: ast.Compare) -> Value | None:
    looked = len(m.lookups)
    left = m.value(node.left)
    result: Value | None = None
    for operation, right_node in zip(node.ops, node.comparators, strict=True):
        right = m.value(right_node)
        if m.exact:
            result = _compared(m, type(operation), m.force(left), m.force(right))
            if not (isinstance(result, Const) and result.value):
                break
        left = right
    # A comparison does not pass its operands on.
    del m.lookups[looked:]
    return result


_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b or a == b,
    ast.IsNot: lambda a, b: a != b,
}


def _compared(
    m: Interpreter, kind: type[ast.cmpop], left: Value | None, right: Value | None
) -> Value | None:
    one, other = m.plain(left), m.plain(right)
    if one is UNKNOWN or other is UNKNOWN:
        return None
    if kind in {ast.In, ast.NotIn}:
        if isinstance(other, range) and type(one) is not int:
            # What is no whole number is compared to each member.
            return None
        if isinstance(other, (str, bytes)) and not are_short(other, one):
            return None
    found = attempt(_COMPARISONS[kind], (one, other), {})
    return None if found is UNKNOWN else Const(bool(found))


def _items(m: Interpreter, node: ast.List | ast.Tuple | ast.Set) -> Value:
    kind = (
        "list" if isinstance(node, ast.List) else "tuple" if isinstance(node, ast.Tuple) else "set"
    )
    found: list[Value | None] = []
    for part in node.elts:
        if type(part) is ast.Constant and type(part.value) in _NUMBERS:
            found.append(Const(part.value))
        elif isinstance(part, ast.Starred):
            spread = members(m, m.value(part.value)) or [None]
            fits = len(found) + len(spread) <= _MOST_ITEMS and m.affords(_MEMBER * len(spread))
            found.extend(spread if fits else [None])
        else:
            found.append(m.value(part))
    return Items(kind, found)  # type: ignore[arg-type]


def _table(m: Interpreter, node: ast.Dict) -> Value:
    entries: dict[object, Value | None] = {}
    for key, part in zip(node.keys, node.values, strict=True):
        value = m.value(part)
        if key is None:
            if isinstance(value, Table):
                if m.affords(_MEMBER * len(value.entries)):
                    entries.update(value.entries)
            elif value is not None:
                entries[("**", id(part))] = value
            continue
        name = m.plain(m.value(key))
        try:
            hash(name)
        except TypeError:
            name = UNKNOWN
        entries[name if name is not UNKNOWN else ("?", id(part))] = value
    return Table(entries)


def _subscript(m: Interpreter, node: ast.Subscript) -> Value | None:
    base = m.value(node.value)
    key = m.value(node.slice)
    return item(m, base, key, node)


def _slice(m: Interpreter, node: ast.Slice) -> Value | None:
    bounds = [
        m.plain(m.force(m.value(part))) if part is not None else None
        for part in (node.lower, node.upper, node.step)
    ]
    return None if any(bound is UNKNOWN for bound in bounds) else Const(slice(*bounds))


def _lambda(m: Interpreter, node: ast.Lambda) -> Value:
    found = Function(
        node,
        m.scope,
        [m.value(default) for default in node.args.defaults],
        [m.value(d) if d is not None else None for d in node.args.kw_defaults],
        m.context(),
        m.scope.owner if m.scope.kind == "class" else None,
    )
    m.functions.append(found)
    return found


def _walrus(m: Interpreter, node: ast.NamedExpr) -> Value | None:
    value = m.value(node.value)
    scope = m.scope
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    scope.bind(node.target.id, value, m.block)
    return value


def _passed(m: Interpreter, node: Any) -> Value | None:
    return m.value(node.value)


def _yield(m: Interpreter, node: ast.Yield) -> Value | None:
    if node.value is not None:
        m.returned.append(Items("list", [m.value(node.value)]))
    return None


def _yield_from(m: Interpreter, node: ast.YieldFrom) -> Value | None:
    m.returned.append(m.value(node.value))
    return None


def _call(m: Interpreter, node: ast.Call) -> Value | None:
    return call(m, node)


EXPRESSIONS: dict[type[ast.AST], Callable[[Any, Any], Value | None]] = {
    ast.Attribute: _attribute,
    ast.Await: _passed,
    ast.BinOp: _binary,
    ast.BoolOp: _either,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.Dict: _table,
    ast.DictComp: dict_comprehension,
    ast.FormattedValue: _formatted,
    ast.GeneratorExp: comprehension,
    ast.IfExp: _conditional,
    ast.JoinedStr: _joined,
    ast.Lambda: _lambda,
    ast.List: _items,
    ast.ListComp: comprehension,
    ast.Name: _name,
    ast.NamedExpr: _walrus,
    ast.Set: _items,
    ast.SetComp: comprehension,
    ast.Slice: _slice,
    ast.Starred: _passed,
    ast.Subscript: _subscript,
    ast.Tuple: _items,
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}
"""Kind of node to the function that evaluates it."""
