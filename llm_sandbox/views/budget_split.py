"""A budget of tokens shared out between the sections of a view."""

from collections.abc import Sequence
from typing import Protocol

from llm_sandbox.views.budget import CHARACTERS_PER_TOKEN, TokenCounter

__all__ = ["Section", "fit", "shares", "split_budget"]

_TRIES = 10
_CLOSE_ENOUGH = 0.9
_MANY = 4
"""Characters to a token that are enough to want the whole budget without being counted."""


class Section(Protocol):
    """A part of a view that can be made shorter."""

    @property
    def size(self) -> int:
        """Characters of content that it has."""

    def render(self, characters: int) -> str:
        """Return the section with about that much of its content, 0 for its heading alone.

        Args:
            characters: Between 0 and `size`, which gives everything.
        """


def fit(section: Section, tokens: int, count: TokenCounter) -> str:
    """Return as much of a section as tokens allow; empty when not even its heading fits.

    Args:
        section: The section.
        tokens: The most that the returned text takes.
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
    """Return what each gets: all it needs where that is little, else an equal share of the rest.

    Args:
        needs: What each could use.
        total: What there is.
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

    Every section gets its heading first, as long as there is room; what is left is shared, and what
    one does not use goes to those that were cut.

    Args:
        sections: The sections, in order; when there is no room for all the last are empty.
        tokens: The budget of all together.
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
    """What a section could use beyond its heading, at most the budget."""
    if section.size > tokens * _MANY:
        return tokens
    return min(tokens, max(0, count(section.render(section.size)) - least))
