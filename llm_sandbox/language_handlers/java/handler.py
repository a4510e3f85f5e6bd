"""Java handler: compiles, runs and scans Java programs."""

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
from llm_sandbox.language_handlers.java.errors import read_compiler, read_trace
from llm_sandbox.language_handlers.java.packages import MavenPackages
from llm_sandbox.language_handlers.java.source import outline, without_comments
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["JavaHandler"]

_RUN = "run-"
_SCRIPT = "main.jsh"


class JavaHandler(AbstractLanguageHandler):
    """Handler of Java: classes with a main method run as programs, anything else in a persistent
    JShell.
    """

    toolchain: ClassVar = Toolchain(("java", "javac"), ("default-jdk-headless",))
    packages: ClassVar = MavenPackages()
    starts_late: ClassVar = True

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="java",
            file_extension="java",
            execution_commands=["java {file}"],
            package_manager=None,
            is_support_library_installation=False,
            plot_detection=PlotDetectionConfig([PlotLibrary.JFREECHART, PlotLibrary.XCHART]),
        )

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of the persistent shell."""
        return ("sh", f"{shim}/start.sh", "shell")

    def is_program(self, code: str) -> bool:
        """Return whether code declares only types, one of them with a main method."""
        found = outline(code)
        return found.main is not None and found.declares_only

    def source_name(self, code: str) -> str:
        """Return the file name required by the public type, in a folder named after the class to
        run.
        """
        found = outline(code)
        if found.main is None or not found.declares_only:
            return _SCRIPT
        return f"{_RUN}{found.main_class}/{found.public or found.main}.java"

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the steps that compile and run a program, or run shell snippets as one."""
        path = PurePosixPath(file)
        start = ("sh", f"{shim}/start.sh")
        if path.name == _SCRIPT:
            return [Step((*start, "script", file))]
        folder = path.parent.name
        main = folder.removeprefix(_RUN) if folder.startswith(_RUN) else path.stem
        return [
            Step((*start, "compile", file), compiles=True),
            Step((*start, "run", file, main)),
        ]

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the class path with the jars of a folder."""
        return {"CLASSPATH": f"{folder}/*"}

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the first error in the compiler's output; None if there is none."""
        return read_compiler(output, PurePosixPath(file).name)

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the uncaught exception in a program's output; None if there is none."""
        name = PurePosixPath(file).name
        if name != _SCRIPT:
            return read_trace(output, name)
        # The shell calls the code by the run's number, which is the first.
        return read_compiler(output, "run 1") or read_trace(output, "run 1")

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an import of a package, or of one of its
        members.
        """
        return rf"^[ \t]*import\s+(?:static\s+)?{re.escape(module)}(?![\w$])"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for a comment of several lines; it ignores string
        boundaries.
        """
        return r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment to the end of the line; it ignores string
        boundaries.
        """
        return r"//[^\n]*"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings and text blocks are unchanged."""
        return without_comments(code)
