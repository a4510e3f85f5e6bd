"""How TypeScript is run: JavaScript whose types are taken away."""

import logging
from typing import ClassVar

from llm_sandbox.language_handlers.base import LanguageConfig, Step
from llm_sandbox.language_handlers.javascript.errors import transpile_error
from llm_sandbox.language_handlers.javascript.handler import JavaScriptHandler
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["TypeScriptHandler"]


class TypeScriptHandler(JavaScriptHandler):
    """TypeScript, in a Node.js process that stays. Types are not checked."""

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
        """Return ``main.mts`` for code that only a module may hold, else ``main.ts``."""
        return super().source_name(code).replace("js", "ts")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return two steps: types away, and the program."""
        script = file.removesuffix("ts") + "js"
        run = ("node", "--enable-source-maps", "--require", f"{shim}/program.cjs", script)
        return [Step(("node", f"{shim}/transpile.cjs", file), compiles=True), Step(run)]

    def compile_error(self, output: str, file: str) -> ExecutionError | None:
        """Read where the code does not parse."""
        return transpile_error(output, file)
