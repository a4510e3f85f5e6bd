"""How many tokens a model will see in a text or an image, estimated from above without a tokenizer.

Byte-pair tokenizers split text into words, groups of digits, punctuation and spaces first, and no
part ever needs more tokens than it has bytes. The estimate follows the same split and gives every
part what such tokenizers take at most for ordinary text of its kind; letters that form no
pronounceable word, as in base64, count one each.
"""

import re
from collections.abc import Callable

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "TokenCounter",
    "estimate_image_tokens",
    "estimate_tokens",
]

TokenCounter = Callable[[str], int]
"""Returns the number of tokens of a text."""

CHARACTERS_PER_TOKEN = 16
"""No text worth showing has more characters to a token; what is longer is cut before counting."""

_PIXELS_PER_TOKEN = 750
"""Providers count images by area; none that is known takes more tokens for as many pixels."""
_SMALLEST_IMAGE = 85
"""What even a tiny image takes."""

# Cut into what tokenizers never merge across, or what is counted in one way. No alternative can
# fail after a long match, so the time is linear.
_PART = re.compile(
    r"(?P<joined> (?=[!-/:-~]))|(?P<tail>(?<=[0-9])[A-Za-z]+)|(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)|(?P<space> +)|(?P<lines>[\n\t]+)"
    r"|(?P<rule>([-=*#_.~/%+;:<>!])\8+)|(?P<mark>[\x00-\x7f])|(?P<other>[^\x00-\x7f]+)"
)
_CONSONANTS = re.compile(r"[^aeiouyAEIOUY]{5}|[qQ](?![uU])|[jJxXzZvVwW]{2}")


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text takes, rather too many than too few.

    Groups of up to 3 digits count one, as do 4 letters of a word; a CJK or other three-byte
    character counts 2 or 3, an emoji up to 4. Where a model's tokenizer is at hand, its exact count
    is better.

    Args:
        text: The text; the time is linear in its length.
    """
    total = 0
    for match in _PART.finditer(text):
        part, kind = match[0], match.lastgroup
        size = len(part)
        if kind == "word":
            total += _word(part)
        elif kind == "digits":
            total += -(-size // 3)
        elif kind == "tail":
            total += max(_word(part), -(-size // 2))
        elif kind == "space":
            total += 1 + size // 64
        elif kind == "lines":
            total += 1 + size // 8
        elif kind == "rule":
            total += 1 + size // 6
        elif kind == "mark":
            total += 1
        elif kind == "other":
            total += sum(map(_bytes_bound, part))
        # What is left is a space before a word, which is part of the word's token.
    return total


def _word(word: str) -> int:
    size = len(word)
    if size == 1:
        return 1
    if not (word[1:].islower() or word.isupper()) or size > 40 or _CONSONANTS.search(word):
        return _camel(word)
    return -(-size // 2) if word.isupper() and size > 3 else _letters(size)


def _camel(word: str) -> int:
    # Names such as `parseHttpUrl` are words; anything else of mixed case counts by its letters.
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", word)
    if len(pieces) * 3 > len(word) or len(word) > 40 or _CONSONANTS.search(word):
        return len(word)
    return sum(_letters(len(piece)) for piece in pieces)


def _letters(size: int) -> int:
    return max(1, -(-(size - 1) // 3))


def _bytes_bound(character: str) -> int:
    code = ord(character)
    if code < 0x800:
        return 1 if 0x370 <= code < 0x700 or 0xC0 <= code < 0x100 else 2
    if 0x3040 <= code < 0x3100 or 0x4E00 <= code < 0xA000 or 0xAC00 <= code < 0xD7B0:
        return 2
    return 3 if code < 0x10000 else 4


def estimate_image_tokens(width: int, height: int) -> int:
    """Return how many tokens an image takes.

    Args:
        width: Width in pixels.
        height: Height in pixels.
    """
    return max(_SMALLEST_IMAGE, -(-width * height // _PIXELS_PER_TOKEN))
