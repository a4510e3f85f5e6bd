"""Which language a source file is in: by its name, else by its first line."""

import re
from pathlib import Path

from llm_sandbox.cli.grammar import UsageError

__all__ = ["LANGUAGES", "language_of", "source_language"]

LANGUAGES = {
    ".py": "python",
    ".ipynb": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".jsx": "javascript",
    ".java": "java",
    ".c": "cpp",
    ".h": "cpp",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".hpp": "cpp",
    ".go": "go",
    ".rb": "ruby",
    ".r": "r",
    ".sh": "bash",
    ".bash": "bash",
}
"""Language by the ending of a file's name, with its dot."""
_INTERPRETERS = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "ruby": "ruby",
    "rscript": "r",
    "bash": "bash",
    "sh": "bash",
    "dash": "bash",
}
_SHEBANG = re.compile(
    rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?([A-Za-z]+)[\d.]*(?:\s|\Z)"
)


def language_of(path: Path) -> str | None:
    """The language by a file's name, else by its first line; None for what is no code."""
    lang = LANGUAGES.get(path.suffix.lower())
    if lang is not None or not path.is_file():
        return lang
    with path.open("rb") as file:
        first = file.readline(200)
    found = _SHEBANG.match(first)
    return _INTERPRETERS.get(found[1].decode("ascii").lower()) if found else None


def source_language(path: Path) -> str:
    """The language of a file that is to be run; Python for one whose name says nothing.

    Raises:
        UsageError: Its name says that it is something else.
    """
    if path.suffix.lower() == ".ipynb":
        raise UsageError(
            f"{path} is a notebook, not a program",
            "llm-sandbox kernelspec install, then nbconvert or papermill runs it in a sandbox",
        )
    lang = language_of(path)
    if lang is None and path.suffix and path.is_file():
        known = ", ".join(name for name in LANGUAGES if name != ".ipynb")
        raise UsageError(
            f"cannot tell the language of {path} by its name: expected one of {known}",
            "--lang NAME says it",
        )
    return lang or "python"
