"""Takes values out of what comes back, also where they arrive in pieces."""

from collections.abc import Mapping

__all__ = ["Scrubber"]


class Scrubber:
    """Replaces words in a stream by others of the same length.

    Args:
        words: What is replaced, and by what.
    """

    def __init__(self, words: Mapping[bytes, bytes]) -> None:
        # The longest first: a shorter one may be part of it.
        self._words = sorted(words.items(), key=lambda pair: -len(pair[0]))
        self._longest = max(map(len, words), default=0)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take a piece in; returns what can be passed on.

        What could be the beginning of a word waits for the next piece, and nothing else does.
        """
        data = self.clean(self._held + data)
        held = next(
            (
                size
                for size in range(min(self._longest - 1, len(data)), 0, -1)
                if any(word.startswith(data[-size:]) for word, _ in self._words)
            ),
            0,
        )
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
