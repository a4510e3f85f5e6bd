"""One thread's turn with a session."""

import threading

from llm_sandbox.exceptions import SessionBusyError

__all__ = ["Turn"]


class Turn:
    """Holds a session for one thread; refuses a second one instead of making it wait.

    Raises:
        SessionBusyError: Another thread has its turn.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise SessionBusyError(
                "another thread is running code in this session",
                hint="use a session for each thread",
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()
