"""Where a program's output goes."""

from enum import Enum

__all__ = ["StreamType"]


class StreamType(Enum):
    """Where one of a program's output streams goes."""

    DEVNULL = 1
    """Nowhere; reading it raises `ValueError`."""
    PIPE = 2
    """To the reader of the process."""
    STDOUT = 3
    """To ``sys.stdout`` of this process, as it comes; reading it raises `InvalidError`."""

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{self}"
