"""How Go is built, run and scanned."""

import logging
from pathlib import PurePosixPath
from typing import ClassVar

from llm_sandbox.language_handlers.base import (
    AbstractLanguageHandler,
    LanguageConfig,
    PlotDetectionConfig,
    PlotLibrary,
    Step,
)
from llm_sandbox.language_handlers.go import source
from llm_sandbox.language_handlers.go.errors import read_compile_error, read_runtime_error
from llm_sandbox.language_handlers.go.packages import GoPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["GoHandler"]


class GoHandler(AbstractLanguageHandler):
    """Go, built by the toolchain for each run, as if the source lay in the working directory: where
    that has a module of its own, its packages can be imported.

    A program shows an image by writing it to its working directory, as gonum's ``plot.Save`` does,
    or, for an order among several, to the folder that the variable ``LLM_SANDBOX_DISPLAYS`` names,
    which it has to make: ``0001.png``, ``0002.svg``, ``0003.html``.
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
        """Return what builds a source file and runs the program."""
        program = str(PurePosixPath(file).with_name("main"))
        return [Step(("sh", f"{shim}/build.sh", file), compiles=True), Step((program,))]

    def upkeep(self, shim: str) -> Step | None:
        """Return what bounds the cache."""
        return Step(("sh", f"{shim}/upkeep.sh"))

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variables by which builds find the modules in a folder."""
        return {"LLM_SANDBOX_GO_MODULES": folder, "GOMODCACHE": f"{folder}/mod"}

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the first error of the build."""
        return read_compile_error(output, PurePosixPath(file).name)

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read a panic or an error of the runtime, such as a deadlock."""
        return read_runtime_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an import of a package or of one below it."""
        return source.import_pattern(module)

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for a comment of several lines; it does not know strings."""
        return source.MULTILINE_COMMENT

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment to the end of the line; it does not know
        strings.
        """
        return source.INLINE_COMMENT

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings stay, and every line stays on its line."""
        return source.without_comments(code)
