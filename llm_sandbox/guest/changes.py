"""What is new or different in a directory since it was last looked at, told by the file service."""

from __future__ import annotations

import os
import stat

from .bulk import Connection, Record
from .look import Look, look, open_beneath, open_folder

MOST_TOLD = 1_000
MOST_DELETED = 100
LONGEST_PATH = 4_096
_LONGEST_TARGET = 1_000
_MOST_CHARACTERS = 1 << 18
_MOST_DELETED_CHARACTERS = 1 << 15
_PIECE = 1 << 18


class Watching(Connection):
    """The service's end of a connection, with what it saw last."""

    seen: Look | None = None


# --- operations


def mark(connection: Watching, path: str, seconds: float) -> Record:
    """Remember what is there now; what comes after is what `changes` tells."""
    connection.seen = look(path, seconds)
    connection.seen.settle()
    return {"at_ns": connection.seen.at_ns}


def changes(connection: Watching, path: str, since_ns: int, seconds: float) -> Record:
    """Tell what came after the last look, which this one becomes.

    A service that has no last look, because it was started meanwhile, goes by the time of the last
    change of each entry: 0 tells all as created.

    Its answer does not wait as that of `mark` does, but says whether all is from earlier steps of
    the clock.
    """
    before, now = connection.seen, look(path, seconds)
    created, changed, deleted = compare(before, now, since_ns)
    told = _tell(path, now, created, changed)
    last = max((now.entries[name][5] for name in (*created, *changed)), default=0)
    is_settled = last < now.at_ns
    now.at_ns = max(now.at_ns, last + 1)
    connection.seen = now
    return {
        "at_ns": now.at_ns,
        "entries": told,
        "omitted": len(created) + len(changed) - len(told),
        "deleted": _cut(deleted),
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
            wanted = limit if size <= limit else head
            sent = _send(connection, fd, wanted)
            is_whole = size <= limit and not (sent == limit and os.pread(fd, 1, limit))
            info = os.fstat(fd)
        finally:
            os.close(fd)
    except OSError:
        connection.end_chunks(failed=True)
        raise
    connection.end_chunks()
    return {"is_whole": is_whole, "size": info.st_size, "mtime_ns": info.st_mtime_ns}


def _send(connection: Connection, fd: int, wanted: int) -> int:
    sent = 0
    while sent < wanted and (data := os.pread(fd, min(_PIECE, wanted - sent), sent)):
        connection.send_chunk(data)
        sent += len(data)
    return sent


# --- telling


def compare(
    before: Look | None, now: Look, since_ns: int
) -> tuple[list[str], list[str], list[str]]:
    """The paths that are new, that differ, and that are gone, each in order."""
    created: list[str] = []
    changed: list[str] = []
    if before is None:
        late = [path for path, facts in now.entries.items() if facts[5] >= since_ns]
        (created if since_ns == 0 else changed).extend(late)
        return _in_order(created), _in_order(changed), []
    for path, facts in now.entries.items():
        known = before.entries.get(path)
        if known is None:
            # What was not seen may have been there all the same.
            if before.is_complete or facts[5] >= before.at_ns:
                created.append(path)
        elif known != facts:
            changed.append(path)
    gone = before.entries.keys() - now.entries.keys() if now.is_complete else ()
    return _in_order(created), _in_order(changed), _in_order(list(gone))


def _in_order(paths: list[str]) -> list[str]:
    return sorted(paths, key=lambda path: (path.count("/"), path))


def _tell(root: str, now: Look, created: list[str], changed: list[str]) -> list[Record]:
    changes = dict.fromkeys(changed, "changed") | dict.fromkeys(created, "created")
    told: list[Record] = []
    characters = 0
    for path in _in_order(list(changes)):
        mode, _, size, blocks, mtime_ns, _ = now.entries[path]
        kind = _kind(mode)
        target = _target(root, path) if kind == "link" else None
        characters += len(path) + len(target or "")
        if len(told) == MOST_TOLD or characters > _MOST_CHARACTERS:
            break
        if len(path) > LONGEST_PATH:
            continue
        told.append(
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
    return told


def _cut(paths: list[str]) -> list[str]:
    told, characters = [], 0
    for path in paths[:MOST_DELETED]:
        characters += len(path)
        if characters <= _MOST_DELETED_CHARACTERS:
            told.append(path)
    return told


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


def _target(root: str, path: str) -> str | None:
    folder, _, last = path.rpartition("/")
    try:
        parent = open_folder(root, folder)
        try:
            return os.readlink(last, dir_fd=parent)[:_LONGEST_TARGET]
        finally:
            os.close(parent)
    except OSError:
        return None
