"""A look at a directory: what lies below it, by what the file system says of each entry.

It is bounded, follows no link, and takes the same time whatever lies in the files. What is written
through a memory map into an older file leaves no trace there, and is not noticed.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import deque

MOST_SEEN = 20_000
"""Entries that a look takes in; those nearest to the top come first."""
DEEPEST = 32
_LONGEST_STEP_S = 0.02
_COARSE_CLOCK = 5
"""CLOCK_REALTIME_COARSE: never ahead of the times that a file system writes down."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

IGNORED = frozenset({"__pycache__", ".git", "node_modules", ".ipynb_checkpoints"})
"""Directories that nobody means by the files of a run; so are hidden ones at the top."""

Facts = tuple[int, int, int, int, int, int]
"""Of an entry: mode, inode, size, blocks, times of its last change of content and of any kind."""


class Look:
    """What was there at some moment.

    Attributes:
        at_ns: A moment on the clock of the file system: what changes after the look is not earlier.
        entries: Path below the root to facts; directories only where they were not entered.
        is_complete: Whether everything was taken in.
    """

    def __init__(self) -> None:
        self.at_ns = time.clock_gettime_ns(_COARSE_CLOCK)
        self.entries: dict[str, Facts] = {}
        self.is_complete = True

    def settle(self) -> None:
        """Wait until no change can come that has the time of an entry.

        The clock of files goes in steps, and what changes within one may look as before.
        """
        last = max((facts[5] for facts in self.entries.values()), default=0)
        give_up = time.monotonic() + _LONGEST_STEP_S
        while last >= self.at_ns and time.monotonic() < give_up:
            time.sleep(0.0005)
            self.at_ns = time.clock_gettime_ns(_COARSE_CLOCK)


def look(root: str, seconds: float) -> Look:
    """Take in what lies below a directory, level by level, until the time is up.

    Raises:
        OSError: The directory itself cannot be read.
    """
    taken = Look()
    deadline = time.monotonic() + seconds
    waiting: deque[tuple[str, int, Facts | None]] = deque([("", 0, None)])
    while waiting:
        folder, depth, facts = waiting.popleft()
        if len(taken.entries) >= MOST_SEEN or time.monotonic() > deadline:
            taken.is_complete = False
            break
        try:
            fd = open_folder(root, folder)
        except OSError as error:
            if facts is None:
                raise
            if error.errno in (errno.EACCES, errno.EPERM):
                taken.entries[folder] = facts
            elif error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                taken.is_complete = False
            continue
        try:
            _take_in(taken, fd, folder, depth, waiting, deadline)
        except OSError:
            # It was there and could be opened, and cannot be read to its end.
            taken.is_complete = False
        finally:
            os.close(fd)
    return taken


def _take_in(
    taken: Look,
    fd: int,
    folder: str,
    depth: int,
    waiting: deque[tuple[str, int, Facts | None]],
    deadline: float,
) -> None:
    prefix = f"{folder}/" if folder else ""
    with os.scandir(fd) as found:
        for number, entry in enumerate(found):
            full = len(taken.entries) + len(waiting) >= MOST_SEEN
            if full or (number % 512 == 511 and time.monotonic() > deadline):
                taken.is_complete = False
                return
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = entry.name
            facts = (
                info.st_mode,
                info.st_ino,
                info.st_size,
                info.st_blocks,
                info.st_mtime_ns,
                info.st_ctime_ns,
            )
            if not stat.S_ISDIR(info.st_mode):
                taken.entries[prefix + name] = facts
            elif name in IGNORED or (depth == 0 and name.startswith(".")):
                continue
            elif depth + 1 < DEEPEST:
                waiting.append((prefix + name, depth + 1, facts))
            else:
                taken.entries[prefix + name] = facts


def open_folder(root: str, folder: str) -> int:
    """Open a directory part by part: no part of the way may have become a link."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in folder.split("/") if folder else ():
        try:
            inner = os.open(part, _FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = inner
    return fd


def open_beneath(root: str, name: str) -> int:
    """Open a regular file for reading, without following a link on the way or at its end.

    Raises:
        OSError: There is none.
    """
    folder, _, last = name.rpartition("/")
    parent = open_folder(root, folder)
    try:
        # Not blocking: opening a FIFO for reading would wait for its writer.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(last, flags, dir_fd=parent)
    finally:
        os.close(parent)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "it is not a regular file")
