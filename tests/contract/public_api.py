"""A program: the public interface of the package as data, in ``public_api.json``.

``python -m tests.contract.public_api`` writes the file anew; a test compares. A deliberate change
of the interface is a change of the file in the same commit, and a line in the CHANGELOG.

What is recorded is what a caller can break on: names, the parameters of functions by their names,
kinds and defaults, members of classes, values of enumerations, the public and built-in bases of
classes, commands and options, entry points. Annotations and docstrings are free.
"""

from __future__ import annotations

import builtins
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_suffix(".json")

MODULES = (
    "",
    "aio",
    *("const", "data", "exceptions", "limits", "mounts", "network"),
    *("results.outputs", "results.plots", "results.tables"),
    *("pool", "secrets", "security", "settings", "telemetry", "workspace", "interactive"),
    *("docker", "podman", "micromamba", "toolchain", "compat.backends", "core.config"),
    *("core.session_base", "session", "session.session", "security.models"),
    *("security.package_validators", "mcp_server.server", "mcp_server.settings"),
    *("adapters", "adapters.modal", "adapters.sbx_agents", "adapters.zenml"),
    *("evaluation", "evaluation.datasets", "evaluation.engines", "evaluation.trainers"),
    *("artifacts", "artifacts.base", "artifacts.registry", "backends.base", "backends.registry"),
    *("language_handlers", "language_handlers.base", "language_handlers.factory"),
    *("language_handlers.registry", "testing", "testing.backend_suite", "testing.session_suite"),
    *("testing.language_suite", "integrations.tool", "integrations.agent_framework"),
    *("integrations.agents", "integrations.agno", "integrations.autogen"),
    *("integrations.claude_agent_sdk", "integrations.crewai", "integrations.deepagents"),
    *("integrations.dspy", "integrations.google_adk", "integrations.inspect"),
    *("integrations.jupyter", "integrations.langchain", "integrations.llama_index"),
    *("integrations.magics", "integrations.mcp", "integrations.openai", "integrations.pydantic_ai"),
    *("integrations.pytest_plugin", "integrations.smolagents"),
)
"""Modules that callers import from, below the package: those that the documents name."""


@cache
def describe() -> dict[str, Any]:
    """Return the whole interface."""
    return {
        "modules": _modules(),
        "commands": dict(sorted(_commands())),
        "entry_points": _entry_points(),
    }


# --- names


def _modules() -> dict[str, Any]:
    loader = griffe.GriffeLoader(search_paths=[ROOT])
    package = loader.load("llm_sandbox")
    loader.resolve_aliases(implicit=True, external=False)
    known: dict[str, str] = {}
    found: dict[str, Any] = {}
    modules = [package[name] if name else package for name in MODULES]
    public = {str(each) for module in modules for each in module.exports or ()}
    for module in modules:
        path = module.path
        found[path] = {}
        for each in sorted(module.exports or ()):
            target = _resolved(module, str(each))
            place = f"{path}.{each}"
            if target is None or target.is_module:
                found[path][str(each)] = "attribute"
            elif (first := known.setdefault(target.path, place)) != place:
                found[path][str(each)] = f"the same as {first}"
            else:
                found[path][str(each)] = _object(target, public)
    return found


def _resolved(module: Any, name: str) -> Any:
    member = module.members.get(name)
    if member is None:
        return None
    try:
        return member.final_target if member.is_alias else member
    except griffe.AliasResolutionError:
        return None


def _object(target: Any, public: set[str]) -> Any:
    if target.is_function:
        return _signature(target)
    if target.is_class:
        return _class(target, public)
    return "attribute"


def _class(target: Any, public: set[str]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    bases: set[str] = set()
    for each in (*reversed(target.mro()), target):
        bases |= {str(base).rpartition(".")[2].partition("[")[0] for base in each.bases}
        for name, member in each.members.items():
            if (name.startswith("_") and name not in ("__init__", "__call__")) or member.is_alias:
                continue
            members[name] = _member(member, public)
    shown = sorted(base for base in bases if base in public or hasattr(builtins, base))
    return {"bases": shown, "members": dict(sorted(members.items()))}


def _member(member: Any, public: set[str]) -> Any:
    if member.is_function:
        return _signature(member)
    if member.is_class:
        return _class(member, public)
    is_value = member.is_attribute and member.value is not None and _is_enum(member.parent)
    return f"= {member.value}" if is_value else "attribute"


def _is_enum(one: Any) -> bool:
    bases = [base for each in (one, *one.mro()) for base in each.bases]
    return any(str(base).rpartition(".")[2].endswith(("Enum", "Flag")) for base in bases)


def _signature(function: Any) -> str:
    """The parameters in Python's own spelling, those of a typed dictionary as its keys."""
    words: list[str] = []
    last = None
    for one in _parameters(function):
        kind = one.kind.value
        if one.name.startswith("_"):
            continue
        if kind == "keyword-only" and last not in ("keyword-only", "variadic positional"):
            words.append("*")
        if last == "positional-only" != kind:
            words.append("/")
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        keys = _keys(one, function) if stars == "**" else None
        if keys is not None:
            words += ["*"] * (last not in ("keyword-only", "variadic positional") and bool(keys))
            words += [f"{key}=..." for key in keys]
        else:
            text = str(one.default)
            default = (
                "" if stars or one.default is None else f"={'...' if text[0] == '_' else text}"
            )
            words.append(f"{stars}{one.name}{default}")
        last = kind
    prefix = "async " if "async" in function.labels else ""
    return f"{prefix}({', '.join(words)})"


def _parameters(function: Any) -> list[Any]:
    """The parameters; those of another function where ``@same_parameters(it)`` shows them."""
    own = list(function.parameters)
    for decorator in function.decorators:
        text = str(decorator.value)
        if text.startswith("same_parameters("):
            words = text.removeprefix("same_parameters(").removesuffix(")").split(".")
            if words[0] == "Sandbox":
                original = function.package["sandbox.sandbox"][".".join(words)]
            else:
                original = function.package["create"][words[-1]]
            others = (one for one in original.parameters if one.name != "cls")
            return [*(one for one in own if one.name in ("self", "cls")), *others]
    return own


def _keys(parameter: Any, function: Any) -> list[str] | None:
    """The keys of ``**options: Unpack[Options]``; None for other annotations."""
    text = str(parameter.annotation or "")
    if not text.startswith("Unpack["):
        return None
    name = text.removeprefix("Unpack[").removesuffix("]").strip("\"'")
    found = function.module[name]
    found = found.final_target if found.is_alias else found
    return sorted(name for name in found.all_members if not name.startswith("_"))


# --- the command line


def _commands() -> Any:
    from llm_sandbox.cli.app import app

    yield from _below(app.name, app)


def _below(path: str, found: Any) -> Any:
    from llm_sandbox.cli.grammar import Group, Option

    if isinstance(found, Group):
        for name in found.commands:
            yield from _below(f"{path} {name}", found.get(name))
        return
    options: dict[str, Any] = {}
    arguments = []
    for one in found.parameters:
        if isinstance(one.form, Option):
            options[one.form.names[0]] = {
                "also": [*one.form.names[1:], *filter(None, [one.form.off])],
                "value": not one.is_switch,
                "repeated": one.many,
                "choices": one.choices,
            }
        else:
            arguments.append({"required": one.required, "many": one.many})
    yield path, {"arguments": arguments, "options": dict(sorted(options.items()))}


def _entry_points() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return {group: sorted(names) for group, names in sorted(groups.items())}


def text() -> str:
    """Return the file's content."""
    return json.dumps(describe(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
