"""Modules and functions that are found in other modules: `glob.os` is `os`.

`reexports.json` is written by ``python -m llm_sandbox.security.python.make_reexports``.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["is_module", "target"]

_SEARCHED: dict[str, dict[str, frozenset[str]]] = {}


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("reexports.json").read_bytes())
    return data


def target(module: str, name: str) -> str | None:
    """Return the full name of what a module has under a name; None when it is the module's own.

    Args:
        module: Full name of the module.
        name: The attribute.
    """
    known: dict[str, str] | None = _data()["found"].get(name)
    if known is None:
        return None
    where = _SEARCHED.get(name)
    if where is None:
        where = _SEARCHED[name] = {full: frozenset(text.split()) for full, text in known.items()}
    for full, modules in where.items():
        if module in modules:
            return full
    return None


@lru_cache(maxsize=1)
def _modules() -> frozenset[str]:
    return frozenset(_data()["modules"].split())


def is_module(name: str) -> bool | None:
    """Return whether a full name is that of a module; None when its package is not known."""
    known = _modules()
    if name in known:
        return True
    return False if name.rpartition(".")[0] in known else None
