"""Wake-up of a thread that waits for connections."""

import contextlib
import socket

__all__ = ["Wake"]


class Wake:
    """Wake-up of a thread that waits for connections. `set` may be called by any thread and by a
    signal handler; everything else by the thread that waits.
    """

    def __init__(self) -> None:
        # A pair of sockets: macOS has no event descriptors.
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._far.setblocking(False)

    def fileno(self) -> int:
        """Return the descriptor that is readable once `set` was called."""
        return self._near.fileno()

    def set(self) -> None:
        """Wake the waiting thread; nothing happens if it was set before."""
        with contextlib.suppress(BlockingIOError):
            self._far.send(b"\0")

    def clear(self) -> None:
        """Reset after a wake-up."""
        with contextlib.suppress(BlockingIOError):
            while len(self._near.recv(4096)) == 4096:
                pass

    def close(self) -> None:
        """Close the descriptors; `set` has no effect then."""
        self._near.close()
        self._far.close()
