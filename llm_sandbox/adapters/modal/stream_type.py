"""Destinations of a program's output."""

from enum import Enum

__all__ = ["StreamType"]


class StreamType(Enum):
    """Destination of an output stream of a program."""

    DEVNULL = 1
    """Output is discarded; reading raises `ValueError`."""
    PIPE = 2
    """Output is readable from the process object."""
    STDOUT = 3
    """Output is copied to ``sys.stdout`` of this process; reading raises `InvalidError`."""

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{self}"
