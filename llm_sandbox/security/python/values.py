"""Abstract values of Python expressions, and the scopes that bind names to them.

None stands for a value that is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable

__all__ = [
    "Alternatives",
    "Args",
    "BoundMethod",
    "Class",
    "Code",
    "Const",
    "Deferred",
    "Function",
    "Getter",
    "Instance",
    "Items",
    "Keywords",
    "Namespace",
    "OpenFile",
    "Partial",
    "PathValue",
    "Ref",
    "Scope",
    "Table",
    "Tainted",
    "Value",
    "choose",
    "join",
    "options",
]

_MOST_OPTIONS = 12
_MOST_HELD = 40


class Value:
    """Abstract value."""

    __slots__ = ()


class Const(Value):
    """Constant: number, text, bytes, True, None, a range, a slice.

    Args:
        value: The constant.
    """

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Ref(Value):
    """Reference to an object of a module by full name; ``()`` in it stands for a call's result.

    Args:
        name: Full name such as ``os.system`` or ``pathlib.Path().unlink``.
        route: Indirections by which the object was reached.
        sure: Whether the name is certain.
    """

    __slots__ = ("name", "route", "sure", "used")

    def __init__(self, name: str, route: tuple[str, ...] = (), sure: bool = True) -> None:
        self.name = name
        self.route = route
        self.sure = sure
        self.used = False


@dataclass(slots=True, eq=False)
class Items(Value):
    """List, tuple or set with known members."""

    kind: Literal["list", "tuple", "set"]
    items: list[Value | None]


@dataclass(slots=True, eq=False)
class Table(Value):
    """Dictionary with constant keys."""

    entries: dict[object, Value | None]


@dataclass(slots=True, eq=False)
class Function(Value):
    """Function or lambda that the program defines."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    defaults: list[Value | None]
    keyword_defaults: list[Value | None]
    context: Any
    owner: Class | None = None
    fields: dict[str, Value | None] = field(default_factory=dict)
    result: Value | None = None
    seen_at: int = -1
    runs: int = 0
    running: int = 0
    called: bool = False
    depends_on_arguments: bool = False
    unresolved: list[Callable[[], None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Class(Value):
    """Class that the program defines."""

    name: str
    scope: Scope
    bases: list[Value | None]
    node: ast.ClassDef | None = None
    fields: dict[str, Value | None] = field(default_factory=dict)
    ready: bool = False


@dataclass(slots=True, eq=False)
class Instance(Value):
    """Object of a class that the program defines."""

    cls: Class


class BoundMethod(Value):
    """Method of a value: ``"".join``, or a function together with its first argument.

    Args:
        base: The value that the method belongs to.
        name: Name of the method.
        function: The method, when the program defines it.
    """

    __slots__ = ("base", "function", "name")

    def __init__(self, base: Value, name: str, function: Function | None = None) -> None:
        self.base = base
        self.name = name
        self.function = function


@dataclass(slots=True, eq=False)
class Partial(Value):
    """Callable with some arguments given."""

    callee: Value | None
    args: list[Value | None]
    keywords: dict[str, Value | None]


@dataclass(slots=True, eq=False)
class Getter(Value):
    """Result of `operator.attrgetter`, ``itemgetter`` or ``methodcaller``."""

    kind: Literal["attribute", "item", "method"]
    names: list[Value | None]
    args: list[Value | None] = field(default_factory=list)
    keywords: dict[str, Value | None] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Namespace(Value):
    """Namespace as a dictionary: ``vars(x)``, ``globals()``."""

    of: Value | None = None
    scope: Scope | None = None


class Tainted(Value):
    """Value that holds tracked references in an unknown way.

    Args:
        held: Tracked references; those of other tainted values are included. The first 40 count,
            without duplicates: a value that holds another twice would double the work.
    """

    __slots__ = ("held",)
    held: tuple[Value, ...]

    def __init__(self, held: tuple[Value, ...]) -> None:
        kept: dict[str | int, Value] = {}
        for one in held:
            for part in one.held if isinstance(one, Tainted) else (one,):
                kept.setdefault(part.name if isinstance(part, Ref) else id(part), part)
        self.held: tuple[Value, ...] = tuple(kept.values())[:_MOST_HELD]


@dataclass(slots=True, eq=False)
class Alternatives(Value):
    """One of several possible values."""

    of: tuple[Value, ...]


@dataclass(slots=True, eq=False)
class Code(Value):
    """Compiled text."""

    text: Value | None


@dataclass(slots=True, eq=False)
class PathValue(Value):
    """Path of `pathlib`."""

    path: str | None


@dataclass(slots=True, eq=False)
class OpenFile(Value):
    """Open file."""

    path: str | None
    writes: bool


@dataclass(slots=True, eq=False)
class Deferred(Value):
    """Value that is evaluated only when something depends on it."""

    work: Callable[[], Value | None]
    running: bool = False


Args = list[Value | None]
"""Positional arguments of a call."""
Keywords = dict[str, Value | None]
"""Keyword arguments of a call."""


def join(one: Value | None, other: Value | None) -> Value | None:
    """Return the union of two values; an unknown one is left out."""
    if one is None or one is other:
        return other
    if other is None:
        return one
    return choose([*options(one), *options(other)])


def options(value: Value | None) -> tuple[Value, ...]:
    """Return the alternatives of a value."""
    if value is None:
        return ()
    return value.of if isinstance(value, Alternatives) else (value,)


def choose(values: Iterable[Value | None]) -> Value | None:
    """Return the union of values, without duplicates."""
    kept: list[Value] = []
    seen: set[object] = set()
    for value in values:
        for one in options(value):
            key = _key(one)
            if key not in seen:
                seen.add(key)
                kept.append(one)
    if len(kept) <= 1:
        return kept[0] if kept else None
    return Alternatives(tuple(kept[:_MOST_OPTIONS]))


def _key(value: Value) -> object:
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Const):
        try:
            hash(value.value)
        except TypeError:
            return id(value)
        return (type(value.value), value.value)
    return id(value)


class Scope:
    """Names of a module, class, function or comprehension.

    Args:
        kind: Kind of scope.
        parent: Enclosing scope, in which missing names are looked up.
        owner: The class whose body or method it is.
    """

    __slots__ = ("blocks", "elsewhere", "kind", "owner", "parent", "values")

    def __init__(
        self,
        kind: Literal["module", "class", "function", "comprehension"],
        parent: Scope | None = None,
        owner: Class | None = None,
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.owner = owner
        self.values: dict[str, Value | None] = {}
        self.blocks: dict[str, int] = {}
        self.elsewhere: dict[str, Scope] = {}

    @property
    def module(self) -> Scope:
        """Outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, value: Value | None, block: int) -> None:
        """Bind a name.

        A branch adds to the earlier values of a name; only the branch that bound it, or an
        enclosing one, replaces them. Branches are numbered as they open, so that one opened within
        another has the greater number.
        """
        if self.elsewhere and name in self.elsewhere:
            other = self.elsewhere[name]
            if other is not self:
                other.bind(name, join(other.values.get(name), value), block)
                return
        if block:
            if name in self.values and self.blocks.get(name, 0) < block:
                value = join(self.values[name], value)
            self.blocks[name] = block
        elif self.blocks:
            self.blocks.pop(name, None)
        self.values[name] = value

    def find(self, name: str) -> Scope | None:
        """Return the scope that binds a name as seen from here; None when none does."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.values and (first or scope.kind != "class"):
                return scope
            first = False
            scope = scope.parent
        return None
