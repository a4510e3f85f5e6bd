"""Watchers of directories: what changed between two looks at their listings."""

import posixpath
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from llm_sandbox.exceptions import (
    OutputLimitError,
    SandboxFileNotFoundError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
)
from llm_sandbox.sandbox.files import FileEntry, SandboxFiles

__all__ = ["FileChange", "Watcher", "walk"]

_MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class FileChange:
    """One change in a watched directory."""

    kind: Literal["create", "write", "remove", "chmod"]
    path: str
    """Path relative to the directory."""


def walk(files: SandboxFiles, folder: str, depth: int) -> Iterator[tuple[str, FileEntry]]:
    """Yield the entries below a directory, by path relative to it; links are not followed.

    Args:
        files: Files of the sandbox.
        folder: The directory.
        depth: Number of levels.

    Raises:
        OutputLimitError: There are more than 20,000.
    """
    waiting = [("", depth)]
    count = 0
    while waiting:
        inner, left = waiting.pop()
        try:
            entries = files.list(posixpath.join(folder, inner) if inner else folder)
        except (SandboxFileNotFoundError, SandboxNotADirectoryError, SandboxPermissionError):
            if not inner:
                raise
            continue
        for entry in entries:
            count += 1
            if count > _MOST_ENTRIES:
                raise OutputLimitError(
                    f"{folder} holds more than {_MOST_ENTRIES} files", limit=_MOST_ENTRIES
                )
            path = posixpath.join(inner, entry.name)
            yield path, entry
            if entry.kind == "directory" and left > 1:
                waiting.append((path, left - 1))


class Watcher:
    """Watcher of one directory. What is created and removed between two looks is not seen.

    Args:
        files: Files of the sandbox.
        folder: The directory.
        recursive: Whether directories below it are watched as well.

    Raises:
        FileError: The directory cannot be listed.
    """

    def __init__(self, files: SandboxFiles, folder: str, *, recursive: bool) -> None:
        self.id = secrets.token_hex(8)
        self.folder = folder
        self._files = files
        self._depth = 64 if recursive else 1
        self._seen = self._look()

    def _look(self) -> dict[str, FileEntry]:
        return dict(walk(self._files, self.folder, self._depth))

    def changes(self) -> list[FileChange]:
        """Return what changed since the last look."""
        before, self._seen = self._seen, self._look()
        after = self._seen
        found = [FileChange("remove", path) for path in before if path not in after]
        for path, entry in after.items():
            old = before.get(path)
            if old is None:
                found.append(FileChange("create", path))
                if entry.kind == "file" and entry.size:
                    found.append(FileChange("write", path))
            elif entry.kind != "directory" and (old.mtime, old.size) != (entry.mtime, entry.size):
                found.append(FileChange("write", path))
            elif old.mode != entry.mode:
                found.append(FileChange("chmod", path))
        return found
