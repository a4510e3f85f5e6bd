"""Methods of known values: text, lists, dictionaries, namespaces, paths and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.security.python import effects, strings
from llm_sandbox.security.python.binding import combinations, members, set_item, tracked_parts
from llm_sandbox.security.python.folding import (
    LONGEST,
    UNKNOWN,
    attempt,
    fold_method,
    text_of,
    weight,
    wrapped,
)
from llm_sandbox.security.python.full_names import canonical, names
from llm_sandbox.security.python.lookups import attribute, item, of_namespace
from llm_sandbox.security.python.sinks import CALLS, WATCHED
from llm_sandbox.security.python.values import (
    Alternatives,
    Args,
    BoundMethod,
    Const,
    Deferred,
    Items,
    Keywords,
    Namespace,
    OpenFile,
    PathValue,
    Ref,
    Table,
    Tainted,
    Value,
    choose,
    join,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["contents", "method"]

_MEMBER = 10
_MOST_ITEMS = 20_000
_TEXT_METHODS = frozenset(
    names(
        """
        join replace format lower upper strip lstrip rstrip split rsplit encode decode hex title
        swapcase translate removeprefix removesuffix partition zfill to_bytes capitalize
        """
    )
)


def method(
    m: Interpreter, bound: BoundMethod, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Call a method: change the value that it belongs to, and return the result."""
    base, name = bound.base, bound.name
    if isinstance(base, Deferred) and not (m.exact or name not in _TEXT_METHODS):
        return Deferred(
            lambda: method(m, BoundMethod(m.force(base) or Const(None), name), args, keywords, node)
        )
    if isinstance(base, Deferred):
        settled = m.force(base)
        if settled is None:
            return None
        from llm_sandbox.security.python.calls import invoke

        return invoke(m, attribute(m, settled, name, node), args, keywords, node)
    if name == "__subclasses__":
        from llm_sandbox.security.python.imports import subclasses

        return subclasses()
    if name in {"__getattribute__", "__getattr__"} and args:
        from llm_sandbox.security.python.models import get_attribute

        owner = args[0] if len(args) > 1 else base
        return get_attribute(m, owner, args[-1], None, node)
    work = _METHODS.get(type(base))
    return None if work is None else work(m, base, name, args, keywords, node)


def _of_text(
    m: Interpreter, base: Const, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if not m.exact and any(isinstance(arg, Deferred) for arg in args):
        return Deferred(lambda: _of_text(m, base, name, [m.force(a) for a in args], keywords, node))
    if name in {"read", "getvalue", "readline", "getbuffer", "tobytes"} and not args:
        # A text that is read as a file.
        return base
    settled = [m.force(arg) for arg in args]
    ways = combinations(m, settled)
    if ways is not None:
        return choose(_of_text(m, base, name, way, keywords, node) for way in ways)
    given = [m.plain(arg) for arg in settled]
    named = {key: m.plain(m.force(value)) for key, value in keywords.items()}
    if any(one is UNKNOWN for one in given) or any(one is UNKNOWN for one in named.values()):
        return None
    size = sum(len(one) for one in (base.value, *given) if isinstance(one, (str, bytes, list)))
    if not m.spend(size // 500):
        return None
    result = fold_method(base.value, name, given, named)
    if result is UNKNOWN or not m.affords(weight(result, lazy=True)):
        return None
    if isinstance(result, (str, bytes)):
        strings.check_text(m, result, node)
    return None if result is UNKNOWN else wrapped(result)


def _of_items(
    m: Interpreter, base: Items, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    given = args[0] if args else None
    if name in _CHANGES:
        _change(m, base, name, args)
        return None
    if name in {"pop", "popleft"}:
        at = m.plain(given) if args else 0 if name == "popleft" else -1
        if isinstance(at, int) and -len(base.items) <= at < len(base.items):
            return base.items.pop(at) if m.exact or not m.block else base.items[at]
        return None
    if name == "__getitem__":
        return item(m, base, given, node)
    if name in {"copy", "__iter__"}:
        if not m.affords(len(base.items)):
            return None
        return Items(base.kind, list(base.items))
    if name == "__next__":
        return base.items[0] if base.items else None
    found = m.plain(base)
    known = [m.plain(m.force(arg)) for arg in args]
    if found is UNKNOWN or any(one is UNKNOWN for one in known):
        return None
    result = fold_method(found, name, known, {})
    return None if result is UNKNOWN else wrapped(result)


_CHANGES = frozenset(
    names("append add appendleft extend update __iadd__ insert reverse sort remove discard clear")
)


def _change(m: Interpreter, base: Items, name: str, args: Args) -> None:
    if len(base.items) >= _MOST_ITEMS:
        return
    given = args[0] if args else None
    if name in {"append", "add", "appendleft"}:
        base.items.append(given)
    elif name in {"extend", "update", "__iadd__"}:
        base.items.extend((members(m, m.force(given)) or [None])[:_MOST_ITEMS])
    elif name == "insert" and len(args) == 2:
        at = m.plain(given)
        base.items.insert(at if isinstance(at, int) else len(base.items), args[1])
    elif name == "reverse":
        base.items.reverse()
    elif name == "sort":
        ordered = wrapped(_sorted(m.plain(base)))
        if isinstance(ordered, Items):
            base.items[:] = ordered.items


def _sorted(found: Any) -> list[Any] | None:
    if found is UNKNOWN:
        return None
    ordered = attempt(sorted, (found,), {})
    return ordered if isinstance(ordered, list) else None


def _of_table(
    m: Interpreter, base: Table, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if name in {"get", "__getitem__", "pop", "setdefault"} and args:
        key = m.plain(m.force(args[0]))
        default = args[1] if len(args) > 1 else None
        if name == "setdefault" and key is not UNKNOWN:
            set_item(m, base, args[0], default, node)
        return (
            join(item(m, base, m.force(args[0]), node), default if key is UNKNOWN else None)
            or default
        )
    if name in {"values", "keys", "__iter__", "items", "update", "copy"} and not m.affords(
        _MEMBER * sum(len(one.entries) for one in (base, *args) if isinstance(one, Table))
    ):
        return None
    if name == "values":
        return Items("list", list(base.entries.values()))
    if name in {"keys", "__iter__"}:
        return Items("list", [wrapped(key) for key in base.entries])
    if name == "items":
        return Items("list", [Items("tuple", [wrapped(k), v]) for k, v in base.entries.items()])
    if name == "update":
        for given in args:
            if isinstance(given, Table):
                base.entries.update(given.entries)
        base.entries.update(keywords)
    elif name == "popitem" and base.entries:
        key, value = list(base.entries.items())[-1]
        return Items("tuple", [wrapped(key), value])
    elif name == "copy":
        return Table(dict(base.entries))
    return None


def contents(module: Value | None, what: str) -> Items | None:
    """Return names, values or both of a watched module; None for other values."""
    if not isinstance(module, Ref) or not (module.name in WATCHED or module.name == "io"):
        return None
    prefix = f"{module.name}."
    short = ["open"] if module.name == "io" else []
    short += [name[len(prefix) :] for name in CALLS if name.startswith(prefix)]
    found: list[Value | None] = []
    for name in short:
        if "." in name or "(" in name:
            continue
        ref = Ref(canonical(f"{prefix}{name}"), sure=False)
        pair: list[Value | None] = [Const(name), ref]
        found.append({"keys": pair[0], "values": ref}.get(what, Items("tuple", pair)))
    return Items("list", found)


def _of_namespace(
    m: Interpreter, base: Namespace, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    if name in {"get", "__getitem__", "pop", "setdefault"} and args:
        key = m.force(args[0])
        keys = key.of if isinstance(key, Alternatives) else (key,)
        found = [of_namespace(m, base, m.plain(one), node) for one in keys]
        if name == "setdefault" and len(args) > 1:
            set_item(m, base, key, args[1], node)
        return choose([*found, *args[1:2]])
    if name in {"update", "__setitem__"}:
        _update_namespace(m, base, name, args, keywords, node)
        return None
    if name == "copy":
        return base
    if name in {"values", "items", "keys"}:
        content = contents(base.of, name)
        if content is not None:
            return content
        if base.of is not None and tracked_parts(base.of):
            return Tainted((base.of,))
        if base.scope is not None:
            return Tainted(
                tuple(
                    one for v in list(base.scope.values.values())[:200] for one in tracked_parts(v)
                )[:20]
            )
    return None


def _update_namespace(
    m: Interpreter, base: Namespace, name: str, args: Args, keywords: Keywords, node: Any
) -> None:
    if name == "__setitem__" and len(args) == 2:
        set_item(m, base, args[0], args[1], node)
        return
    for given in args:
        if isinstance(given, Table):
            for entry, value in given.entries.items():
                set_item(m, base, wrapped(entry), value, node)
    for entry, value in keywords.items():
        set_item(m, base, Const(entry), value, node)


def _of_path(
    m: Interpreter, base: PathValue, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    effects.report_path_method(m, base, name, args, keywords, node)
    if name in {"joinpath", "with_name", "with_suffix", "relative_to", "rename", "replace"}:
        first = text_of(m.force(args[0])) if args else None
        if name == "joinpath" and base.path is not None and first is not None:
            return PathValue(first if first.startswith("/") else f"{base.path}/{first}")
        return PathValue(None)
    if name in {"expanduser", "resolve", "absolute"}:
        return base
    if name in {"as_posix", "__str__", "__fspath__"}:
        return Const(base.path) if base.path is not None else None
    if name == "open":
        return effects.open_file(m, base.path, args[0] if args else keywords.get("mode"))
    if name in {"read_text", "read_bytes"} and base.path is not None:
        return wrapped(m.files.get(base.path.removeprefix("./")))
    if name in {"glob", "rglob", "iterdir", "walk"}:
        return Items("list", [PathValue(None)])
    return None


def _of_file(
    m: Interpreter, base: OpenFile, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    key = base.path.removeprefix("./") if base.path is not None else None
    if name == "__enter__":
        return base
    if name in {"read", "readlines"}:
        return wrapped(m.files.get(key)) if key is not None else None
    if name in {"write", "writelines"} and key is not None and base.writes:
        text = text_of(m.force(args[0])) if args else None
        before = m.files.get(key, "")
        fits = text is not None and before is not None and len(before) + len(text) <= LONGEST
        m.files[key] = before + text if fits and before is not None and text is not None else None
    return None


def _of_tainted(
    m: Interpreter, base: Tainted, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return base


def _of_alternatives(
    m: Interpreter, base: Alternatives, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return choose(method(m, BoundMethod(one, name), args, keywords, node) for one in base.of)


def _of_ref(
    m: Interpreter, base: Ref, name: str, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    return None


_METHODS: dict[type, Any] = {
    Tainted: _of_tainted,
    Alternatives: _of_alternatives,
    Const: _of_text,
    Items: _of_items,
    PathValue: _of_path,
    Ref: _of_ref,
    Namespace: _of_namespace,
    Table: _of_table,
    OpenFile: _of_file,
}
