"""Import statements, and imports by functions: by name, by loader, from `sys.modules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import full_names, nested_code
from llm_sandbox.security.python.folding import UNKNOWN
from llm_sandbox.security.python.full_names import canonical
from llm_sandbox.security.python.lookups import attribute, found, item, module, wild
from llm_sandbox.security.python.sinks import CALLS, WATCHED, is_tracked
from llm_sandbox.security.python.values import (
    Args,
    Const,
    Instance,
    Items,
    Keywords,
    Ref,
    Tainted,
    Value,
    choose,
    options,
)

if TYPE_CHECKING:
    import ast

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = [
    "all_modules",
    "find_spec",
    "import_",
    "import_by_name",
    "import_from",
    "load_module",
    "one_module",
    "resolve_name",
    "subclasses",
]


def import_(m: Interpreter, node: ast.Import) -> int:
    """Interpret ``import``."""
    for alias in node.names:
        name = alias.name
        m.report_module(name, alias)
        made = nested_code.import_written(m, name, alias, (f"import {name}",)) if m.files else None
        made = made or m.fields.get(f"sys.modules[{name}]")
        if alias.asname:
            value: Value = made or Ref(canonical(name))
            m.scope.bind(alias.asname, value, m.block)
        else:
            root = name.partition(".")[0]
            m.scope.bind(root, made or Ref(canonical(root)), m.block)
        m.changes += 1
        if name == "antigravity":
            m.report(Capability.PROCESS_RUN, alias, name)
    return 0


def import_from(m: Interpreter, node: ast.ImportFrom) -> int:
    """Interpret ``from .. import``."""
    if node.level or not node.module:
        for alias in node.names:
            m.scope.bind(alias.asname or alias.name, None, m.block)
        return 0
    source = node.module
    made = nested_code.import_written(m, source, node, (f"import {source}",)) if m.files else None
    module = canonical(source)
    m.changes += 1
    for alias in node.names:
        name = alias.name
        if name == "*":
            m.report_module(source, node)
            _star(m, module, made)
            continue
        full = f"{source}.{name}"
        m.report_module(full if full_names.is_module(full) is not False else source, node)
        value: Value | None
        if isinstance(made, Instance):
            value = made.cls.fields.get(name)
        else:
            target = full_names.target(module, name)
            if target is not None:
                if target in WATCHED:
                    m.report_module(target, node, (full,))
                value = Ref(target, (full,))
            elif f"sys.modules[{module}]" in m.fields:
                value = attribute(m, m.fields[f"sys.modules[{module}]"], name, alias)
            elif (
                name in WATCHED
                and name != module
                and not is_tracked(canonical(full))
                and module != "importlib"
            ):
                m.report_module(name, node, (full,), sure=False)
                value = Ref(name, (full,), sure=False)
            else:
                value = _imported_member(m, canonical(full), alias)
        m.scope.bind(alias.asname or name, value, m.block)
    return 0


def _imported_member(m: Interpreter, full: str, alias: ast.alias) -> Value:
    if full in CALLS:
        # An import alone is no finding; a use under the new name is.
        return Ref(full)
    return found(m, full, alias)


def _star(m: Interpreter, module: str, made: Value | None) -> None:
    if isinstance(made, Instance):
        m.scope.values.update(made.cls.fields)
        return
    prefix = module + "."
    for full in (*CALLS, "os.environ", "os.path", "os.getenv", "importlib.import_module"):
        if full.startswith(prefix):
            name = full[len(prefix) :]
            if "." not in name and "(" not in name and not name.startswith("_"):
                m.scope.bind(name, Ref(full), m.block)


def import_by_name(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Model ``__import__`` and `importlib.import_module`, for each possible name."""
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
    """Model `pkgutil.resolve_name` and `pydoc.locate`, which resolve a full name."""
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
    """Model `importlib.util.find_spec` by the module that the specification leads to."""
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
    """Return the classes that attacks search for among all subclasses."""
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
    """Model ``sys.modules.get`` and similar methods."""
    return item(m, Ref("sys.modules"), m.force(args[0]), node) if args else None


def all_modules(
    m: Interpreter, ref: Ref, args: Args, keywords: Keywords, node: Any
) -> Value | None:
    """Model iteration over all imported modules."""
    m.report(Capability.INTROSPECTION, node, "sys.modules")
    kept = [
        Ref(name, ("sys.modules",), sure=False)
        for name in ("os", "subprocess", "builtins", "posix")
    ]
    if ref.name.endswith("values"):
        return Items("set", list(kept))
    return Items("list", [Items("tuple", [Const(one.name), one]) for one in kept])
