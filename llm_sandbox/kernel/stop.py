"""Request from another thread to stop a run."""

import threading
from typing import Self

from llm_sandbox.host.wake import Wake

__all__ = ["Stop"]


class Stop:
    """Stop request for one run, created by its thread; without effect once the run is over.

    Safe between threads: a late request does not reach a later run.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        """Thread of the run."""
        self._lock = threading.RLock()  # `ask` may be called by a signal handler
        self._wake: Wake | None = Wake()
        self._asked = False

    @property
    def asked(self) -> bool:
        """Whether the stop was requested."""
        return self._asked

    def ask(self) -> bool:
        """Request the stop; return False if the run has ended."""
        with self._lock:
            if self._wake is None:
                return False
            if not self._asked:
                self._asked = True
                self._wake.set()
            return True

    def fileno(self) -> int:
        """Return the descriptor that becomes readable at the request; for the thread of the run."""
        assert self._wake is not None  # noqa: S101 - narrows the type; closed by the same thread
        return self._wake.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            wake, self._wake = self._wake, None
            if wake is not None:
                wake.close()
