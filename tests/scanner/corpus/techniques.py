"""Techniques: how an act is written so that it does not look like it.

They are read from the ``*.txt`` files beside this module, where ``=== name [option ...]`` starts
each. In the text ``$M`` is the module, ``$F`` the function, ``$A`` its arguments, ``$N`` and ``$G``
the names of module and function as literals, ``$E`` the plain call, ``$S`` a literal of a program
that does it, ``$X`` a literal of an expression that does it, ``$Z`` the text in base64.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Technique", "families", "techniques"]

HERE = Path(__file__).parent
HEAD = re.compile(r"^=== (\S+)(.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Technique:
    """One way of writing."""

    name: str
    text: str
    options: frozenset[str] = frozenset()
    """What an act needs for this to work (see `snippets.fits`), and ``evaluates`` when the way
    itself runs text as code."""


@cache
def techniques() -> tuple[Technique, ...]:
    """Return those of all files, in their order."""
    found: list[Technique] = []
    for path in sorted(HERE.glob("techniques_*.txt")):
        parts = HEAD.split(path.read_text(encoding="utf-8"))
        for name, options, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            found.append(Technique(name, text.rstrip("\n") + "\n", frozenset(options.split())))
    names = [technique.name for technique in found]
    assert len(names) == len(set(names)), "two techniques have one name"
    return tuple(found)


@cache
def families() -> dict[str, str]:
    """Return the kind of each technique: the file that it is in."""
    return {
        name: path.stem.removeprefix("techniques_")
        for path in sorted(HERE.glob("techniques_*.txt"))
        for name, _ in HEAD.findall(path.read_text(encoding="utf-8"))
    }
