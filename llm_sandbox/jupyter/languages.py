"""Language metadata for Jupyter front ends: names, MIME types, file extensions, highlighters."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["LOGOS", "NotebookLanguage", "notebook_language"]

LOGOS = Path(__file__).parent / "logo"
"""Folder of the kernels' pictures, named as Jupyter looks for them."""

_VERSION = re.compile(r"\d+(?:\.\d+)+", re.ASCII)
_VERSION_S = 20.0


@dataclass(frozen=True)
class NotebookLanguage:
    """Metadata of a language for Jupyter, editors and highlighters."""

    lang: str
    """Name of the language in this library."""
    name: str
    """Name in notebooks, as reported by other kernels of the language."""
    title: str
    """Display name."""
    mimetype: str
    """MIME type of source text."""
    extension: str
    """Extension of source files, with the dot."""
    lexer: str
    """Name of the lexer in Pygments."""
    mode: str | dict[str, Any]
    """Mode in CodeMirror."""
    version: tuple[str, ...] = ()
    """Command that prints the version; empty for none."""

    @property
    def is_python(self) -> bool:
        """Whether the kernel is ipykernel, which answers all requests itself."""
        return self.lang == SupportedLanguage.PYTHON

    def info(self, version: str) -> dict[str, Any]:
        """Return the `language_info` of a kernel and of its notebooks.

        Args:
            version: Version of the language; empty if unknown.
        """
        return {
            "name": self.name,
            "version": version,
            "mimetype": self.mimetype,
            "file_extension": self.extension,
            "pygments_lexer": self.lexer,
            "codemirror_mode": self.mode,
        }

    def find_version(self, sandbox: Sandbox) -> str:
        """Return the version of the language in a sandbox; empty if unknown."""
        if not self.version:
            return ""
        try:
            done = sandbox.check(*self.version, timeout=_VERSION_S)
        except SandboxError:
            return ""
        # trust: a program in the sandbox says so; digits and dots alone are taken.
        found = _VERSION.search((done.stdout + done.stderr)[:1000])
        return found[0][:40] if found else ""


_LANGUAGES = {
    language.lang: language
    for language in (
        NotebookLanguage(
            "python", "python", "Python", "text/x-python", ".py", "ipython3", "ipython"
        ),
        NotebookLanguage(
            "javascript",
            "javascript",
            "JavaScript",
            "application/javascript",
            ".js",
            "javascript",
            "javascript",
            ("node", "--version"),
        ),
        NotebookLanguage(
            "typescript",
            "typescript",
            "TypeScript",
            "text/typescript",
            ".ts",
            "typescript",
            {"name": "javascript", "typescript": True},
            ("tsc", "--version"),
        ),
        NotebookLanguage("r", "R", "R", "text/x-r-source", ".r", "r", "r", ("R", "--version")),
        NotebookLanguage(
            "ruby",
            "ruby",
            "Ruby",
            "application/x-ruby",
            ".rb",
            "ruby",
            "ruby",
            ("ruby", "--version"),
        ),
        NotebookLanguage(
            "bash", "bash", "Bash", "text/x-sh", ".sh", "bash", "shell", ("bash", "--version")
        ),
        NotebookLanguage(
            "java",
            "java",
            "Java",
            "text/x-java-source",
            ".java",
            "java",
            "text/x-java",
            ("java", "-version"),
        ),
    )
}


def notebook_language(lang: str) -> NotebookLanguage:
    """Return the metadata of a language.

    Args:
        lang: Name of the language, or an alias.

    Raises:
        LanguageNotSupportedError: The language is unknown.
        UnsupportedError: The language keeps no state between cells, and so cannot be a kernel.
    """
    name = language_name(lang)
    handler = LanguageHandlerFactory.create_handler(name)
    known = _LANGUAGES.get(handler.name)
    if known is None or not known.is_python:
        _check_state(handler)
    return known or _described(handler)


def _check_state(handler: AbstractLanguageHandler) -> None:
    if handler.interpreter("") is not None:
        return
    lang = handler.name
    raise UnsupportedError(
        f"a notebook kernel of {lang}",
        reason="it is compiled, and every run is a program of its own: no cell would know what "
        "the cells before it defined",
        hint=f"run whole programs: llm-sandbox run --lang {lang} FILE, or in a notebook of Python: "
        f"%load_ext llm_sandbox, and cells that begin with %%sandbox --lang {lang}",
    )


def _described(handler: AbstractLanguageHandler) -> NotebookLanguage:
    """Return the metadata of a language registered by another package."""
    name = handler.name
    extension = f".{handler.file_extension}"
    return NotebookLanguage(name, name, name.title(), "text/plain", extension, "text", "text")
