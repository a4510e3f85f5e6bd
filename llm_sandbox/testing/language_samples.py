r"""Samples of a language: small programs with their expected outcome.

A file ``<language>.toml`` has a table for each behaviour in the suites, with its ``code`` and
expected outcome::

    keeps_state = true        # whether a run finds the variables of those before it

    [absent]                  # what the language cannot do, each with the reason
    compile = "there is no compiler"

    [hello]
    code = "print 'hello'"
    stdout = "hello\n"

`TABLES` lists the behaviours.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["BUILTIN_SAMPLES", "TABLES", "LanguageSamples", "Sample", "languages_in"]

BUILTIN_SAMPLES = Path(__file__).with_name("language_samples")
"""Folder with the samples of the built-in languages."""

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
"""Names of tables, each with the behaviour of its code."""


@dataclass(frozen=True)
class Sample:
    """One small program, or two that run in sequence."""

    code: str = ""
    """Program."""
    first: str = ""
    """First of two programs."""
    second: str = ""
    """Second of two programs."""
    stdout: str = ""
    """Expected standard output."""
    stderr: str = ""
    """Expected standard error."""
    name: str = ""
    """Name of the error."""
    value: str = ""
    """Part of the error message."""
    line: int | None = None
    """Line of the error in the code, from 1; None if the language does not report it."""
    column: int | None = None
    """Column of the error in the line, from 1."""
    libraries: Sequence[str] = ()
    """Libraries of the program."""


@dataclass(frozen=True)
class LanguageSamples:
    """Samples of one language."""

    language: str
    """Name of the language."""
    keeps_state: bool
    """Whether a run finds the variables of those before it."""
    samples: Mapping[str, Sample] = field(default_factory=dict)
    """Samples by name."""
    absent: Mapping[str, str] = field(default_factory=dict)
    """Reasons for missing samples, by name."""

    @classmethod
    def load(cls, path: Path) -> "LanguageSamples":
        """Load the samples of one language from a file.

        Raises:
            ValueError: The file has unknown names.
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
    """Return the languages with samples, sorted.

    Args:
        place: Folder of sample files, or one file.
    """
    paths = place.glob("*.toml") if place.is_dir() else [place]
    return sorted(path.stem for path in paths)
