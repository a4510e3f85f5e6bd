"""Parse Python without trusting the text: any text, however deep, noisy or broken."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_sandbox.security.source import Source

__all__ = ["Parsed", "declared_text", "is_too_deep", "parse"]

# The parser works by recursion; what repeats an operator more often is no program of a person.
_DEEP_SIGNS = re.compile(r"(?:[-+~][ \t\f\\\n]*){150}")
_DEEP_NAMES = re.compile(r"(?:\b(?:not|lambda|await)\b[ \t\f:\\\n]*){80}")
_PREFIXES = ("not", "lambda", "await")
_MOST_PREFIXES = 80
_DEEP_WORDS = re.compile(r"\b(?:else|if|elif)\b|\*\*")
_TEXT = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_MOST_ON_A_LINE = 400
_DECLARATION = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)
_PLAIN = frozenset(("utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig", "latin-1", "iso-8859-1"))
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed program, or why there is none.

    Args:
        tree: Its statements; None when it could not be parsed.
        problem: Why not.
        line: Where, from 1; 0 when that is not known.
        column: Where, from 1.
        shift: Characters before the first column that the parser saw, on line 1.
    """

    tree: ast.Module | None
    problem: str = ""
    line: int = 0
    column: int = 1
    shift: int = 0


def parse(text: str) -> Parsed:
    """Parse a program; never raises.

    A byte order mark is left out, and halves of surrogate pairs are read as question marks.
    """
    shift = 0
    if text.startswith("\ufeff"):
        text, shift = text[1:], 1
    if "\x00" in text:
        at = text.index("\x00")
        line = text.count("\n", 0, at) + 1
        return Parsed(None, "contains null characters", line, at - text.rfind("\n", 0, at), shift)
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if is_too_deep(text):
        return Parsed(None, "nested too deeply", shift=shift)
    try:
        # Warnings about escapes would otherwise be printed, or be errors.
        with _LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Parsed(ast.parse(text), shift=shift)
    except SyntaxError as error:
        return Parsed(
            None, error.msg or "invalid syntax", error.lineno or 0, error.offset or 1, shift
        )
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return Parsed(None, str(error) or "nested too deeply", shift=shift)


def declared_text(source: Source) -> tuple[str, str] | None:
    """Return the encoding that a program declares, and the program as that reads it.

    None when it declares none, or one that reads plain text as it is.
    """
    head = "\n".join(source.text[:400].splitlines()[:2])
    match = _DECLARATION.search(head)
    if match is None:
        return None
    codec = match[1].lower().replace("_", "-")
    if codec in _PLAIN or (source.text.isascii() and codec.startswith(("iso-", "cp125", "koi8"))):
        return None
    from llm_sandbox.security.python.decoding import decode

    try:
        text = decode(source.text.encode("utf-8", "replace"), codec)
    except (ValueError, LookupError):
        return None
    if not isinstance(text, str) or text == source.text:
        return None
    return codec, text


def is_too_deep(text: str) -> bool:
    """Return whether parsing or following the text might need more stack than there is."""
    if _DEEP_SIGNS.search(text) and _DEEP_SIGNS.search(_COMMENT.sub("#", text)):
        # Rulers within docstrings are not many in a row that goes on over lines.
        bare = _TEXT.sub("''", _COMMENT.sub("#", text))
        if _DEEP_SIGNS.search(bare):
            return True
    if any(text.count(word) >= _MOST_PREFIXES for word in _PREFIXES) and _DEEP_NAMES.search(text):
        return True
    if len(text) < _MOST_ON_A_LINE * 2:
        return False
    return any(
        len(line) > _MOST_ON_A_LINE * 2 and len(_DEEP_WORDS.findall(line)) > _MOST_ON_A_LINE
        for line in text.split("\n")
    )
