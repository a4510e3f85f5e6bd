"""The corpora of the languages that are read by syntax trees.

A file of `malicious/` is named after the capability that its snippets have; a snippet starts with a
line ``//: technique``, and the line that ends with ``//!`` is where the capability shows; where no
comment can stand, the title says the line: ``//: technique @2``.
"""

from dataclasses import dataclass
from pathlib import Path

__all__ = ["EXTENSIONS", "Snippet", "benign", "malicious"]

EXTENSIONS = {"cpp": "cpp", "go": "go", "java": "java", "javascript": "js"}
_TITLE = "//: "
_HERE = "//!"
_HOME = Path(__file__).parent.parent


@dataclass(frozen=True)
class Snippet:
    """One program of a corpus."""

    lang: str
    capability: str
    """Empty when it has none that matters."""
    title: str
    """The technique, or what it is about."""
    code: str
    line: int
    """Where the capability shows, from 1; 0 when it has none."""

    def __str__(self) -> str:
        return f"{self.lang}-{self.capability or 'benign'}-{self.title}".replace(" ", "_")


def malicious(lang: str) -> list[Snippet]:
    """Return the labelled attacks of a language."""
    return _snippets(lang, "malicious")


def benign(lang: str) -> list[Snippet]:
    """Return the ordinary programs of a language."""
    return _snippets(lang, "benign")


def _snippets(lang: str, kind: str) -> list[Snippet]:
    found = []
    for path in sorted((_HOME / lang / kind).glob(f"*.{EXTENSIONS[lang]}")):
        capability = path.name.removesuffix(f".{EXTENSIONS[lang]}") if kind == "malicious" else ""
        for part in path.read_text().split(_TITLE)[1:]:
            title, _, code = part.partition("\n")
            lines = code.splitlines()
            title, _, line = title.partition(" @")
            marked = (
                [int(line)]
                if line
                else [n for n, text in enumerate(lines, 1) if text.endswith(_HERE)]
            )
            code = "\n".join(text.removesuffix(_HERE).rstrip() for text in lines) + "\n"
            found.append(Snippet(lang, capability, title, code, marked[0] if marked else 0))
    return found
