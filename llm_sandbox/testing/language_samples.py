r"""Samples of a language: small programs, and what must come of them.

A file ``<language>.toml`` has a table for each thing that the suites try, with its ``code`` and
what is expected of it::

    keeps_state = true        # whether a run finds the variables of those before it

    [absent]                  # what the language cannot do, each with the reason
    compile = "there is no compiler"

    [hello]
    code = "print 'hello'"
    stdout = "hello\n"

What the suites ask for is in `TABLES`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["BUILTIN_SAMPLES", "TABLES", "LanguageSamples", "Sample", "languages_in"]

BUILTIN_SAMPLES = Path(__file__).with_name("language_samples")
"""The folder with the samples of the languages that this library brings."""

TABLES = {
    "hello": "prints `hello` and a line end",
    "unicode": "prints `héllo wörld ✓ 日本 🎉` and a line end",
    "stderr": "writes `oops` and a line end to standard error",
    "big_output": "prints 3,000,000 times `x` and a line end",
    "exit": "ends with exit code 7",
    "error": "fails with an exception: `name`, `value` (a part of it), `line`",
    "syntax": "does not parse: `line`",
    "compile": "does not compile: `line`, `column`, `value` (a part of it)",
    "many_lines": "three lines of which the second fails: `line`",
    "stdin": "prints the two lines of its input in reverse order",
    "stdin_end": "reads at the end of its input, and prints `end`",
    "busy": "computes for ever",
    "sleep": "sleeps for a minute",
    "signal": "kills itself by SIGKILL",
    "memory": "takes more and more memory",
    "child": "starts `sleep 300` in the background, and ends",
    "stream": "prints `one`, flushes, sleeps half a second, prints `two`",
    "state": "`first`, and `second` which prints `stdout` by what the first left",
    "state_function": "the same with a function or a class",
    "program": "a whole program with functions, which prints `stdout`",
    "environment": "prints the environment variable GREETING",
    "file": "writes `data` and a line end to `out.txt` in the working directory",
    "package": "uses one of `libraries`, and prints `stdout`",
    "result": "its last expression is 6 * 7",
    "image": "shows or saves one image",
    "table": "shows a table with the columns `name` and `value`",
    "shown_order": "prints `before`, shows an image or HTML, prints `after`",
}
"""Name of a table to what its code does."""


@dataclass(frozen=True)
class Sample:
    """One small program, or two that are run one after the other."""

    code: str = ""
    """The program."""
    first: str = ""
    """Of two, the first."""
    second: str = ""
    """Of two, the second."""
    stdout: str = ""
    """What it prints."""
    stderr: str = ""
    """What it writes to standard error."""
    name: str = ""
    """Name of the error."""
    value: str = ""
    """A part of the error's message."""
    line: int | None = None
    """Line of the error in the code, from 1; None where the language cannot tell."""
    column: int | None = None
    """Column of the error in the line, from 1."""
    libraries: Sequence[str] = ()
    """Libraries that it uses."""


@dataclass(frozen=True)
class LanguageSamples:
    """All samples of one language."""

    language: str
    """The language's name."""
    keeps_state: bool
    """Whether a run finds the variables of those before it."""
    samples: Mapping[str, Sample] = field(default_factory=dict)
    """The samples by name."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why there is none, by name."""

    @classmethod
    def load(cls, path: Path) -> "LanguageSamples":
        """Read a file.

        Raises:
            ValueError: It has names that mean nothing here.
        """
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        keeps_state = found.pop("keeps_state")
        absent = found.pop("absent", {})
        try:
            samples = {name: Sample(**table) for name, table in found.items()}
        except TypeError as error:
            raise ValueError(f"{path.name}: {error}") from None
        if unknown := found.keys() - TABLES.keys():
            raise ValueError(f"{path.name}: nothing is called {sorted(unknown)}")
        return cls(path.stem, keeps_state, samples, absent)


def languages_in(place: Path) -> list[str]:
    """The languages that there are samples of, sorted.

    Args:
        place: A folder of such files, or one file.
    """
    paths = place.glob("*.toml") if place.is_dir() else [place]
    return sorted(path.stem for path in paths)
