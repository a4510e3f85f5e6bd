"""JavaScript and TypeScript handlers: run and scan programs with Node.js."""

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
from llm_sandbox.language_handlers.javascript.errors import transpile_error, uncaught_error
from llm_sandbox.language_handlers.javascript.packages import NpmPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["NODE", "JavaScriptHandler", "TypeScriptHandler"]

NODE = ("node", "--no-force-async-hooks-checks")
"""Command of Node.js. When code is interrupted inside a callback, the async hooks of Node.js are in
a state that its own check would reject by ending the process."""


class JavaScriptHandler(AbstractLanguageHandler):
    """Handler of JavaScript, in a persistent Node.js process."""

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
        """Return the command line of the persistent process."""
        return (*NODE, f"{shim}/shim.cjs", self.name)

    def source_name(self, code: str) -> str:
        """Return ``main.mjs`` for code that is valid only as a module, else ``main.js``."""
        return "main.mjs" if is_module(code) else "main.js"

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the one step that runs a file."""
        return [Step(("node", "--require", f"{shim}/program.cjs", file))]

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variable by which Node.js finds packages; the shim makes `import`
        use it too.
        """
        return {"NODE_PATH": f"{folder}/node_modules"}

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the error that ended a program."""
        return uncaught_error(output, file)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression (multi-line mode) that matches an import of `module`.

        The expression also matches a path within the package, and a built-in module of Node.js with
        and without the prefix ``node:``.
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
        """Return a regular expression for a comment of several lines; it ignores string
        boundaries.
        """
        return r"/\*[\s\S]*?\*/"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment to the end of the line; it ignores string
        boundaries.
        """
        return r"//.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings, templates, regular expressions and line numbers
        do not change.
        """
        return without_comments(code)


class TypeScriptHandler(JavaScriptHandler):
    """Handler of TypeScript, in a persistent Node.js process. Types are not checked."""

    toolchain: ClassVar = Toolchain(("node", "tsc"), ("nodejs", "node-typescript"))

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="typescript",
            file_extension="ts",
            execution_commands=["tsx {file}"],
            package_manager=self.config.package_manager,
            plot_detection=self.config.plot_detection,
        )

    def source_name(self, code: str) -> str:
        """Return ``main.mts`` for code that is valid only as a module, else ``main.ts``."""
        return super().source_name(code).replace("js", "ts")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return two steps: transpile, and run the program."""
        script = file.removesuffix("ts") + "js"
        run = ("node", "--enable-source-maps", "--require", f"{shim}/program.cjs", script)
        return [Step(("node", f"{shim}/transpile.cjs", file), compiles=True), Step(run)]

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the syntax error of the transpiler."""
        return transpile_error(output, file)
