"""How JavaScript is run, installed and scanned."""

import logging
import re
from typing import ClassVar

from llm_sandbox.language_handlers.base import (
    AbstractLanguageHandler,
    LanguageConfig,
    PlotDetectionConfig,
    PlotLibrary,
    Step,
)
from llm_sandbox.language_handlers.javascript.comments import is_module, without_comments
from llm_sandbox.language_handlers.javascript.errors import uncaught_error
from llm_sandbox.language_handlers.javascript.packages import NpmPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["NODE", "JavaScriptHandler"]

NODE = ("node", "--no-force-async-hooks-checks")
"""Node.js; when code is stopped in the middle of a callback, its book-keeping of callbacks is not
what a check of its own expects, which would end the process."""


class JavaScriptHandler(AbstractLanguageHandler):
    """JavaScript, in a Node.js process that stays."""

    takes_names = True
    toolchain: ClassVar = Toolchain(("node",), ("nodejs",))
    packages: ClassVar = NpmPackages()

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="javascript",
            file_extension="js",
            execution_commands=["node {file}"],
            package_manager="npm install --no-audit --no-fund --",
            plot_detection=PlotDetectionConfig(
                libraries=[PlotLibrary.VEGA, PlotLibrary.D3, PlotLibrary.CHARTJS]
            ),
        )

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of the process that stays."""
        return (*NODE, f"{shim}/shim.cjs", self.name)

    def source_name(self, code: str) -> str:
        """Return ``main.mjs`` for code that only a module may hold, else ``main.js``."""
        return "main.mjs" if is_module(code) else "main.js"

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the one step that runs a file."""
        return [Step(("node", "--require", f"{shim}/program.cjs", file))]

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variable by which Node.js finds packages; the shim has `import` heed it."""
        return {"NODE_PATH": f"{folder}/node_modules"}

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the error that ended a program."""
        return uncaught_error(output, file)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches an import of `module`.

        It matches a path within the package as well, and a module of Node's own with and without
        ``node:`` before its name.
        """
        name = rf"(?:node:)?{re.escape(module.removeprefix('node:'))}(?:/[^'\"`\n]*)?"
        quoted = rf"(?:'{name}'|\"{name}\"|`{name}`)"
        return (
            rf"(?<![\w$.])(?:require(?:\.resolve)?|import)\s*\(\s*{quoted}"
            rf"|(?<![\w$.])import\s*{quoted}"
            rf"|(?<![\w$])from\s*{quoted}"
        )

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for a comment between marks; it does not know strings."""
        return r"/\*[\s\S]*?\*/"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it does not know strings."""
        return r"//.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings, templates and regular expressions stay whole
        and lines keep their numbers.
        """
        return without_comments(code)
