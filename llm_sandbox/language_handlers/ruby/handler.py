"""Ruby handler: runs and scans Ruby programs, and parses their errors."""

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
from llm_sandbox.language_handlers.ruby.packages import GemPackages
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["RubyHandler", "read_error"]

_FILE = "main.rb"
"""File name of a program in Ruby's messages."""

_RAISED = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d{1,9}):in [`'][^\n]*?': (?P<value>[^\n]*)"
    r" \((?P<name>[A-Z][A-Za-z0-9_:]*)\)$",
    re.MULTILINE,
)
_RAISED_LONG = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d{1,9}):in [`'][^\n]*?': (?P<value>[^\n]*)"
    r"(?P<more>(?:\n(?!\t)[^\n]*){0,20}?) \((?P<name>[A-Z][A-Za-z0-9_:]*)\)$",
    re.MULTILINE,
)
_FROM = re.compile(rf"^\tfrom {re.escape(_FILE)}:(\d{{1,9}}):", re.MULTILINE)
_SYNTAX = re.compile(
    rf"^(?:[^\n]*: )?{re.escape(_FILE)}:(\d{{1,9}}): ?"
    r"((?:syntax error|[^\n]*\(SyntaxError\))[^\n]*)",
    re.MULTILINE,
)
_UTF8 = "-EUTF-8"
# Ruby calls a program by the path that it is told.
_PROGRAM = (
    "folder=$1 first=$2; shift 2; "
    f'LLM_SANDBOX_HERE=$PWD exec ruby {_UTF8} -C "$folder" -r "$first" {_FILE} "$@"'
)


class RubyHandler(AbstractLanguageHandler):
    """Handler of Ruby, in a persistent process: top-level local variables, methods, classes and
    threads are kept between runs, also after an `exit`.

    Blocks registered with `at_exit` run at the end of the run that registered them.
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
        """Return the command line of the persistent process."""
        return ("ruby", _UTF8, f"{shim}/shim.rb")

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the step that runs a program."""
        folder = file.rpartition("/")[0]
        return [Step(("sh", "-c", _PROGRAM, "sh", folder, f"{shim}/program.rb"))]

    def library_environment(self, folder: str) -> dict[str, str]:
        """Return the environment variable by which Ruby finds the gems in a folder."""
        return {"GEM_PATH": f"{folder}:"}

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the uncaught exception that ended a program."""
        return read_error(output)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches the loading of `module`, or of a part of it."""
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
        """Return a regular expression for a comment; it ignores string boundaries."""
        return r"#(?![{$@]).*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings, patterns and here-documents are unchanged."""
        return without_comments(code)


def read_error(output: str) -> ExecutionError | None:
    """Parse the uncaught exception that ended a program; None if there is none.

    Args:
        output: End of the program's standard error.
    """
    if found := _SYNTAX.search(output):
        value = found[2].removesuffix(" (SyntaxError)")
        return ExecutionError("SyntaxError", value, line=int(found[1]), kind="syntax")
    found = next(_RAISED.finditer(output), None) or next(_RAISED_LONG.finditer(output), None)
    if found is None:
        return None
    line: int | None = int(found["line"])
    if found["file"] != _FILE:
        source = _FROM.search(output, found.end())
        line = int(source[1]) if source else None
    return ExecutionError(found["name"], found["value"], line=line)
