"""What front ends have to know of a language: its names, and how its files and code are called."""

import re
from dataclasses import dataclass
from typing import Any

from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["NotebookLanguage", "notebook_language"]

_VERSION = re.compile(r"\d+(?:\.\d+)+", re.ASCII)
_VERSION_S = 20.0


@dataclass(frozen=True)
class NotebookLanguage:
    """A language, in the words of Jupyter and of the editors and highlighters behind it."""

    lang: str
    """Its name here."""
    name: str
    """Its name in notebooks: what other kernels of the language say, so that tools know it."""
    title: str
    """What people call it."""
    mimetype: str
    """Type of its source text."""
    extension: str
    """Extension of its source files, with the dot."""
    lexer: str
    """Name of its highlighter in Pygments."""
    mode: str | dict[str, Any]
    """Its mode in CodeMirror."""
    version: tuple[str, ...] = ()
    """The program that says its version; none when there is no such program."""

    @property
    def is_python(self) -> bool:
        """Whether its kernel is Jupyter's own, which answers for itself."""
        return self.lang == SupportedLanguage.PYTHON

    def info(self, version: str) -> dict[str, Any]:
        """Return the `language_info` of a kernel and of its notebooks.

        Args:
            version: Of the language; empty when it is not known.
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
        """Return the version that a sandbox has; empty when it does not say."""
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
    """Return what front ends have to know of a language.

    Args:
        lang: Its name here, or another usual one.

    Raises:
        LanguageNotSupportedError: There is no such language.
        UnsupportedError: It keeps no state from cell to cell, and so can be no kernel.
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
    """A language that was added from outside."""
    name = handler.name
    extension = f".{handler.file_extension}"
    return NotebookLanguage(name, name, name.title(), "text/plain", extension, "text", "text")
