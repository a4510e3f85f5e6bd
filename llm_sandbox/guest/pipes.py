"""Who else can write to the pipes that are an interpreter's standard output and error."""

from __future__ import annotations

import os

_MOST_LOOKED_AT = 500


_UNKNOWN = -1


def writers(process: int) -> set[int]:
    """Find the other processes that can write to what is standard output or error of `process`.

    Returns:
        Their pids; one that is none where there are too many processes to look at.
    """
    pipes = {_target(f"/proc/{process}/fd/{number}") for number in (1, 2)} - {None}
    if not pipes:
        return set()
    found = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {process, os.getpid()}
    if len(found) > _MOST_LOOKED_AT:
        return {_UNKNOWN}
    return {pid for pid in found if _writes(pid, pipes)}


def _writes(process: int, pipes: set[str | None]) -> bool:
    folder = f"/proc/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return False  # it has ended, or it is another user's
    for name in names:
        path = f"{folder}/{name}"
        try:
            # Of a link there, the permissions are those that the descriptor was opened with.
            if _target(path) in pipes and os.lstat(path).st_mode & 0o200:
                return True
        except OSError:
            continue
    return False


def _target(path: str) -> str | None:
    try:
        target = os.readlink(path)
    except OSError:
        return None
    return target if target.startswith("pipe:") else None
