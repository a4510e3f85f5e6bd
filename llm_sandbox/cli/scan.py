"""`llm-sandbox scan`: static analysis of code."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from llm_sandbox.cli.grammar import Argument, Command, Option

__all__ = ["SCAN", "FailOn", "Format", "scan"]

_EPILOG = (
    "Exit code: 0 when nothing was found at or above --fail-on, 1 when something was, 2 for a "
    "mistake on the command line and for files that could not be read."
)


class Format(StrEnum):
    """Output format of findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    MODEL = "model"


class FailOn(StrEnum):
    """Lowest severity that makes the exit code 1."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    NEVER = "never"


def scan(
    paths: Annotated[
        list[str],
        Argument(help="Files, directories and notebooks; - is standard input.", metavar="PATH"),
    ],
    policy: Annotated[
        str | None,
        Option(
            "--policy",
            help="Grade findings by a ready-made policy, or by a TOML or JSON file; without it, "
            "everything is reported at its ordinary severity.",
            metavar="PRESET|FILE",
        ),
    ] = None,
    lang: Annotated[
        str | None,
        Option(
            "--lang",
            "-l",
            help="Language of the files named and of standard input; without it, their names and "
            "first lines tell, and standard input is Python.",
            metavar="NAME",
        ),
    ] = None,
    form: Annotated[
        Format,
        Option(
            "--format",
            help="Lines for people, one JSON document, SARIF 2.1.0, or words for the model that "
            "wrote the code.",
        ),
    ] = Format.TEXT,
    fail_on: Annotated[
        FailOn | None,
        Option(
            "--fail-on",
            help="The least severity that makes the exit code 1; without it, the policy's "
            "threshold, or medium.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="Write to FILE, not to stdout.", metavar="FILE"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        Option(
            "--exclude",
            help="Leave out of directories what matches, by its name or its path there; may be "
            "repeated. Stores of versions, caches and installed packages are always left out.",
            metavar="GLOB",
        ),
    ] = None,
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Findings only: no totals, no remarks.")
    ] = False,
) -> None:
    """Say what code would do, without running it.

    A signal, not a boundary: code that was not found to do anything is not proven to be harmless.
    """
    from llm_sandbox.cli.scan_report import Arguments, main

    asked = None if fail_on is None else fail_on.value
    raise SystemExit(
        main(Arguments(paths, policy, lang, form.value, asked, output, exclude or [], quiet=quiet))
    )


SCAN = Command(scan, epilog=_EPILOG)
