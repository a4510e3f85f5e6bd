"""C++ handler: builds, runs and scans C++ programs."""

import logging
import platform
import re
from pathlib import PurePosixPath
from typing import ClassVar

from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig, Step
from llm_sandbox.language_handlers.cpp.errors import read_compile_error, read_runtime_error
from llm_sandbox.language_handlers.cpp.packages import LINK_FILE, CppPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["CppHandler"]

# What is not closed goes on to the end, so that no place is looked at twice.
_MULTILINE_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
"""Pattern of a comment between ``/*`` and ``*/``; it ignores string boundaries."""
_INLINE_COMMENT = r"//(?:[^\n\\]|\\(?:\r?\n)?)*"
"""Pattern of a comment to the end of its line, which a backslash continues on the next one; it
ignores string boundaries."""

_TOKEN = re.compile(
    rf"""
    (?P<block>{_MULTILINE_COMMENT})
    | (?P<line>{_INLINE_COMMENT})
    | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{{0,16}})\([\s\S]*?(?:\)(?P=mark)"|\Z)
    | (?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*"?
    | (?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])*'?
    | \.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*  # quotes between digits are no characters
    | [A-Za-z_]\w*
    """,
    re.VERBOSE,
)


class CppHandler(AbstractLanguageHandler):
    """Handler of C++20 with GNU extensions, built by g++ for each run.

    Headers in the working directory can be included by ``#include "..."``. Every library of
    `libraries` that a program uses is linked. A first line such as ``// flags: -O2 -lm helper.cpp``
    sets build options: ``-O``, ``-g``, ``-D``, ``-U``, ``-W``, ``-std=``, ``-l``, ``-fopenmp``,
    ``-march=native``, ``-fsanitize=undefined``, and sources in the working directory.

    A program shows an image by writing it to its working directory, or, to order several, to the
    folder named by ``LLM_SANDBOX_DISPLAYS``, which it has to create: ``0001.png``, ``0002.svg``,
    ``0003.html``.
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
        """Return the steps that build a source file and run the program."""
        program = str(PurePosixPath(file).with_name("main"))
        return [Step(("sh", f"{shim}/build.sh", file), compiles=True), Step((program,))]

    def upkeep(self, shim: str) -> Step | None:
        """Return the command that precompiles the headers of the last program."""
        return Step(("sh", f"{shim}/upkeep.sh"))

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variables by which g++ and programs find Debian packages in a
        folder.
        """
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
        """Parse the first error of the compiler or the linker."""
        return read_compile_error(output, PurePosixPath(file).name)

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse an uncaught exception, a failed assertion, or an abort of the C library."""
        return read_runtime_error(output, PurePosixPath(file).name)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an include of a header or an import of a
        module.
        """
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
    """Return a pattern for an include or import of a header, with or without its extension, of a
    folder of headers, or of a module.
    """
    gap = r"(?:[ \t]|\\\r?\n)*"
    name = re.escape(module)
    header = rf"[<\"]{gap}{name}(?:\.(?:h|hh|hpp|hxx|h\+\+))?(?:/[^>\"\n]*)?{gap}[>\"]"
    directive = rf"(?:#|%:){gap}(?:include|include_next|import){gap}{header}"
    imported = rf"(?:export[ \t]+)?import[ \t]*(?:{header}|{name}(?:[.:][\w.:]*)?[ \t]*(?:;|\[))"
    return rf"^[ \t]*(?:{directive}|{imported})"
