r"""Search for the regular expressions of a policy, within a budget of time.

Expressions have the syntax of `re`, and are searched by `regex`, which can be interrupted. Where
the two differ in syntax (``{e}`` is no fuzzy match, ``[[:alpha:]]`` no named class), `re` is
followed. One difference remains: ``\w``, which in `regex` includes combining marks.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import process_time
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import Span
from llm_sandbox.security.models import PatternTarget, SecurityPattern
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    import regex

__all__ = ["PatternHit", "compile_pattern", "search"]

_USUAL = 100_000
_MOST_REPEATED = 10_000

_REPEAT = re.compile(r"\{(?:([0-9]+)(?:,([0-9]*))?|,([0-9]*))\}")
_NAMED = re.compile(r"\\N\{[^}]*\}")
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")


@dataclass(frozen=True, slots=True)
class PatternHit:
    """Match of a pattern."""

    index: int
    """Index of the pattern, from 0."""
    span: Span
    """Span of the first match; the first line when the search timed out."""
    timed_out: bool
    """Whether the search timed out, so that a match is assumed."""


def search(
    patterns: Sequence[SecurityPattern],
    source: Source,
    mask: Callable[[PatternTarget], str],
    budget_s: float = 0.25,
) -> list[PatternHit]:
    r"""Return the first match of each pattern that matches, in the order of the patterns.

    A search that times out counts as a match, and so does a pattern that cannot be searched. Line
    ends of any kind are seen as ``\n``.

    Args:
        patterns: Patterns to search for.
        source: The code, for positions.
        mask: Returns the code as a target sees it, of the same length.
        budget_s: Seconds of processor time of this process for all patterns together, for code of
            up to 100,000 characters; longer code has proportionally more. Patterns share it
            equally, and unused time is left to the others.
    """
    texts: dict[PatternTarget, str] = {}
    hits: dict[int, PatternHit] = {}
    undecided = list(range(len(patterns)))
    left = budget_s * max(1.0, len(source.text) / _USUAL)
    while undecided and left > 0:
        share, late = left / len(undecided), []
        for index in undecided:
            pattern = patterns[index]
            if pattern.target not in texts:
                texts[pattern.target] = _with_plain_ends(mask(pattern.target))
            started = process_time()
            try:
                found = _find(pattern, texts[pattern.target], share)
            except (TimeoutError, MemoryError):
                late.append(index)
            else:
                if found is not None:
                    hits[index] = PatternHit(index, source.span(*found), timed_out=False)
            left -= process_time() - started
        if len(late) == len(undecided):
            break
        undecided = late
    for index in undecided:
        hits[index] = PatternHit(index, source.line_span(1), timed_out=True)
    return [hits[index] for index in sorted(hits)]


def compile_pattern(pattern: str, *, ignore_case: bool = False) -> "regex.Pattern[str]":
    """Compile an expression of `re` by `regex`, whose searches can be interrupted.

    Args:
        pattern: The expression; `^` and `$` match at each line.
        ignore_case: Whether matching is case-insensitive.

    Raises:
        ValueError: The pattern is not a regular expression, is nested too deeply, or has counted
            repetitions for which `regex` would take too much memory before searching.
    """
    try:
        return _compiled(pattern, ignore_case)
    except (RecursionError, OverflowError, MemoryError) as error:
        raise ValueError("the pattern is nested too deeply, or too large") from error


@lru_cache(maxsize=256)
def _compiled(pattern: str, ignore_case: bool) -> "regex.Pattern[str]":
    import regex

    flags = regex.VERSION0 | regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    try:
        return regex.compile(_Translation(pattern).text, flags)
    except regex.error as error:
        raise ValueError(f"the pattern is not a regular expression: {error}") from error


def _find(pattern: SecurityPattern, text: str, seconds: float) -> tuple[int, int] | None:
    try:
        compiled = compile_pattern(pattern.pattern, ignore_case=pattern.ignore_case)
    except ValueError as error:
        raise TimeoutError from error
    found = compiled.search(text, timeout=seconds)
    return None if found is None else found.span()


def _with_plain_ends(text: str) -> str:
    # A lone carriage return ends a line of Python, but `^` would not match after it.
    return text.replace("\r", "\n") if "\r" in text else text


class _Translation:
    """Translation of an expression of `re` into the syntax of `regex`.

    Args:
        pattern: The expression.

    Raises:
        ValueError: The counted repetitions are too large.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._verbose = _VERBOSE.search(pattern) is not None
        self._parts: list[str] = []
        # Minimum length of a match of each open group, and of its last item.
        self._sums, self._last = [0], 0
        at = 0
        while at < len(pattern):
            at = self._step(at)
        self.text = "".join(self._parts)
        """The translation."""

    def _step(self, at: int) -> int:
        """Translate the element at an offset, and return the offset after it."""
        character = self._pattern[at]
        if character == "\\":
            named = _NAMED.match(self._pattern, at)
            return self._item(at, named.end() if named else at + 2)
        if character == "[":
            return self._set(at)
        if character == "{":
            return self._brace(at)
        if character == "(":
            self._sums.append(0)
            self._last = 0
        elif character == ")" and len(self._sums) > 1:
            self._last = self._sums.pop()
            self._sums[-1] += self._last
        elif character == "#" and self._verbose:
            end = self._pattern.find("\n", at)
            end = len(self._pattern) if end < 0 else end
            self._parts.append(self._pattern[at:end])
            return end
        elif character not in "*+?|" and not (self._verbose and character.isspace()):
            return self._item(at, at + 1)
        self._parts.append(character)
        return at + 1

    def _item(self, at: int, end: int) -> int:
        self._parts.append(self._pattern[at:end])
        self._last = 1
        self._sums[-1] += 1
        return end

    def _set(self, at: int) -> int:
        """Translate a character set; `re` has neither nested sets nor named classes."""
        pattern = self._pattern
        end = at + 2 if pattern.startswith("[^", at) else at + 1
        parts = [pattern[at:end]]
        if pattern.startswith("]", end):
            parts.append("\\]")
            end += 1
        while end < len(pattern) and pattern[end] != "]":
            named = _NAMED.match(pattern, end)
            after = named.end() if named else end + (2 if pattern[end] == "\\" else 1)
            parts.append("\\[" if pattern[end] == "[" else pattern[end:after])
            end = after
        self._parts.extend((*parts, "]"))
        self._last = 1
        self._sums[-1] += 1
        return end + 1

    def _brace(self, at: int) -> int:
        """Translate a counted repetition or a literal brace, which `regex` may take for a fuzzy
        match.
        """
        found = _REPEAT.match(self._pattern, at)
        if found is None:
            self._parts.append("\\{")
            self._last = 1
            self._sums[-1] += 1
            return at + 1
        least = int(found[1] or 0)
        self._sums[-1] += self._last * max(0, least - 1)
        self._last *= max(1, least)
        if self._sums[-1] > _MOST_REPEATED:
            raise ValueError(
                f"the pattern repeats more than {_MOST_REPEATED:,} characters by counts"
            )
        most = found[2] if found[1] else found[3]
        bounds = found[1] if found[1] and most is None else f"{found[1] or 0},{most or ''}"
        self._parts.append(f"{{{bounds}}}")
        return found.end()
