"""Right to use the cores of this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Slots"]


class Slots:
    """Right to use the cores: shared by tests, or of one test alone."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing = 0
        self._is_taken = False
        self._waiting = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Run beside others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._is_taken and not self._waiting)
            self._sharing += 1
        try:
            yield
        finally:
            with self._condition:
                self._sharing -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run with no other test at the same time."""
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._is_taken and not self._sharing)
            self._waiting -= 1
            self._is_taken = True
        try:
            yield
        finally:
            with self._condition:
                self._is_taken = False
                self._condition.notify_all()
