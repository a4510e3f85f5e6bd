"""The attacks and their twins: every technique with every act that it fits."""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

from tests.scanner.corpus.acts import ACTS, CORE, HARMLESS, Act
from tests.scanner.corpus.notebook import NOTEBOOK, NOTEBOOK_TWINS
from tests.scanner.corpus.spellings import SPELLINGS
from tests.scanner.corpus.techniques import Technique, techniques

__all__ = ["Snippet", "attacks", "selection", "twins"]

if TYPE_CHECKING:
    from collections.abc import Iterable

ALWAYS_LOADED = {"os", "builtins", "io", "marshal", "posix", "sys"}
PLAIN = ("plain", "import-as", "from-import", "from-as", "dunder-import", "getattr", "assigned")
"""The techniques that every act is written in; the others only with those of `CORE`."""
ALSO = {"evaluates": "dynamic.code", "hidden": "text.hidden"}
"""Option of a technique to the capability that it is."""
PLACES = ("import", "attribute", "program")
"""Where a spelled text stands: as a module's name, an attribute's, or a program."""


@dataclass(frozen=True)
class Snippet:
    """A program with what it does."""

    name: str
    """One of its kind: technique, and what it does."""
    code: str
    technique: str
    sink: str
    """What it calls in the end."""
    capability: str
    """What it must be found for; empty when it does nothing."""
    events: tuple[str, ...] = ()
    """Audit events, one of which must come."""
    needle: str = ""
    """What that event's arguments must contain."""
    also: frozenset[str] = frozenset()
    """What the way of writing itself is, whatever it is used for."""
    notebook: bool = False


def fits(technique: Technique, act: Act) -> bool:
    """Return whether a technique makes sense with an act."""
    needs = technique.options
    positional = "=" not in re.sub(r"'[^']*'", "", act.arguments)
    simple = act.function.isidentifier()
    checks = {
        "star": simple and not act.function.startswith("_") and act.module != "builtins",
        "loaded": act.module in ALWAYS_LOADED,
        "dotted": "." in act.module,
        "single": "." not in act.module,
        "simple": "." not in act.module,
        "arguments": bool(act.arguments) and positional,
        "one": bool(act.arguments) and positional and not _top_commas(act.arguments),
        "unescaped": "\\" not in act.arguments,
        "evaluates": act.module != "builtins" or act.function not in ("exec", "eval"),
    }
    modules = {"os", "shutil", "socket", "pickle", "builtins", "io", "subprocess", "posix"}
    if (
        needs & modules
        and act.module not in needs
        and not ("posix" in needs and act.name in ("os.system", "os.fork", "os.kill", "os.chmod"))
    ):
        return False
    if not simple and technique.name not in ("plain", "import-as", "dunder-import", "assigned"):
        return False
    return all(checks[need] for need in needs - modules - {"hidden"})


def _top_commas(text: str) -> bool:
    depth = 0
    for char in re.sub(r"'[^']*'", "", text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return True
    return False


def _moved(text: str, first: int) -> str:
    # Letters of another block of Unicode that Python reads as the plain ones.
    if first == 0xFF01:
        return "".join(chr(ord(c) - 0x21 + first) if c.isalnum() else c for c in text)
    return "".join(
        chr(ord(char) - ord("a") + first) if "a" <= char <= "z" else char for char in text
    )


def write(technique: Technique, act: Act) -> str:
    """Return an act in a technique's words."""
    top, _, rest = act.module.partition(".")
    program = f"import {act.module}\n{act.name}({act.arguments})"
    expression = f"__import__({act.module!r}, fromlist=['x']).{act.function}({act.arguments})"
    values = {
        "MF": repr(act.name),
        "M": act.module,
        "F": act.function,
        "A": act.arguments,
        "AL": _literal(act.arguments),
        "C": f"{act.arguments}," if act.arguments else "",
        "E": f"{act.name}({act.arguments})",
        "EL": _literal(f"{act.name}({act.arguments})"),
        "G": repr(act.function),
        "N": repr(act.module),
        "Q": act.arguments.replace("\\", "\\\\").replace('"', '\\"'),
        "R": rest,
        "S": _literal(program),
        "SS": _literal(f"exec({program!r})"),
        "T": top,
        "X": _literal(expression),
        "XD": '"' + expression.replace("\\", "\\\\").replace('"', "'") + '"',
        "WF": _moved(act.function, 0xFF01),
        "WM": _moved(act.module, 0xFF01),
        "BF": _moved(act.function, 0x1D41A),
        "Z": repr(base64.b64encode(program.encode()).decode()),
    }
    return re.sub(
        r"\$(MF|AL|EL|SS|XD|WF|WM|BF|[MFACEGNQRSTXZ])", lambda m: values[m[1]], technique.text
    )


def _literal(text: str) -> str:
    return repr(text)


def _spelled(spelling: str, place: str, act: Act) -> str:
    make = SPELLINGS[spelling]
    if place == "import":
        before, text = make(act.module)
        after = f"m = __import__({text}, fromlist=['x'])\nm.{act.function}({act.arguments})"
    elif place == "attribute":
        before, text = make(act.function)
        after = f"import {act.module} as m\ngetattr(m, {text})({act.arguments})"
    else:
        before, text = make(f"import {act.module} as m; m.{act.function}({act.arguments})")
        after = f"exec({text})"
    return f"{before}\n{after}\n".lstrip("\n")


def _of(act: Act) -> list[Snippet]:
    made: list[tuple[str, str, frozenset[str]]] = []
    for technique in techniques():
        if (act in CORE or not act.capability or technique.name in PLAIN) and fits(technique, act):
            also = frozenset(ALSO[option] for option in technique.options & ALSO.keys())
            made.append((technique.name, write(technique, act), also))
    if act in CORE or not act.capability:
        for spelling in SPELLINGS:
            for place in PLACES:
                if place != "program" or act.name != "builtins.exec":
                    name = f"{place}:{spelling}"
                    also = frozenset({"dynamic.code"} if place == "program" else ())
                    made.append((name, _spelled(spelling, place, act), also))
    return [
        Snippet(
            name=f"{name} {act.name}({act.arguments})",
            code=code,
            technique=name,
            sink=act.name,
            capability=act.capability,
            events=act.events,
            needle=act.needle,
            also=also,
        )
        for name, code, also in made
    ]


@cache
def attacks() -> tuple[Snippet, ...]:
    """Return all attacks."""
    made = [snippet for act in ACTS for snippet in _of(act)]
    made += [
        Snippet(f"{name} {sink}", code, name, sink, "process.run", events, notebook=True)
        for name, sink, code, events in NOTEBOOK
    ]
    return tuple(made)


@cache
def twins() -> tuple[Snippet, ...]:
    """Return the same shapes around what does no harm."""
    made = [snippet for act in HARMLESS for snippet in _of(act)]
    made += [
        Snippet(f"{name} (harmless)", code, name, "", "", notebook=True)
        for name, code in NOTEBOOK_TWINS
    ]
    return tuple(made)


def selection(snippets: Iterable[Snippet], of_each: int = 2) -> list[Snippet]:
    """Return some snippets of each technique and one of each thing that is called.

    Args:
        snippets: All of them.
        of_each: How many of each technique.
    """
    shapes: dict[str, list[Snippet]] = defaultdict(list)
    first: dict[str, Snippet] = {}
    for snippet in snippets:
        shapes[snippet.technique].append(snippet)
        first.setdefault(snippet.name.partition(" ")[2], snippet)
    chosen = {snippet.name: snippet for snippet in first.values()}
    for technique, group in shapes.items():
        start = crc32(technique.encode())
        for number in range(of_each):
            snippet = group[(start + number) % len(group)]
            chosen[snippet.name] = snippet
    return list(chosen.values())
