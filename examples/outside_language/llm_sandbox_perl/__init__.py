"""Perl for llm-sandbox."""

import re
from typing import ClassVar

from llm_sandbox.language_handlers.base import AbstractLanguageHandler, LanguageConfig
from llm_sandbox.toolchain import Toolchain

__all__ = ["PerlHandler"]


class PerlHandler(AbstractLanguageHandler):
    """Perl, in an interpreter that stays."""

    toolchain: ClassVar = Toolchain(programs=("perl",), packages=("perl",))
    config = LanguageConfig(
        name="perl",
        file_extension="pl",
        execution_commands=["perl {file}"],
        package_manager=None,
        is_support_library_installation=False,
    )

    def interpreter(self, shim: str) -> tuple[str, ...]:
        """Return the command line of the interpreter; `shim` is the folder beside this file."""
        return ("perl", f"{shim}/shim.pl")

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches `use` or `require` of a module."""
        return rf"^\s*(?:use|require)\s+{re.escape(module)}\b"

    @staticmethod
    def get_multiline_comment_patterns() -> str:
        """Return a regular expression that matches a block of documentation."""
        return r"^=[a-z][\s\S]*?^=cut\b.*$"

    @staticmethod
    def get_inline_comment_patterns() -> str:
        """Return a regular expression that matches a comment at the start of a line."""
        return r"^\s*#.*$"
