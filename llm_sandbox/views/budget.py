"""Token estimates of texts and images, from above and without a tokenizer, and budgets of tokens.

Byte-pair tokenizers split text into words, groups of digits, punctuation and spaces first, and no
part ever needs more tokens than it has bytes. The estimate uses the same split and counts for every
part the most tokens that such tokenizers use for ordinary text of its kind; letters that do not
form a pronounceable word, as in base64, count one each.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "Section",
    "TokenCounter",
    "estimate_image_tokens",
    "estimate_tokens",
    "fit",
    "shares",
    "split_budget",
]

TokenCounter = Callable[[str], int]
"""Function that returns the number of tokens of a text."""

CHARACTERS_PER_TOKEN = 16
"""Most characters per token of ordinary text; longer text is cut before counting."""

_PIXELS_PER_TOKEN = 750
"""Pixels per image token; no known provider counts more tokens for an area."""
_SMALLEST_IMAGE = 85
"""Tokens of the smallest image."""

# Cut into what tokenizers never merge across, or what is counted in one way. No alternative can
# fail after a long match, so the time is linear.
_PART = re.compile(
    r"(?P<joined> (?=[!-/:-~]))|(?P<tail>(?<=[0-9])[A-Za-z]+)|(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)|(?P<space> +)|(?P<lines>[\n\t]+)"
    r"|(?P<rule>([-=*#_.~/%+;:<>!])\8+)|(?P<mark>[\x00-\x7f])|(?P<other>[^\x00-\x7f]+)"
)
_CONSONANTS = re.compile(r"[^aeiouyAEIOUY]{5}|[qQ](?![uU])|[jJxXzZvVwW]{2}")


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text.

    Groups of up to 3 digits count one, as do 4 letters of a word; a CJK or other three-byte
    character counts 2 or 3, an emoji up to 4. If a model's tokenizer is available, its exact count
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
    """Return the estimated tokens of an image.

    Args:
        width: Width in pixels.
        height: Height in pixels.
    """
    return max(_SMALLEST_IMAGE, -(-width * height // _PIXELS_PER_TOKEN))


_TRIES = 10
_CLOSE_ENOUGH = 0.9
_MANY = 4
"""Characters per token above which a text needs the whole budget without being counted."""


class Section(Protocol):
    """Part of a view that can be shortened."""

    @property
    def size(self) -> int:
        """Number of characters of content."""

    def render(self, characters: int) -> str:
        """Return the section with about that many characters of content, 0 for its heading alone.

        Args:
            characters: Between 0 and `size`, which gives everything.
        """


def fit(section: Section, tokens: int, count: TokenCounter) -> str:
    """Return as much of a section as the tokens allow; empty when not even its heading fits.

    Args:
        section: The section.
        tokens: Most tokens of the returned text.
        count: Counts the tokens of a text.
    """
    most = min(section.size, max(0, tokens) * CHARACTERS_PER_TOKEN)
    text = section.render(most)
    cost = count(text)
    if cost <= tokens:
        return text
    best = section.render(0)
    least = count(best)
    if least > tokens:
        return ""
    # Interpolation between what fits and what does not: tokens grow about as characters do.
    low, high, low_cost, high_cost = 0, most, least, cost
    for _ in range(_TRIES):
        if high - low <= 1:
            break
        guess = low + int((high - low) * (tokens - low_cost) / max(1, high_cost - low_cost) * 0.98)
        guess = min(max(guess, low + 1), high - 1)
        text = section.render(guess)
        cost = count(text)
        if cost > tokens:
            high, high_cost = guess, cost
            continue
        best, low, low_cost = text, guess, cost
        if cost >= tokens * _CLOSE_ENOUGH:
            break
    return best


def shares(needs: Sequence[int], total: int) -> list[int]:
    """Return the share of each: its whole need if that is small, else an equal share of the rest.

    Args:
        needs: Need of each.
        total: Total to distribute.
    """
    given = [0] * len(needs)
    left = max(0, total)
    order = sorted(range(len(needs)), key=lambda place: needs[place])
    for position, place in enumerate(order):
        given[place] = min(needs[place], left // (len(needs) - position))
        left -= given[place]
    return given


def split_budget(sections: Sequence[Section], tokens: int, count: TokenCounter) -> list[str]:
    """Return the text of each section, all of them together within the budget.

    Headings come first, as long as there is room; the rest is shared, and what a section does not
    use goes to those that were cut.

    Args:
        sections: The sections, in order; when the budget is too small the last are empty.
        tokens: Budget of all sections together.
        count: Counts the tokens of a text.
    """
    texts = [""] * len(sections)
    least = [count(section.render(0)) for section in sections]
    kept = []
    for place, cost in enumerate(least):
        if cost <= tokens:
            tokens -= cost
            kept.append(place)
    needs = [_need(sections[place], least[place], tokens, count) for place in kept]
    for _ in range(2):
        given = shares(needs, tokens)
        used = []
        for place, share in zip(kept, given, strict=True):
            texts[place] = fit(sections[place], least[place] + share, count)
            used.append(count(texts[place]) - least[place])
        # The second round hands out what the first did not use up, to those that were cut.
        cut = [share < need for need, share in zip(needs, given, strict=True)]
        if not any(cut):
            break
        needs = [n if more else use for n, more, use in zip(needs, cut, used, strict=True)]
    return texts


def _need(section: Section, least: int, tokens: int, count: TokenCounter) -> int:
    """Return the tokens that a section could use beyond its heading, at most the budget."""
    if section.size > tokens * _MANY:
        return tokens
    return min(tokens, max(0, count(section.render(section.size)) - least))
