"""Manifests of a workspace: its files by content, its links by target."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from llm_sandbox.exceptions import FileError, OutputLimitError
from llm_sandbox.workspace.folder import Folder

__all__ = ["GIT", "Entry", "Manifest", "matches", "read_manifest", "walk"]

_Kind = Literal["file", "link", "other"]

GIT = ".git"
"""Folder of Git's own data, which is excluded; see `Changes.repository`."""
_KEPT_BYTES = 1 << 20
"""Maximum size of files whose content is kept for comparison."""
_KEPT_TOTAL_BYTES = 64 << 20
_MOST_ENTRIES = 200_000
_CHUNK = 1 << 20
_EXECUTABLE = 0o111


@dataclass(frozen=True)
class Entry:
    """File, link, or other entry."""

    path: str
    """Relative path with slashes; invalid UTF-8 is decoded as by `os.fsdecode`."""
    kind: _Kind
    size: int
    """Size in bytes."""
    digest: str
    """SHA-256 in hexadecimal of a file's content or a link's target; otherwise empty."""
    executable: bool = False
    content: bytes | None = field(default=None, repr=False, compare=False)
    """Content; None if not kept."""
    stamp: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """Inode, size and times: an entry with the same values is not read again. A program can set the
    modification time, but not the change time.
    """


@dataclass(frozen=True)
class Manifest:
    """All entries, by path."""

    entries: Mapping[str, Entry]
    repository: Mapping[str, str]
    """Digests of the files of a Git repository that can make Git start programs."""


def read_manifest(folder: Folder, before: Manifest | None = None) -> Manifest:
    """Read the manifest of a folder.

    Args:
        folder: Folder to read.
        before: Earlier manifest, so that unchanged files are not read again.

    Raises:
        OutputLimitError: The folder has more than 200,000 entries.
    """
    known = before.entries if before is not None else {}
    entries: dict[str, Entry] = {}
    repository: dict[str, str] = {}
    room = _KEPT_TOTAL_BYTES
    for count, (path, found) in enumerate(walk(folder)):
        if count >= _MOST_ENTRIES:
            raise OutputLimitError(f"the workspace holds more than {_MOST_ENTRIES} entries")
        if GIT in path.split("/"):
            if _starts_programs(path):
                entry = _read(folder, path, found, None, 0)
                if entry is not None:
                    repository[path] = entry.digest or entry.kind
            continue
        entry = _read(folder, path, found, known.get(path), room)
        if entry is not None:
            entries[path] = entry
            room -= len(entry.content or b"")
    return Manifest(entries, repository)


def walk(folder: Folder) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each entry that is not a folder, by path, without following links."""
    # A list of what is to be read yet: a program can nest folders deeper than calls can nest.
    todo = ["."]
    while todo:
        top = todo.pop()
        below = []
        for name, found in _list(folder, top):
            path = name if top == "." else f"{top}/{name}"
            if stat.S_ISDIR(found.st_mode):
                below.append(path)
            else:
                yield path, found
        todo += reversed(below)


def _list(folder: Folder, top: str) -> list[tuple[str, os.stat_result]]:
    found = []
    try:
        descriptor = folder.open_folder(top)
    except FileError:
        return []  # gone meanwhile, too deep for a path, or not ours to read
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    except OSError:
        return []
    finally:
        os.close(descriptor)
    return sorted(found, key=lambda named: named[0])


def _starts_programs(path: str) -> bool:
    inner = path.split("/")[path.split("/").index(GIT) + 1 :]
    return not inner or inner[0] in ("config", "config.worktree", "hooks", "info")


def _read(
    folder: Folder, path: str, found: os.stat_result, known: Entry | None, room: int
) -> Entry | None:
    stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    executable = bool(found.st_mode & _EXECUTABLE)
    if known is not None and known.stamp == stamp and known.kind == "file":
        return known
    try:
        if stat.S_ISLNK(found.st_mode):
            return _read_link(folder, path, stamp)
        if not stat.S_ISREG(found.st_mode):
            return Entry(path, "other", 0, "", stamp=stamp)
        descriptor, now = folder.open_regular(path)
    except (FileError, OSError):
        return None  # swapped or gone since it was seen
    with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        digest = hashlib.sha256()
        kept: list[bytes] | None = [] if now.st_size <= min(_KEPT_BYTES, room) else None
        size = 0
        # trust: a file that grows while it is read ends where it ended when it was opened.
        while size < now.st_size and (chunk := file.read(min(_CHUNK, now.st_size - size))):
            digest.update(chunk)
            size += len(chunk)
            if kept is not None:
                kept.append(chunk)
    content = None if kept is None else b"".join(kept)
    return Entry(path, "file", size, digest.hexdigest(), executable, content, stamp)


def _read_link(folder: Folder, path: str, stamp: tuple[int, ...]) -> Entry:
    parent, _, name = path.rpartition("/")
    descriptor = folder.open_folder(parent or ".")
    try:
        target = os.fsencode(os.readlink(name, dir_fd=descriptor))
    finally:
        os.close(descriptor)
    return Entry(
        path, "link", len(target), hashlib.sha256(target).hexdigest(), False, target, stamp
    )


def matches(path: str, pattern: str) -> bool:
    """Return whether a relative path matches a pattern; ``**`` matches any number of folders."""
    names, wanted = path.split("/"), pattern.strip("/").split("/")
    # One row of the usual table: which beginnings of the path fit the pattern so far.
    fits = [True] + [False] * len(names)
    for number, part in enumerate(wanted):
        last = number == len(wanted) - 1
        row = [False] * (len(names) + 1)
        if part == "**":
            reached = False
            for at in range(len(names) + 1):
                reached = reached or fits[at]
                # At the end it stands for files, too: at least one name.
                row[at] = reached and (not last or at > 0)
        else:
            for at in range(len(names)):
                row[at + 1] = fits[at] and fnmatchcase(names[at], part)
        fits = row
    return fits[-1]
