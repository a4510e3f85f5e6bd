"""Full names of modules and functions: tables of them, aliases and re-exports.

`reexports.json` is written by ``python -m llm_sandbox.security.python.make_reexports``.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["canonical", "is_module", "names", "target"]


def names(table: str) -> list[str]:
    """Return the names in a table's text; ``{a,b}`` within a name stands for both."""
    found: list[str] = []
    for word in table.split():
        _open_braces(word, found)
    return found


def _open_braces(word: str, found: list[str]) -> None:
    before, brace, rest = word.partition("{")
    if not brace:
        found.append(word)
        return
    inside, _, after = rest.partition("}")
    for part in inside.split(","):
        _open_braces(before + part + after, found)


_SAME = {
    "IPython.core.getipython.get_ipython()": "IPython.shell()",
    "IPython.core.interactiveshell.InteractiveShell.instance()": "IPython.shell()",
    "IPython.get_ipython()": "IPython.shell()",
    "IPython.core.interactiveshell.InteractiveShell()": "IPython.shell()",
    "IPython.core.getipython.get_ipython": "IPython.get_ipython",
    "IPython.terminal.interactiveshell.TerminalInteractiveShell.instance()": "IPython.shell()",
    "IPython.InteractiveShell.instance()": "IPython.shell()",
    "IPython.InteractiveShell()": "IPython.shell()",
    "ipykernel.zmqshell.ZMQInteractiveShell.instance()": "IPython.shell()",
    "__builtin__": "builtins",
    "_io.FileIO": "io.FileIO",
    "_io.open": "builtins.open",
    "_pickle": "pickle",
    "builtins.file": "builtins.open",
    "cPickle": "pickle",
    "importlib._bootstrap.__import__": "builtins.__import__",
    "importlib._bootstrap._gcd_import": "importlib.import_module",
    "importlib.__import__": "builtins.__import__",
    "io.open": "builtins.open",
    "nt": "os",
    "ntpath": "os.path",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path",
    "pathlib.PurePosixPath": "pathlib.Path",
    "pathlib._local.Path": "pathlib.Path",
    "posix": "os",
    "posixpath": "os.path",
    "six.moves.builtins": "builtins",
    "six.moves.cPickle": "pickle",
    "six.moves.urllib": "urllib",
    "urllib2": "urllib.request",
    "urllib3.contrib.pyopenssl": "urllib3",
}
_ROOTS = frozenset(name.partition(".")[0] for name in _SAME)


@lru_cache(maxsize=4096)
def _same(name: str) -> str:
    at = len(name)
    while at > 0:
        head = _SAME.get(name[:at])
        if head is not None:
            return head + name[at:]
        at = name.rfind(".", 0, at)
    return name


def canonical(name: str) -> str:
    """Return the name that the rules use: ``os.system`` for ``posix.system``."""
    return _same(name) if name.partition(".")[0] in _ROOTS else name


_SEARCHED: dict[str, dict[str, frozenset[str]]] = {}


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("reexports.json").read_bytes())
    return data


def target(module: str, name: str) -> str | None:
    """Return the full name of an object that a module re-exports; None when it does not.

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
    """Return whether a full name is a module; None when its package is not known."""
    known = _modules()
    if name in known:
        return True
    return False if name.rpartition(".")[0] in known else None
