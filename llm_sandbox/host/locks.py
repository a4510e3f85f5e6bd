"""Locks on files, which end with the process that holds them."""

import sys

if sys.platform == "win32":
    import msvcrt
    import time
else:
    import fcntl

__all__ = ["lock_file", "try_lock_file"]

_AGAIN_S = 0.05


def try_lock_file(fd: int, *, shared: bool = False) -> bool:
    """Lock an open file for this process alone, or for all that ask for a `shared` lock.

    Windows has no shared ones: there a lock is always for one.

    Returns:
        False if another holds it.
    """
    if sys.platform == "win32":
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def lock_file(fd: int) -> None:
    """Wait until an open file is locked for this process alone."""
    if sys.platform == "win32":
        while not try_lock_file(fd):
            time.sleep(_AGAIN_S)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX)
