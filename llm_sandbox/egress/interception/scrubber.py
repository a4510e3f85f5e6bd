"""Takes values out of what comes back, also where they arrive in pieces."""

import string
from collections.abc import Mapping

__all__ = ["Scrubber"]

_USUAL = frozenset(f"{string.ascii_letters}{string.digits}+/=%-_.~\\&#;:".encode())
"""What values are made of, and what they are made of when they are encoded."""


class Scrubber:
    """Replaces words in a stream by others of the same length.

    Args:
        words: What is replaced, and by what.
    """

    def __init__(self, words: Mapping[bytes, bytes]) -> None:
        # The longest first: a shorter one may be part of it.
        self._words = sorted(words.items(), key=lambda pair: -len(pair[0]))
        self._longest = max(map(len, words), default=0)
        self._signs = _USUAL.union(*words)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take a piece in; returns what can be passed on.

        Letters, digits and signs at the end wait for the next piece, and nothing else does. Not
        only those that a word does begin with: whoever chooses what a host sends could guess one
        sign after the other, and see by what waits which guess was right.
        """
        data = self.clean(self._held + data)
        most = min(self._longest - 1, len(data))
        held = 0
        while held < most and data[-1 - held] in self._signs:
            held += 1
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def flush(self) -> bytes:
        """Return what still waited."""
        held, self._held = self._held, b""
        return held

    def clean(self, data: bytes) -> bytes:
        """Replace words in something whole."""
        for word, other in self._words:
            if word in data:
                data = data.replace(word, other)
        return data
