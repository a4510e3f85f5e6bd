"""What the host itself may have changed in a sandbox since somebody last asked."""

import threading

from llm_sandbox.backends.base import Ending

__all__ = ["ModifiedFlag"]


class ModifiedFlag:
    """Remembers that the host wrote files, or started programs that may do so until they end.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted = False
        self._programs: list[Ending] = []

    def note(self) -> None:
        """Remember that the host changed something."""
        self._noted = True

    def follow(self, program: Ending) -> None:
        """Remember a program that was started; it counts until it was seen to have ended."""
        with self._lock:
            self._programs.append(program)

    def take(self) -> bool:
        """Whether anything may have been changed since the last call."""
        with self._lock:
            # Before it is asked what goes on: what ends in between counts once more.
            touched, self._noted = self._noted or bool(self._programs), False
            self._programs = [one for one in self._programs if one.get() is None]
            return touched
