"""How C++ is built, run and scanned."""

import logging
import platform
from pathlib import PurePosixPath
from typing import ClassVar

from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig, Step
from llm_sandbox.language_handlers.cpp import source
from llm_sandbox.language_handlers.cpp.errors import read_compile_error, read_runtime_error
from llm_sandbox.language_handlers.cpp.packages import LINK_FILE, CppPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["CppHandler"]


class CppHandler(AbstractLanguageHandler):
    """C++20 with GNU's extensions, built by g++ for each run.

    Headers in the working directory can be included by ``#include "..."``. Every library of
    `libraries` that a program uses is linked. A first line such as ``// flags: -O2 -lm helper.cpp``
    asks for more: ``-O``, ``-g``, ``-D``, ``-U``, ``-W``, ``-std=``, ``-l``, ``-fopenmp``,
    ``-march=native``, ``-fsanitize=undefined``, and sources in the working directory.

    A program shows an image by writing it to its working directory, or, for an order among several,
    to the folder that the variable ``LLM_SANDBOX_DISPLAYS`` names, which it has to make:
    ``0001.png``, ``0002.svg``, ``0003.html``.
    """

    toolchain: ClassVar = Toolchain(("g++",), ("g++",))
    packages: ClassVar = CppPackages()

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="cpp",
            file_extension="cpp",
            execution_commands=["g++ -std=gnu++20 -O1 -pthread -o {file}.out {file}", "{file}.out"],
            package_manager="apt-get install -y",
        )

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return what builds a source file and runs the program."""
        program = str(PurePosixPath(file).with_name("main"))
        return [Step(("sh", f"{shim}/build.sh", file), compiles=True), Step((program,))]

    def upkeep(self, shim: str) -> Step | None:
        """Return what compiles the headers of the last program for the next ones."""
        return Step(("sh", f"{shim}/upkeep.sh"))

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variables by which g++ and programs find Debian packages in a folder."""
        machine = f"{platform.machine()}-linux-gnu"
        headers = (f"{folder}/usr/include", f"{folder}/usr/include/{machine}")
        libraries = (
            f"{folder}/usr/lib/{machine}",
            f"{folder}/lib/{machine}",
            f"{folder}/usr/lib",
        )
        return {
            "CPLUS_INCLUDE_PATH": ":".join(headers),
            "LIBRARY_PATH": ":".join(libraries),
            "LD_LIBRARY_PATH": ":".join(libraries),
            "LLM_SANDBOX_LINK_FILE": f"{folder}/{LINK_FILE}",
        }

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the first error of the compiler or the linker."""
        return read_compile_error(output, PurePosixPath(file).name)

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read an uncaught exception, a failed assertion, or what the C library aborts for."""
        return read_runtime_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches what includes a header or imports a module."""
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
