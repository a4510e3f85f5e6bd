"""How R is run, installed and scanned."""

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
from llm_sandbox.language_handlers.r.comments import without_comments
from llm_sandbox.language_handlers.r.errors import read_error
from llm_sandbox.language_handlers.r.packages import RPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["RHandler"]

_MACHINES = ("x86_64", "aarch64")


class RHandler(AbstractLanguageHandler):
    """R, in an interpreter that stays.

    What an R console prints is printed, but for the value of the last expression, which is the
    run's value, and for data frames and matrices, which are shown as tables. Every page of plots is
    shown once.
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
        """Return `code` unchanged: R itself says where its plots are drawn."""
        return code

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of an R that runs the shim."""
        return ("R", "--vanilla", "--no-echo", f"--file={shim}/shim.R")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return what runs a program: R's own front-end for scripts, without what it saved."""
        del shim
        options = ("--no-save", "--no-restore", "--no-environ", "--no-site-file")
        return [Step(("Rscript", *options, file))]

    def program_environment(self, shim: str, displays: str) -> dict[str, str]:
        """Return the variable by which a program's plots are drawn to the folder of displays."""
        del displays
        return {"R_PROFILE_USER": f"{shim}/program.R"}

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variables by which R finds a folder's packages, and they their libraries."""
        libraries = [f"{folder}/usr/lib/{machine}-linux-gnu" for machine in _MACHINES]
        return {
            "R_LIBS": f"{folder}/usr/lib/R/site-library",
            "LD_LIBRARY_PATH": ":".join([*libraries, f"{folder}/usr/lib"]),
        }

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read what is said when a program fails."""
        return read_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches how R loads a package."""
        name = re.escape(module)
        quoted = rf"[\"'`]?{name}[\"'`]?(?![\w.])"
        loaders = r"(?:library|require|requireNamespace|loadNamespace|attachNamespace)"
        loads = rf"(?<![\w.]){loaders}\s*\(\s*(?:package\s*=\s*)?{quoted}"
        return rf"{loads}|(?<![\w.])[\"'`]?{name}[\"'`]?\s*:::?"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression that matches nothing: R has no comments of several lines."""
        return r"(?!)"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it does not know strings."""
        return r"#.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings stay whole and lines keep their numbers."""
        return without_comments(code)
