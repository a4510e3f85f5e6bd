"""Imports, and what they bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python import nested_code, reexports
from llm_sandbox.security.python.lookups import attribute, found
from llm_sandbox.security.python.modules import canonical
from llm_sandbox.security.python.sinks import CALLS, WATCHED, is_tracked
from llm_sandbox.security.python.values import (
    Instance,
    Ref,
    Value,
)

if TYPE_CHECKING:
    import ast

    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["import_", "import_from"]


def import_(m: Interpreter, node: ast.Import) -> int:
    """Follow ``import``."""
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
    """Follow ``from .. import``."""
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
        m.report_module(full if reexports.is_module(full) is not False else source, node)
        value: Value | None
        if isinstance(made, Instance):
            value = made.cls.fields.get(name)
        else:
            target = reexports.target(module, name)
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
                value = _from(m, canonical(full), alias)
        m.scope.bind(alias.asname or name, value, m.block)
    return 0


def _from(m: Interpreter, full: str, alias: ast.alias) -> Value:
    if full in CALLS:
        # An import is no use yet; a use under the new name is looked at there.
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
