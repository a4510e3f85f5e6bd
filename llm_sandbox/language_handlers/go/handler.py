"""Go handler: builds, runs and scans Go programs."""

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
from llm_sandbox.language_handlers.go.errors import read_compile_error, read_runtime_error
from llm_sandbox.language_handlers.go.packages import GoPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["GoHandler"]

# What is not closed goes on to the end, so that no place is looked at twice.
_MULTILINE_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
"""Pattern of a comment between ``/*`` and ``*/``; it ignores string boundaries."""
_INLINE_COMMENT = r"//[^\n]*"
"""Pattern of a comment to the end of its line; it ignores string boundaries."""

_TOKEN = re.compile(
    rf"""
    (?P<block>{_MULTILINE_COMMENT})
    | (?P<line>{_INLINE_COMMENT})
    | `[^`]*`?
    | "(?:[^"\\\n]|\\.)*"?
    | '(?:[^'\\\n]|\\.)*'?
    """,
    re.VERBOSE,
)
_LONGEST_GROUP = 4000


class GoHandler(AbstractLanguageHandler):
    """Handler of Go, built by the toolchain for each run as if the source were in the working
    directory: if that has a Go module, its packages can be imported.

    A program shows an image by writing it to its working directory, as gonum's ``plot.Save`` does,
    or, to order several, to the folder named by ``LLM_SANDBOX_DISPLAYS``, which it has to create:
    ``0001.png``, ``0002.svg``, ``0003.html``.
    """

    toolchain: ClassVar = Toolchain(("go",), ("golang-go",))
    packages: ClassVar = GoPackages()

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="go",
            file_extension="go",
            execution_commands=["go run {file}"],
            package_manager="go get",
            plot_detection=PlotDetectionConfig([PlotLibrary.GONUM]),
        )

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the steps that build a source file and run the program."""
        program = str(PurePosixPath(file).with_name("main"))
        return [Step(("sh", f"{shim}/build.sh", file), compiles=True), Step((program,))]

    def upkeep(self, shim: str) -> Step | None:
        """Return the command that limits the size of the build cache."""
        return Step(("sh", f"{shim}/upkeep.sh"))

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variables by which builds find the modules in a folder."""
        return {"LLM_SANDBOX_GO_MODULES": folder, "GOMODCACHE": f"{folder}/mod"}

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the first error of the build."""
        return read_compile_error(output, PurePosixPath(file).name)

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse a panic or a fatal error of the runtime, such as a deadlock."""
        return read_runtime_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an import of a package or of one below it."""
        return _import_pattern(module)

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for a comment of several lines; it ignores string
        boundaries.
        """
        return _MULTILINE_COMMENT

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment to the end of the line; it ignores string
        boundaries.
        """
        return _INLINE_COMMENT

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; line numbers do not change."""
        return _without_comments(code)


def _without_comments(code: str) -> str:
    """Return code without its comments; line numbers do not change."""

    def replace(found: re.Match[str]) -> str:
        if found["block"] is None and found["line"] is None:
            return found[0]
        lines = "\n" * found[0].count("\n")
        # A comment parts the words beside it.
        return lines or (" " if found["block"] is not None else "")

    return _TOKEN.sub(replace, code)


def _import_pattern(module: str) -> str:
    """Return a pattern for an import of a package, or of a package below it, alone or in a
    group.
    """
    path = rf"[\"`]{re.escape(module)}(?:/[^\"`\n]*)?[\"`]"
    alias = r"(?:[\w.]+[ \t]*)?"
    alone = rf"\bimport[ \t]*{alias}{path}"
    group = rf"\bimport\s*\([^()]{{0,{_LONGEST_GROUP}}}?{path}"
    # A line of a group that is longer, or has brackets in its comments.
    line = rf"^[ \t]*{alias}{path}[ \t\r]*(?:$|;|\)|//|/\*)"
    return rf"{alone}|{group}|{line}"
