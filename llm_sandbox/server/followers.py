"""Followers: clients in the event loop that wait for what threads do."""

import asyncio

__all__ = ["Follower"]


class Follower:
    """Client that waits in its event loop, and is woken from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def wake(self) -> None:
        """Wake it, from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._event.set)
        except RuntimeError:
            return  # the server has ended

    def clear(self) -> None:
        """Forget earlier wake-ups."""
        self._event.clear()

    async def wait(self, most_s: float) -> bool:
        """Wait to be woken; return False after the time."""
        try:
            await asyncio.wait_for(self._event.wait(), most_s)
        except TimeoutError:
            return False
        return True
