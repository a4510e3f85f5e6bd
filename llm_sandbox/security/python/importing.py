"""Imports by functions: by name, by loader, from `sys.modules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.folding import UNKNOWN
from llm_sandbox.security.python.items import item
from llm_sandbox.security.python.lookups import attribute, module, wild
from llm_sandbox.security.python.modules import canonical
from llm_sandbox.security.python.values import (
    Args,
    Const,
    Items,
    Keywords,
    Ref,
    Tainted,
    Value,
    choose,
    options,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = [
    "all_modules",
    "find_spec",
    "import_by_name",
    "load_module",
    "one_module",
    "resolve_name",
    "subclasses",
]


def import_by_name(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """``__import__`` and `importlib.import_module`, of each name that it may be."""
    given = args[0] if args else keywords.get("name", keywords.get("module"))
    route = (*ref.route, ref.name.removeprefix("builtins."))
    results: list[Value | None] = []
    for one in options(m.force(given)) or (None,):
        name = m.plain(one)
        if not isinstance(name, str):
            m.report_unresolved(
                Capability.DYNAMIC_UNRESOLVED, node, route[-1], "with a name not known"
            )
            results.append(wild())
            continue
        if name.startswith("."):
            package = m.plain(m.force(args[1] if len(args) > 1 else keywords.get("package")))
            name = f"{package}{name}" if isinstance(package, str) else name.lstrip(".")
        whole = module(m, name, node, route)
        lists = m.plain(args[3]) if len(args) > 3 else m.plain(keywords.get("fromlist"))
        if ref.name == "builtins.__import__" and (not lists or lists is UNKNOWN):
            whole = Ref(canonical(name.partition(".")[0]), whole.route)
        results.append(_made_here(m, name, node, route) or whole)
    return choose(results)


def _made_here(m: Interpreter, name: str, node: Any, route: tuple[str, ...]) -> Value | None:
    from llm_sandbox.security.python import nested_code

    return nested_code.import_written(m, name, node, route)


def resolve_name(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """`pkgutil.resolve_name`, `pydoc.locate`: a full name in a text."""
    name = m.plain(m.force(args[0] if args else None))
    if not isinstance(name, str):
        m.report_unresolved(Capability.DYNAMIC_UNRESOLVED, node, ref.name, "with a name not known")
        return wild()
    parts = name.replace(":", ".").split(".")
    value: Value | None = module(m, parts[0], node, (ref.name,))
    for part in parts[1:]:
        value = attribute(m, value, part, node) if part else value
    return value


def find_spec(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """`importlib.util.find_spec` and what is made of it: the module in the end."""
    return args[0] if args else keywords.get("name", keywords.get("fullname"))


def load_module(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Return the module that a loader, a specification or a name stands for."""
    given = m.force(args[0] if args else keywords.get("fullname", keywords.get("spec")))
    name = m.plain(given)
    if isinstance(name, str):
        return module(m, name, node, (ref.name,))
    return given if isinstance(given, (Ref, Tainted)) else wild()


def subclasses() -> Items:
    """Return the classes that are looked for among all classes."""
    return Items("set", [Ref(name, ("__subclasses__",), sure=False) for name in _SOUGHT])


_SOUGHT = (
    "subprocess.Popen",
    "os._wrap_close",
    "warnings.catch_warnings",
    "importlib.machinery.BuiltinImporter",
    "importlib.machinery.FileFinder",
    "codecs.IncrementalDecoder",
    "io.FileIO",
    "socket.socket",
)


def one_module(m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any) -> Value | None:
    """``sys.modules.get`` and the like."""
    return item(m, Ref("sys.modules"), m.force(args[0]), node) if args else None


def all_modules(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Follow a walk over all that was imported."""
    m.report(Capability.INTROSPECTION, node, "sys.modules")
    kept = [
        Ref(name, ("sys.modules",), sure=False)
        for name in ("os", "subprocess", "builtins", "posix")
    ]
    if ref.name.endswith("values"):
        return Items("set", list(kept))
    return Items("list", [Items("tuple", [Const(one.name), one]) for one in kept])
