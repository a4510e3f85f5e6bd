"""Snapshots of a directory and their comparison: the entries that are new, changed or deleted.

A snapshot holds what the file system says of each entry below a directory. It is bounded, follows
no link, and takes the same time whatever lies in the files. What is written through a memory map
into an older file leaves no trace there, and is not noticed.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import deque

from .bulk import Connection, Record

MAX_ENTRIES = 20_000
"""Entries that a snapshot holds; those nearest to the top come first."""
MAX_DEPTH = 32
MAX_REPORTED = 1_000
MAX_DELETED = 100
MAX_PATH = 4_096
_MAX_TARGET = 1_000
_MAX_CHARACTERS = 1 << 18
_MAX_DELETED_CHARACTERS = 1 << 15
_CHUNK = 1 << 18
_MAX_CLOCK_STEP_S = 0.02
_COARSE_CLOCK = 5
"""CLOCK_REALTIME_COARSE: never ahead of the times that a file system writes down."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

IGNORED = frozenset({"__pycache__", ".git", "node_modules", ".ipynb_checkpoints"})
"""Directories that hold no files of a run; hidden ones at the top are left out too."""

EntryStat = tuple[int, int, int, int, int, int]
"""Mode, inode, size, blocks, and the times of the last change of content and of any kind."""


class DirectorySnapshot:
    """Entries of a directory at one moment.

    Attributes:
        at_ns: A moment on the clock of the file system; later changes are not earlier than that.
        entries: Path below the root to its stat; directories only where they were not entered.
        is_complete: Whether every entry is in the snapshot.
    """

    def __init__(self) -> None:
        self.at_ns = time.clock_gettime_ns(_COARSE_CLOCK)
        self.entries: dict[str, EntryStat] = {}
        self.is_complete = True

    def wait_for_clock(self) -> None:
        """Wait until a new change cannot have the time of an entry of this snapshot.

        The clock of files goes in steps, and a change within one step may leave no difference.
        """
        last = max((entry_stat[5] for entry_stat in self.entries.values()), default=0)
        give_up = time.monotonic() + _MAX_CLOCK_STEP_S
        while last >= self.at_ns and time.monotonic() < give_up:
            time.sleep(0.0005)
            self.at_ns = time.clock_gettime_ns(_COARSE_CLOCK)


def take_snapshot(root: str, seconds: float) -> DirectorySnapshot:
    """Return a snapshot of a directory, taken level by level until the time is up.

    Raises:
        OSError: The directory itself cannot be read.
    """
    snapshot = DirectorySnapshot()
    deadline = time.monotonic() + seconds
    waiting: deque[tuple[str, int, EntryStat | None]] = deque([("", 0, None)])
    while waiting:
        directory, depth, entry_stat = waiting.popleft()
        if len(snapshot.entries) >= MAX_ENTRIES or time.monotonic() > deadline:
            snapshot.is_complete = False
            break
        try:
            fd = open_directory(root, directory)
        except OSError as error:
            if entry_stat is None:
                raise
            if error.errno in (errno.EACCES, errno.EPERM):
                snapshot.entries[directory] = entry_stat
            elif error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                snapshot.is_complete = False
            continue
        try:
            _scan(snapshot, fd, directory, depth, waiting, deadline)
        except OSError:
            # It could be opened, and cannot be read to its end.
            snapshot.is_complete = False
        finally:
            os.close(fd)
    return snapshot


def _scan(
    snapshot: DirectorySnapshot,
    fd: int,
    directory: str,
    depth: int,
    waiting: deque[tuple[str, int, EntryStat | None]],
    deadline: float,
) -> None:
    prefix = f"{directory}/" if directory else ""
    with os.scandir(fd) as found:
        for number, entry in enumerate(found):
            full = len(snapshot.entries) + len(waiting) >= MAX_ENTRIES
            if full or (number % 512 == 511 and time.monotonic() > deadline):
                snapshot.is_complete = False
                return
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = entry.name
            entry_stat = (
                info.st_mode,
                info.st_ino,
                info.st_size,
                info.st_blocks,
                info.st_mtime_ns,
                info.st_ctime_ns,
            )
            if not stat.S_ISDIR(info.st_mode):
                snapshot.entries[prefix + name] = entry_stat
            elif name in IGNORED or (depth == 0 and name.startswith(".")):
                continue
            elif depth + 1 < MAX_DEPTH:
                waiting.append((prefix + name, depth + 1, entry_stat))
            else:
                snapshot.entries[prefix + name] = entry_stat


def open_directory(root: str, directory: str) -> int:
    """Open a directory below another, part by part, following no link below the root."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in directory.split("/") if directory else ():
        try:
            inner = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = inner
    return fd


def open_beneath(root: str, name: str) -> int:
    """Open a regular file for reading, without following a link on the way or at its end.

    Raises:
        OSError: There is no such file, or it is not a regular one.
    """
    directory, _, last = name.rpartition("/")
    parent = open_directory(root, directory)
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


class WatchingConnection(Connection):
    """Connection of the file service that keeps the last snapshot."""

    last: DirectorySnapshot | None = None


# --- operations


def mark(connection: WatchingConnection, path: str, seconds: float) -> Record:
    """Take the snapshot with which the next `changes` compares."""
    connection.last = take_snapshot(path, seconds)
    connection.last.wait_for_clock()
    return {"at_ns": connection.last.at_ns}


def changes(connection: WatchingConnection, path: str, since_ns: int, seconds: float) -> Record:
    """Report what changed since the last snapshot, and keep the new one.

    A service without a last snapshot, because it was started meanwhile, goes by the time of the
    last change of each entry; with a `since_ns` of 0 every entry is reported as created.

    The answer does not wait for the clock as that of `mark` does: ``is_settled`` says whether all
    changes are from earlier steps of the clock.
    """
    before, now = connection.last, take_snapshot(path, seconds)
    created, changed, deleted = compare(before, now, since_ns)
    reported = _report(path, now, created, changed)
    last = max((now.entries[name][5] for name in (*created, *changed)), default=0)
    is_settled = last < now.at_ns
    now.at_ns = max(now.at_ns, last + 1)
    connection.last = now
    return {
        "at_ns": now.at_ns,
        "entries": reported,
        "omitted": len(created) + len(changed) - len(reported),
        "deleted": _truncate(deleted),
        "deleted_count": len(deleted),
        "is_complete": now.is_complete,
        "is_compared": before is not None or since_ns == 0,
        "is_settled": is_settled,
    }


def fetch(connection: Connection, path: str, name: str, limit: int, head: int) -> Record:
    """Send the file `name` below `path` if it has at most `limit` bytes, else its first `head`."""
    try:
        fd = open_beneath(path, name)
        try:
            size = os.fstat(fd).st_size
            sent = _send(connection, fd, limit if size <= limit else head)
            is_whole = size <= limit and not (sent == limit and os.pread(fd, 1, limit))
            info = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError:
        connection.end_chunks(failed=True)
        raise
    connection.end_chunks()
    return {"is_whole": is_whole, "size": info.st_size, "mtime_ns": info.st_mtime_ns}


def _send(connection: Connection, fd: int, size: int) -> int:
    sent = 0
    while sent < size and (data := os.pread(fd, min(_CHUNK, size - sent), sent)):
        connection.send_chunk(data)
        sent += len(data)
    return sent


# --- comparison


def compare(
    before: DirectorySnapshot | None, now: DirectorySnapshot, since_ns: int
) -> tuple[list[str], list[str], list[str]]:
    """Return the paths that are new, changed and deleted, each in order."""
    created: list[str] = []
    changed: list[str] = []
    if before is None:
        late = [path for path, entry_stat in now.entries.items() if entry_stat[5] >= since_ns]
        (created if since_ns == 0 else changed).extend(late)
        return _in_order(created), _in_order(changed), []
    for path, entry_stat in now.entries.items():
        known = before.entries.get(path)
        if known is None:
            # An incomplete snapshot may have missed it.
            if before.is_complete or entry_stat[5] >= before.at_ns:
                created.append(path)
        elif known != entry_stat:
            changed.append(path)
    gone = before.entries.keys() - now.entries.keys() if now.is_complete else ()
    return _in_order(created), _in_order(changed), _in_order(list(gone))


def _in_order(paths: list[str]) -> list[str]:
    return sorted(paths, key=lambda path: (path.count("/"), path))


def _report(
    root: str, now: DirectorySnapshot, created: list[str], changed: list[str]
) -> list[Record]:
    changes = dict.fromkeys(changed, "changed") | dict.fromkeys(created, "created")
    reported: list[Record] = []
    characters = 0
    for path in _in_order(list(changes)):
        mode, _, size, blocks, mtime_ns, _ = now.entries[path]
        kind = _kind(mode)
        target = _link_target(root, path) if kind == "link" else None
        characters += len(path) + len(target or "")
        if len(reported) == MAX_REPORTED or characters > _MAX_CHARACTERS:
            break
        if len(path) > MAX_PATH:
            continue
        reported.append(
            {
                "path": path,
                "change": changes[path],
                "kind": kind,
                "size": size,
                "stored": blocks * 512,
                "mtime_ns": mtime_ns,
                "target": target,
            }
        )
    return reported


def _truncate(paths: list[str]) -> list[str]:
    reported, characters = [], 0
    for path in paths[:MAX_DELETED]:
        characters += len(path)
        if characters <= _MAX_DELETED_CHARACTERS:
            reported.append(path)
    return reported


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _link_target(root: str, path: str) -> str | None:
    directory, _, last = path.rpartition("/")
    try:
        parent = open_directory(root, directory)
        try:
            return os.readlink(last, dir_fd=parent)[:_MAX_TARGET]
        finally:
            os.close(parent)
    except OSError:
        return None
