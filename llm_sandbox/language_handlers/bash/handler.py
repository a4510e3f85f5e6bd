"""How Bash is run and scanned."""

import logging
import re
from typing import ClassVar

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig, Step
from llm_sandbox.language_handlers.bash.comments import without_comments
from llm_sandbox.language_handlers.bash.errors import read_error
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.toolchain import Toolchain

__all__ = ["BashHandler"]

# Bash calls code by the path that it is told, and this one is short.
_START = 'here=$PWD; cd "$1" && exec bash --noprofile --norc main.sh "$here"'
_PROGRAM = 'here=$PWD; cd "$1" && file=$2 && shift 2 && exec bash main.sh "$here" "$file" "$@"'


class BashHandler(AbstractLanguageHandler):
    """Bash, in a shell that stays: variables, functions, aliases, options, traps and the working
    directory are those of the run before, also after an `exit`, an interrupt, or an error that ends
    a shell; then jobs are forgotten, and streams are what they were at first.

    A run's exit code is the status of its last command.
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
        """Return the command line of the shell that stays."""
        return ("sh", "-c", _START, "sh", shim)

    def is_program(self, code: str) -> bool:
        """Whether code is a whole program; False.

        Raises:
            ValidationError: There is a NUL character in it, which no shell can hold.
        """
        _check(code)
        return False

    def source_name(self, code: str) -> str:
        """Return the name of a script.

        Raises:
            ValidationError: There is a NUL character in the code, which no shell can hold.
        """
        _check(code)
        return super().source_name(code)

    def plan(self, file: str, shim: str) -> list[Step]:
        """Return what runs a script."""
        return [Step(("sh", "-c", _PROGRAM, "sh", f"{shim}/program", file))]

    def runtime_error(self, output: str, file: str) -> ExecutionError | None:
        """Read the last complaint of the shell itself about the script."""
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
        """Return a regular expression for what people use as a comment: a here-document for `:`."""
        return r"^[ \t]*:[ \t]*<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*\n(?s:.*?)^\t*\2$"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression for a comment; it does not know strings."""
        return r"(?:^|(?<=[\s;&|()]))#.*$"

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments; strings and here-documents stay as they are."""
        return without_comments(code)


def _check(code: str) -> None:
    if "\0" in code:
        raise ValidationError("bash cannot run code with NUL characters in it", parameter="code")
