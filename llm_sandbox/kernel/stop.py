"""The wish that one run ends, said from another thread than the one that runs it."""

import threading
from typing import Self

from llm_sandbox.host.wake import Wake

__all__ = ["Stop"]


class Stop:
    """Made for one run, by the thread that runs it, and of no effect once that run is over.

    Safe between threads: nothing that is asked late reaches a later run.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        """The thread of the run."""
        self._lock = threading.RLock()  # `ask` may be called by a signal handler
        self._wake: Wake | None = Wake()
        self._asked = False

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return self._asked

    def ask(self) -> bool:
        """Ask the run to end; False if it has ended."""
        with self._lock:
            if self._wake is None:
                return False
            if not self._asked:
                self._asked = True
                self._wake.set()
            return True

    def fileno(self) -> int:
        """What becomes readable when the run is to end; for the thread that runs it."""
        assert self._wake is not None  # noqa: S101 - narrows the type; closed by the same thread
        return self._wake.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            wake, self._wake = self._wake, None
            if wake is not None:
                wake.close()
