"""R handler: runs and scans R code, and parses its errors."""

import logging
import re
from pathlib import PurePosixPath
from typing import ClassVar

from llm_sandbox.language_handlers.base import (
    AbstractLanguageHandler,
    LanguageConfig,
    PlotDetectionConfig,
    PlotLibrary,
    Step,
)
from llm_sandbox.language_handlers.r.packages import RPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["RHandler"]

_MACHINES = ("x86_64", "aarch64")
_RAW_BEGIN = re.compile(r"(?<![\w.])[rR]([\"'])(-*)([\[({])")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_SPECIAL = re.compile(r"[\"'`#%]")
_OPERATOR = re.compile(r"%[^%\n#\"'`]*%")
_STRING_PIECE = re.compile(r"[^\\\"'`]+|\\.?|[\"'`]", re.DOTALL)
_ERROR_BEGIN = re.compile(
    r"^Error(?: in (?P<call>[^\n]{0,1000}?) ?)?:(?P<value>[ \n][^\n]*)$", re.MULTILINE
)
_ERROR_END = re.compile(
    r"^(?:Traceback:$|At \S+:\d+: |Calls: |Execution halted|In addition: |Warning messages?:)",
    re.MULTILINE,
)
_ERROR_AT = re.compile(r"^At (?P<file>[^\n:]{1,300}):(?P<line>[0-9]{1,9}): ", re.MULTILINE)
_SYNTAX_ERROR = re.compile(r"unexpected \S|invalid (?:token|multibyte)|unexpected end of input")


class RHandler(AbstractLanguageHandler):
    """Handler of R, in a persistent interpreter.

    Output is as in an R console, except that the value of the last expression is the value of the
    run, and that data frames and matrices are displayed as tables. Every page of plots is displayed
    once.
    """

    takes_names = True
    toolchain: ClassVar = Toolchain(("R", "Rscript"), ("r-base-core",))
    packages: ClassVar = RPackages()

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="r",
            file_extension="R",
            execution_commands=["Rscript {file}"],
            package_manager=None,
            plot_detection=PlotDetectionConfig(
                libraries=[
                    PlotLibrary.BASE_R,
                    PlotLibrary.GGPLOT2,
                    PlotLibrary.LATTICE,
                    PlotLibrary.PLOTLY,
                ]
            ),
        )

    def inject_plot_detection_code(self, code: str) -> str:
        """Return `code` unchanged: the shim's graphics device captures plots."""
        return code

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of an R process that runs the shim."""
        return ("R", "--vanilla", "--no-echo", f"--file={shim}/shim.R")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the step that runs a program with Rscript, without saved workspaces or site
        files.
        """
        del shim
        options = ("--no-save", "--no-restore", "--no-environ", "--no-site-file")
        return [Step(("Rscript", *options, file))]

    def program_environment(self, shim: str, displays: str) -> dict[str, str]:
        """Return the environment variable that makes a program's plots go to the folder of
        displays.
        """
        del displays
        return {"R_PROFILE_USER": f"{shim}/program.R"}

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variables by which R finds the packages of a folder, and they
        their libraries.
        """
        libraries = [f"{folder}/usr/lib/{machine}-linux-gnu" for machine in _MACHINES]
        return {
            "R_LIBS": f"{folder}/usr/lib/R/site-library",
            "LD_LIBRARY_PATH": ":".join([*libraries, f"{folder}/usr/lib"]),
        }

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the error message of a failed program."""
        return _read_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches the loading of a package."""
        name = re.escape(module)
        quoted = rf"[\"'`]?{name}[\"'`]?(?![\w.])"
        loaders = r"(?:library|require|requireNamespace|loadNamespace|attachNamespace)"
        loads = rf"(?<![\w.]){loaders}\s*\(\s*(?:package\s*=\s*)?{quoted}"
        return rf"{loads}|(?<![\w.])[\"'`]?{name}[\"'`]?\s*:::?"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression that matches nothing: R has no block comments."""
        return r"(?!)"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it ignores string boundaries."""
        return r"#.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings and line numbers do not change."""
        return _without_comments(code)


def _read_error(output: str, name: str) -> ExecutionError | None:
    """Parse the last error that R reported; None if there is none.

    Args:
        output: End of the program's standard error.
        name: Name of the program's file.
    """
    reported = list(_ERROR_BEGIN.finditer(output))
    if not reported:
        return None
    found = reported[-1]
    rest = output[found.start("value") :]
    end = _ERROR_END.search(rest)
    value = rest[: end.start() if end else len(rest)].strip()
    syntax = found["call"] is None and _SYNTAX_ERROR.match(value) is not None
    if syntax:
        return ExecutionError("SyntaxError", value.partition("\n")[0], kind="syntax")
    at = _ERROR_AT.search(rest)
    line = int(at["line"]) if at and at["file"] == name else None
    return ExecutionError("Error", value, line=line)


def _without_comments(code: str) -> str:
    """Return `code` without comments; strings, raw strings and quoted names do not change.

    Args:
        code: Any text; it need not be correct.
    """
    kept: list[str] = []
    at = 0
    while (found := _SPECIAL.search(code, at)) is not None:
        mark, place = found[0], found.start()
        if mark == "#":
            end = code.find("\n", place)
            end = len(code) if end < 0 else end
            kept.append(code[at:place].rstrip(" \t"))
            at = end
            continue
        if mark == "%":
            operator = _OPERATOR.match(code, place)
            end = operator.end() if operator else place + 1
        else:
            end = _end_of_string(code, place)
        kept.append(code[at:end])
        at = end
    kept.append(code[at:])
    return "".join(kept)


def _end_of_string(code: str, place: int) -> int:
    raw = _RAW_BEGIN.match(code, place - 1) if place > 0 else None
    if raw is not None:
        closing = f"{_CLOSING[raw[3]]}{raw[2]}{raw[1]}"
        end = code.find(closing, raw.end())
        return len(code) if end < 0 else end + len(closing)
    quote, at = code[place], place + 1
    while (piece := _STRING_PIECE.match(code, at)) is not None:
        at = piece.end()
        if piece[0] == quote:
            return at
    return len(code)
