"""Text: plain, prose and source. Nothing is compiled or rendered."""

import codecs
import re
from typing import ClassVar

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.formats.messages import cut_short, joined
from llm_sandbox.artifacts.formats.textual import decoded, is_text
from llm_sandbox.artifacts.identify import LOOK
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.results.plots import FileType

__all__ = [
    "JavaScriptKind",
    "LatexKind",
    "MarkdownKind",
    "PythonKind",
    "TextKind",
    "TomlKind",
    "YamlKind",
    "encoding_note",
]

_READ = 64 * 1024**2
"""Bytes whose encoding is looked at."""
_BLOCK = 1024**2
_FENCE = re.compile(rb"^ {0,3}```", re.MULTILINE)


class TextKind(ArtifactKind):
    """Text of no known format; the base of those that only their name tells apart."""

    mimes: ClassVar[tuple[str, ...]] = ("text/plain",)
    type = ArtifactType.TEXT
    extensions: ClassVar[tuple[str, ...]] = ("txt", "text", "log", "out")
    label = "plain text"
    needs = LOOK
    file_type: ClassVar[FileType | None] = FileType.TXT
    textual = True

    def matches(self, content: bytes) -> bool:
        """Whether the content is text."""
        # trust: bytes from inside; one fast pass over a bounded part.
        return bool(content) and is_text(content[:LOOK])

    def describe(self, content: bytes) -> Dimensions:
        """Return nothing: how text is laid out, its reader decides."""
        return Dimensions()

    def check(self, content: bytes) -> str:
        """Return where the text stops being text, and whether it steers a terminal."""
        escapes = "holds terminal control sequences" if b"\x1b" in content else ""
        return joined(encoding_note(content), escapes)


class MarkdownKind(TextKind):
    """Markdown."""

    mimes = ("text/markdown", "text/x-markdown")
    extensions = ("md", "markdown", "rmd", "qmd")
    label = "Markdown"
    also = ("text",)
    file_type = None

    def check(self, content: bytes) -> str:
        """Return what `TextKind` does, and whether a block of code is left open."""
        fences = len(_FENCE.findall(content[:_READ]))
        return joined(super().check(content), "a block of code does not end" if fences % 2 else "")


class LatexKind(TextKind):
    """LaTeX: documents and formulas."""

    mimes = ("text/latex", "application/x-latex", "application/x-tex", "text/x-tex")
    extensions = ("tex", "latex", "sty")
    label = "LaTeX"
    also = ("text",)
    file_type = None

    def check(self, content: bytes) -> str:
        """Return what `TextKind` does, and whether the document ends."""
        opened = b"\\begin{document}" in content and b"\\end{document}" not in content
        cut = cut_short("the document does not end") if opened else ""
        return joined(super().check(content), cut)


class PythonKind(TextKind):
    """Python source."""

    mimes = ("text/x-python", "text/x-python3", "application/x-python-code")
    extensions = ("py", "pyi", "pyw")
    label = "Python source"
    also = ("text",)
    file_type = None


class JavaScriptKind(TextKind):
    """JavaScript source."""

    mimes = ("text/javascript", "application/javascript", "application/x-javascript")
    extensions = ("js", "mjs", "cjs")
    label = "JavaScript source"
    also = ("text",)
    file_type = None


class YamlKind(TextKind):
    """YAML, as text."""

    mimes = ("application/yaml", "text/yaml", "application/x-yaml")
    extensions = ("yaml", "yml")
    label = "YAML"
    also = ("text",)
    file_type = None


class TomlKind(TextKind):
    """TOML, as text."""

    mimes = ("application/toml",)
    extensions = ("toml",)
    label = "TOML"
    also = ("text",)
    file_type = None


def encoding_note(content: bytes) -> str:
    """Return where bytes stop being text; empty when they do not.

    Args:
        content: A file, possibly hostile; its first 64 MiB are looked at.
    """
    if not content:
        return ""
    if not is_text(content[:LOOK]):
        return "it is no text"
    if decoded(content[:LOOK]) is None:
        return "its encoding is not known"
    if content.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
        return ""
    decoder = codecs.getincrementaldecoder("utf-8")()
    end = min(len(content), _READ)
    # trust: bytes from inside, decoded block by block: all of it at once may take four times more.
    for start in range(0, end, _BLOCK):
        try:
            decoder.decode(content[start : start + _BLOCK])
        except UnicodeDecodeError:
            return f"it stops being UTF-8 within MiB {start // _BLOCK + 1}"
        if b"\x00" in content[start : start + _BLOCK]:
            return f"it holds zero bytes within MiB {start // _BLOCK + 1}"
    if end == len(content) and decoder.getstate()[0]:
        return cut_short("it ends within a character")
    return ""
