"""Outbox: what the thread of a run writes for its client, whom the event loop serves."""

import asyncio
import threading

__all__ = ["ClientGoneError", "Outbox"]

_HELD = 64
"""Pieces that wait for a slow reader; after them the writer waits."""


class ClientGoneError(Exception):
    """Nobody reads any more."""


class Outbox:
    """Bytes from one thread to one coroutine, in order.

    The writer never waits for the event loop while there is room: what it writes until the loop has
    its turn is sent together, and wakes the loop once.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._changed = threading.Condition()
        self._pieces: list[bytes] = []
        self._is_woken = False
        self._is_over = False
        self._is_abandoned = False

    def put(self, data: bytes, *, can_wait: bool = False) -> None:
        """Add a piece, in the writer's thread; wait while too many are held.

        Args:
            data: The piece.
            can_wait: Whether it may wait for the next one, or for a silence.

        Raises:
            ClientGoneError: Nobody reads any more.
        """
        with self._changed:
            while len(self._pieces) >= _HELD and not self._is_abandoned:
                self._changed.wait()
            if self._is_abandoned:
                raise ClientGoneError
            self._pieces.append(data)
        if not can_wait:
            self._wake()

    def close(self) -> None:
        """Add no more pieces, in any thread."""
        self._is_over = True
        self._wake()

    def abandon(self) -> None:
        """Read no more, in the event loop; a writer that waits is told."""
        with self._changed:
            self._is_abandoned = True
            self._changed.notify_all()

    async def take(self, silence_s: float) -> tuple[bytes, bool]:
        """Return what was written, and whether that was the last; nothing after a silence.

        Args:
            silence_s: Length of a silence, in seconds.
        """
        if not self._news.is_set():
            try:
                async with asyncio.timeout(silence_s):
                    await self._news.wait()
            except TimeoutError:
                pass
        self._news.clear()
        with self._changed:
            self._is_woken = False
            is_over = self._is_over
            data = b"".join(self._pieces)
            self._pieces.clear()
            self._changed.notify_all()
        return data, is_over

    def _wake(self) -> None:
        with self._changed:
            if self._is_woken:
                return
            self._is_woken = True
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:
            return  # the server has ended
