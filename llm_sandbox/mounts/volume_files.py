"""Files of a volume, accessed from the host.

Sandboxes write there concurrently, so path components are opened one by one from the folder's
descriptor, and no link is followed: replaced components are refused.
"""

import builtins
import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from llm_sandbox.exceptions import (
    FileError,
    OutputLimitError,
    PathError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
)

__all__ = ["VolumeEntry", "VolumeFiles"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_MOST_BYTES = 1 << 30
_ERRORS: dict[int, type[FileError]] = {
    errno.ENOENT: SandboxFileNotFoundError,
    errno.ENOTDIR: SandboxNotADirectoryError,
    errno.EISDIR: SandboxIsADirectoryError,
    errno.ELOOP: PathError,
    errno.ENAMETOOLONG: PathError,
}


@dataclass(frozen=True)
class VolumeEntry:
    """File, folder or link in a volume."""

    path: str
    """Path in the volume."""
    kind: Literal["file", "folder", "link", "other"]
    """Kind of the entry."""
    size: int
    """Size of a file in bytes; 0 for other kinds."""
    mtime: float
    """Time of the last change, in seconds since 1970."""


class VolumeFiles:
    """Files of a volume. Paths are relative to the volume; a leading ``/`` stands for its root.

    Args:
        folder: Folder of the volume.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, path: str, data: bytes) -> None:
        """Write a file, with missing parent folders; an existing file is replaced atomically.

        Raises:
            FileError: The write failed; `PathError` if the path contains a link.
        """
        names = _names(path)
        if not names:
            raise PathError("a file of a volume has a name", path=path)
        with self._parent(path, names, make=True) as parent:
            fresh = f".{os.urandom(8).hex()}.part"
            flags = _FILE | os.O_WRONLY | os.O_CREAT | os.O_EXCL
            descriptor = os.open(fresh, flags, 0o644, dir_fd=parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                os.rename(fresh, names[-1], src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(fresh, dir_fd=parent)
                raise

    def get(self, path: str, limit: int = _MOST_BYTES) -> bytes:
        """Return a file's content.

        Args:
            path: Path of the file.
            limit: Maximum bytes; 1 GiB.

        Raises:
            FileError: The file does not exist; `PathError` if the path contains a link or is not a
                regular file.
            OutputLimitError: The file is larger.
        """
        names = _names(path)
        with self._parent(path, names) as parent:
            descriptor = os.open(names[-1] if names else ".", _FILE | os.O_RDONLY, dir_fd=parent)
            with os.fdopen(_regular(descriptor, path), "rb") as file:
                # trust: a sandbox may make it longer while it is read.
                data = file.read(limit + 1)
        if len(data) > limit:
            raise OutputLimitError(f"{path!r} holds more than {limit} bytes")
        return data

    def list(self, path: str = "/", *, recursive: bool = False) -> builtins.list[VolumeEntry]:
        """Return the entries of a folder, by path; a file is listed as itself.

        Args:
            path: Path of the folder.
            recursive: Whether subfolders are listed; links are not followed.

        Raises:
            FileError: The path does not exist.
        """
        names = _names(path)
        found: builtins.list[VolumeEntry] = []
        with self._parent(path, names) as parent:
            name = names[-1] if names else "."
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                return [_entry("/".join(names), status)]
            top = os.open(name, _FOLDER, dir_fd=parent)
            try:
                _walk(top, "/".join(names), found, recursive=recursive)
            finally:
                os.close(top)
        return sorted(found, key=lambda entry: entry.path)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Delete a file, a link, or a folder.

        Args:
            path: Path to delete.
            recursive: Whether a folder is deleted with its contents; otherwise it must be empty.

        Raises:
            FileError: The path does not exist, or is a folder that is not empty.
        """
        names = _names(path)
        if not names:
            raise PathError("the volume itself is removed by Volume.delete", path=path)
        with self._parent(path, names) as parent:
            name = names[-1]
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode):
                os.unlink(name, dir_fd=parent)
            elif recursive:
                shutil.rmtree(name, dir_fd=parent)
            else:
                os.rmdir(name, dir_fd=parent)

    @contextlib.contextmanager
    def _parent(self, path: str, names: builtins.list[str], *, make: bool = False) -> Iterator[int]:
        """Open the parent folder for a block, and translate `OSError` in it."""
        folder = -1
        try:
            folder = os.open(self._folder, _FOLDER)
            for name in names[:-1]:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o755, dir_fd=folder)
                step = os.open(name, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = step
            yield folder
        except FileError:
            raise
        except OSError as error:
            kind = _ERRORS.get(error.errno or 0, FileError)
            raise kind(f"{path!r} in the volume: {error.strerror}", path=path) from None
        finally:
            if folder >= 0:
                os.close(folder)


def _names(path: object) -> list[str]:
    if not isinstance(path, str) or "\0" in path:
        raise PathError("a path in a volume is text without NUL", path=str(path))
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise PathError(f"{path!r} has '..'", path=path)
    return names


def _regular(descriptor: int, path: str) -> int:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise SandboxIsADirectoryError(f"{path!r} in the volume is a folder", path=path)
    raise PathError(f"{path!r} in the volume is not a regular file", path=path)


def _walk(folder: int, path: str, found: list[VolumeEntry], *, recursive: bool) -> None:
    # trust: names, kinds and depth come from sandboxes, which may change them meanwhile.
    for name in os.listdir(folder):
        inside = f"{path}/{name}".lstrip("/")
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            found.append(_entry(inside, status))
            if recursive and stat.S_ISDIR(status.st_mode):
                below = os.open(name, _FOLDER, dir_fd=folder)
                try:
                    _walk(below, inside, found, recursive=True)
                finally:
                    os.close(below)
        except (FileNotFoundError, NotADirectoryError):
            continue


def _entry(path: str, status: os.stat_result) -> VolumeEntry:
    mode = status.st_mode
    kind: Literal["file", "folder", "link", "other"] = "other"
    if stat.S_ISREG(mode):
        kind = "file"
    elif stat.S_ISDIR(mode):
        kind = "folder"
    elif stat.S_ISLNK(mode):
        kind = "link"
    return VolumeEntry(path, kind, status.st_size if kind == "file" else 0, status.st_mtime)
