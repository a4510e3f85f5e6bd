"""Unicode characters that make code look different from what runs.

Code in ASCII is checked for control characters only. Identifiers are checked in code only: strings
and comments may be in any language.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.raw_findings import RawFinding
from llm_sandbox.security.source import Source

__all__ = ["find_hidden_text"]

_MOST = 100

_CONTROLS = re.compile("[\0\x08\x1b]")
_LONE_RETURN = re.compile(r"\r(?!\n)")

# Characters without width, fillers, and bidirectional controls.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]"
    "|[\U000e0000-\U000e007f]+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}"
)
_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_FLAG = "\U0001f3f4"
_REGION = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

# Letters of other alphabets that look like an ASCII letter.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijshdqwlABEKMHOPCTYXIJSoABEZHIKMNOPTYX",
)
_LETTERS = "".join(map(chr, _ALIKE))
# Those, and the compatibility forms of ASCII: full width, mathematical, letterlike, ligatures.
_SUSPECT = re.compile(
    f"[{_LETTERS}\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff"
    "\u2100-\u214f\ufb00-\ufb06\u017f\u1e9b\u2071\u207f\u2090-\u209c\u02b0-\u02b8\u1d2c-\u1d6a]"
)
_WORD = re.compile(r"\w+")
_PLAIN_WORD = re.compile(r"(?a:\w+)")


def find_hidden_text(source: Source) -> list[RawFinding]:
    """Return the deceptive characters in code: at most 100, in order.

    NUL, backspace, escape and lone carriage returns; bidirectional controls and hidden tags
    anywhere; zero-width characters beside a name; names that are, or look like, names in ASCII
    without being written so.

    Args:
        source: The code.
    """
    text = source.text
    found = _controls(source)
    if not text.isascii():
        found.extend(_unseen(source))
        if _SUSPECT.search(text):
            found.extend(_names(source))
    return sorted(found, key=lambda one: (one.span.line, one.span.column))[:_MOST]


def _controls(source: Source) -> list[RawFinding]:
    text = source.text
    found = [
        _character(source, match.start(), match.end())
        for match in islice(_CONTROLS.finditer(text), _MOST)
    ]
    # A lone carriage return may end a line for the language but not for an editor.
    if "\r" in text and "\n" in text:
        found.extend(
            _character(source, match.start(), match.end(), "medium")
            for match in islice(_LONE_RETURN.finditer(text), _MOST)
        )
    return found


def _unseen(source: Source) -> Iterator[RawFinding]:
    text = source.text
    code: str | None = None
    count = 0
    for match in _UNSEEN.finditer(text):
        start, end = match.span()
        character = match[0][0]
        if character not in _TURNS and not _is_smuggled(text, start, end):
            if character == "\ufeff" and not start:
                continue  # marks the encoding
            code = _code_of(source) if code is None else code
            if not _beside_name(text, code, start):
                continue
        yield _character(source, start, end)
        count += 1
        if count == _MOST:
            return


def _is_smuggled(text: str, start: int, end: int) -> bool:
    """Return whether a run consists of characters without any other use there."""
    if "\U000e0000" <= text[start] <= "\U000e007f":
        # The flag of a region is spelt with them.
        return text[start - 1 : start] != _FLAG or not _REGION.fullmatch(text, start, end)
    return end - start > 1


def _beside_name(text: str, code: str, at: int) -> bool:
    """Return whether an offset is in code, or between ASCII letters anywhere."""
    sides = (text[at - 1 : at], text[at + 1 : at + 2])
    if all(side.isascii() and (side.isalnum() or side == "_") for side in sides if side):
        return all(sides)
    in_code = code[at] == text[at]
    return in_code and any(side.isalnum() or side == "_" for side in sides)


def _character(source: Source, start: int, end: int, confidence: Confidence = "high") -> RawFinding:
    character = source.text[start]
    name = unicodedata.name(character, "") or _CONTROL_NAMES.get(character, "")
    subject = f"U+{ord(character):04X} {name}".strip()
    return RawFinding(Capability.HIDDEN_TEXT, source.span(start, end), subject, confidence)


_CONTROL_NAMES = {"\0": "NULL", "\x08": "BACKSPACE", "\r": "CARRIAGE RETURN", "\x1b": "ESCAPE"}


def _names(source: Source) -> Iterator[RawFinding]:
    # Comments are only located when a word might be a disguised name.
    words = [match for match in _WORD.finditer(source.text) if _is_alike(match[0])]
    if not words:
        return
    code = _code_of(source)
    plain: set[str] | None = None
    count = 0
    for match in words:
        word, (start, end) = match[0], match.span()
        if code[start:end] != word:
            continue
        normal = unicodedata.normalize("NFKC", word)
        # Python normalises the word to that name, or it mixes two alphabets.
        confidence: Confidence = "high"
        if not any(c.isascii() and c.isalpha() for c in normal):
            plain = set(_PLAIN_WORD.findall(code)) if plain is None else plain
            if normal.translate(_ALIKE) not in plain:
                continue
            confidence = "medium"
        yield RawFinding(
            Capability.HIDDEN_TEXT,
            source.span(start, end),
            normal.translate(_ALIKE),
            confidence,
            f"by a name in other letters: {ascii(word)[1:-1]}",
        )
        count += 1
        if count == _MOST:
            return


def _is_alike(word: str) -> bool:
    """Return whether a word with non-ASCII letters looks like one in ASCII."""
    if word.isascii() or not word.isidentifier() or not _SUSPECT.search(word):
        return False
    return unicodedata.normalize("NFKC", word).translate(_ALIKE).isascii()


def _code_of(source: Source) -> str:
    from llm_sandbox.security.lexical.regions import mask

    return mask(source.text, source.lang, "code")
