"""How Ruby is run, installed and scanned."""

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
from llm_sandbox.language_handlers.ruby.comments import without_comments
from llm_sandbox.language_handlers.ruby.errors import FILE, read_error
from llm_sandbox.language_handlers.ruby.packages import GemPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["RubyHandler"]

_UTF8 = "-EUTF-8"
# Ruby calls a program by the path that it is told.
_PROGRAM = (
    "folder=$1 first=$2; shift 2; "
    f'LLM_SANDBOX_HERE=$PWD exec ruby {_UTF8} -C "$folder" -r "$first" {FILE} "$@"'
)


class RubyHandler(AbstractLanguageHandler):
    """Ruby, in a process that stays: local variables of the code, methods, classes and threads are
    those of the run before, also after an `exit`.

    Blocks of the code for `at_exit` run at the end of the run that set them.
    """

    toolchain: ClassVar[Toolchain | None] = Toolchain(("ruby",), ("ruby",))
    packages: ClassVar = GemPackages()

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="ruby",
            file_extension="rb",
            execution_commands=["ruby {file}"],
            package_manager="gem install --no-document --",
            plot_detection=PlotDetectionConfig(libraries=[PlotLibrary.GRUFF]),
        )

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of the process that stays."""
        return ("ruby", _UTF8, f"{shim}/shim.rb")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return what runs a program."""
        folder = file.rpartition("/")[0]
        return [Step(("sh", "-c", _PROGRAM, "sh", folder, f"{shim}/program.rb"))]

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the variables by which Ruby finds the gems in a folder."""
        return {"GEM_PATH": f"{folder}:"}

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the uncaught exception that ended a program."""
        return read_error(output)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches where `module`, or a part of it, is loaded."""
        name = re.escape(module)
        call = r"(?<![\w.@$:])(?:Kernel\.)?(?:require(?:_relative)?|load|gem|autoload)(?![\w?!=])"
        return (
            rf"{call}[ \t]*\(?[ \t]*(?::\w{{1,80}}[ \t]*,[ \t]*)?"
            rf"(?:['\"]|%[qQ][({{\[<])(?:\./)?{name}(?:\.rb)?(?:/[^'\"\n]*)?['\")}}\]>]"
        )

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for a comment between ``=begin`` and ``=end``."""
        return r"^=begin(?=\s)(?:[^\n]*\n)(?:(?!=end(?:\s|\Z))[^\n]*\n)*(?:=end[^\n]*|\Z)"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it does not know strings."""
        return r"#(?![{$@]).*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings, patterns and here-documents stay as they are."""
        return without_comments(code)
