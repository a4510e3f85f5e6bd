"""Bash handler: runs and scans Bash scripts, and parses their errors."""

import logging
import re
from typing import ClassVar

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig, Step
from llm_sandbox.language_handlers.bash.comments import without_comments
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["BashHandler", "read_error"]

# Bash calls code by the path that it is told, and this one is short.
_START = 'here=$PWD; cd "$1" && exec bash --noprofile --norc main.sh "$here"'
_PROGRAM = 'here=$PWD; cd "$1" && file=$2 && shift 2 && exec bash main.sh "$here" "$file" "$@"'
_SAID = re.compile(r"^main\.sh: (?:eval: )?line (\d{1,9}): (.*)$", re.MULTILINE)
_SYNTAX = ("syntax error", "unexpected EOF", "unexpected end of file")


class BashHandler(AbstractLanguageHandler):
    """Handler of Bash, in a persistent shell. Variables, functions, aliases, options, traps and the
    working directory are kept between runs, also after an `exit`, an interrupt, or an error that
    ends the shell; in these cases jobs are lost, and streams are reset.

    The exit code of a run is the status of its last command.
    """

    toolchain: ClassVar[Toolchain | None] = Toolchain(("bash",), ("bash",))

    def __init__(self, logger: logging.Logger | None = None) -> None:
        super().__init__(logger)
        self.config = LanguageConfig(
            name="bash",
            file_extension="sh",
            execution_commands=["bash {file}"],
            package_manager=None,
            is_support_library_installation=False,
        )

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of the persistent shell."""
        return ("sh", "-c", _START, "sh", shim)

    def is_program(self, code: str) -> bool:
        """Return False, after checking the code.

        Raises:
            ValidationError: The code has a NUL character, which no shell accepts.
        """
        _check(code)
        return False

    def source_name(self, code: str) -> str:
        """Return the file name of a script.

        Raises:
            ValidationError: The code has a NUL character, which no shell accepts.
        """
        _check(code)
        return super().source_name(code)

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return the step that runs a script."""
        return [Step(("sh", "-c", _PROGRAM, "sh", f"{shim}/program", file))]

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Parse the last error that the shell reported about the script."""
        return read_error(output)

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches where the file `module` is sourced, or the
        program `module` is run.
        """
        name = re.escape(module)
        words = "if|elif|then|else|while|until|do|exec|command|sudo|env|xargs|source|time"
        before = rf"(?:^|[;&|({{`!]|(?<![\w.-])(?:{words})(?=\s)|(?<!\S)\.(?=\s))[ \t]{{0,80}}"
        return rf"{before}['\"]?(?:[^\s;&|'\"(){{}}`]{{0,200}}/)?{name}['\"]?(?![\w.-])"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression for the common substitute of a block comment: a here-document
        for `:`.
        """
        return r"^[ \t]*:[ \t]*<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*\n(?s:.*?)^\t*\2$"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it ignores string boundaries."""
        return r"(?:^|(?<=[\s;&|()]))#.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings and here-documents are unchanged."""
        return without_comments(code)


def _check(code: str) -> None:
    if "\0" in code:
        raise ValidationError("bash cannot run code with NUL characters in it", parameter="code")


def read_error(output: str) -> ExecutionError | None:
    """Parse the last error that Bash reported about a script; None if there is none.

    Args:
        output: End of the script's standard error.
    """
    last: ExecutionError | None = None
    for found in _SAID.finditer(output):
        line, value = int(found[1]), found[2]
        if any(words in value for words in _SYNTAX):
            # What follows is the line itself.
            return ExecutionError("SyntaxError", value, line=line, kind="syntax")
        last = ExecutionError("BashError", value, line=line)
    return last
