"""Generator of `reexports.json`: ``python -m llm_sandbox.security.python.make_reexports``.

Imports the whole standard library and the packages given as arguments, so it is run by hand where
these are installed, and searches their modules for watched modules and for functions of `sinks`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pkgutil
import sys
import warnings
from pathlib import Path

from llm_sandbox.security.python.full_names import canonical
from llm_sandbox.security.python.sinks import CALLS, WATCHED

__all__ = ["main"]

_NEVER = ("antigravity", "this", "idlelib", "turtledemo", "test", "lib2to3.tests", "__main__")
_NOT_HELD = {"builtins", "importlib.machinery", "importlib.util"}


def _names(package: str) -> list[str]:
    """Return the modules of a package, without its tests."""
    skipped = {"tests", "test", "__main__", "_vendor"}
    paths = getattr(importlib.import_module(package), "__path__", ())
    walked = (info.name for info in pkgutil.walk_packages(paths, package + ".", lambda _: None))
    return [package, *(name for name in walked if skipped.isdisjoint(name.split(".")))]


def _load(package: str) -> None:
    if package in _NEVER:
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            names = _names(package)
        except BaseException:  # noqa: BLE001 - what cannot be imported here is left out
            return
        for name in names:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def _watched() -> dict[int, str]:
    """Return the full name of each watched object by its identity."""
    found: dict[int, str] = {}
    for name in [*CALLS, *WATCHED]:
        owner, _, last = name.rpartition(".")
        module = sys.modules.get(name) or sys.modules.get(owner)
        thing = module if name in sys.modules else getattr(module, last, None)
        if "()" not in name and not isinstance(thing, (str, int)):
            full = canonical(name)
            if id(thing) not in found or len(full) < len(found[id(thing)]):
                found[id(thing)] = full
    return found


def main(packages: list[str]) -> None:
    """Write the file for the standard library and the named packages."""
    warnings.simplefilter("ignore")
    for package in sorted({*sys.stdlib_module_names, *packages}):
        _load(package)
    watched = _watched()
    kept: dict[str, dict[str, list[str]]] = {}
    for path, module in sorted(sys.modules.items()):
        if path.startswith("llm_sandbox") or not hasattr(module, "__dict__"):
            continue
        for name, thing in sorted(vars(module).items()):
            full = watched.get(id(thing))
            if full is None or name.startswith("__") or full in _NOT_HELD:
                continue
            own = canonical(f"{path}.{name}")
            if own != full and own not in CALLS:
                kept.setdefault(name, {}).setdefault(full, []).append(canonical(path))
    data = {
        "found": {
            name: {full: " ".join(dict.fromkeys(paths)) for full, paths in targets.items()}
            for name, targets in sorted(kept.items())
        },
        "modules": " ".join(
            sorted(
                name
                for name in {*sys.modules, *sys.stdlib_module_names}
                if name.count(".") < 3 and "._" not in name and not name.startswith("llm_sandbox")
            )
        ),
    }
    target = Path(__file__).with_name("reexports.json")
    target.write_text(json.dumps(data, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
