"""Race-free file access below a folder, even while links are replaced concurrently.

The kernel resolves the whole path atomically below the folder (`openat2`, Linux 5.6). Without that
call, path components are opened one by one and no link is followed.
"""

import ctypes
import errno
import os
import stat
import struct
from functools import cache
from pathlib import Path, PurePath
from typing import Self

from llm_sandbox.exceptions import (
    FileError,
    PathError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
)

__all__ = ["Folder", "file_error", "has_openat2"]

_OPENAT2 = 437
"""System call number, the same on every architecture."""
_NO_MAGIC_LINKS, _BENEATH = 0x02, 0x08
_TRIES = 64
"""Maximum retries: continuous renaming makes the kernel give up each time."""
_BY_ERRNO: dict[int, type[FileError]] = {
    errno.ENOENT: SandboxFileNotFoundError,
    errno.EEXIST: SandboxFileExistsError,
    errno.EISDIR: SandboxIsADirectoryError,
    errno.ENOTDIR: SandboxNotADirectoryError,
    errno.EACCES: SandboxPermissionError,
    errno.EPERM: SandboxPermissionError,
    errno.EROFS: SandboxPermissionError,
    errno.ELOOP: PathError,
    errno.EXDEV: PathError,
    errno.ENAMETOOLONG: PathError,
}
_WORDS = {
    errno.EXDEV: "leads out of the workspace",
    errno.ELOOP: "goes through a link that is not followed",
    errno.ENXIO: "is not a regular file",
}

_libc = ctypes.CDLL(None, use_errno=True)


class Folder:
    """Folder held by a descriptor, unaffected by renaming or replacing its path.

    Args:
        root: Existing folder.
        openat2: Whether `openat2` is used; None to detect it.

    Raises:
        SandboxFileNotFoundError: The folder does not exist.
        SandboxNotADirectoryError: The path is not a folder.
    """

    def __init__(self, root: Path, *, openat2: bool | None = None) -> None:
        self.root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() would follow links
        self._whole = has_openat2() if openat2 is None else openat2
        try:
            self._descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise file_error(error, str(self.root)) from error

    def relative(self, path: str | PurePath) -> str:
        """Return a path relative to the folder; ``.`` for the folder itself.

        Args:
            path: Path relative to the folder, or absolute and inside it.

        Raises:
            PathError: The path is outside, or contains a NUL.
        """
        text = os.fspath(path)
        if "\0" in text:
            raise PathError("a path holds a NUL", path=text)
        if os.path.isabs(text):  # noqa: PTH117 - text, not a path of the host's
            text = os.path.relpath(os.path.normpath(text), self.root)
        text = os.path.normpath(text or ".")
        if text == ".." or text.startswith("../"):
            raise PathError(f"{os.fspath(path)!r} leads out of the workspace", path=text)
        return text

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """Open an entry below the folder and return its descriptor.

        Args:
            path: Path from `relative`.
            flags: As for `os.open`; opening a pipe never blocks.
            mode: Permissions of a created file.

        Raises:
            FileError: The open failed; `PathError` if the path leads outside.
        """
        flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        try:
            if self._whole:
                return _openat2(self._descriptor, path, flags, mode)
            return self._walk(path, flags, mode)
        except OSError as error:
            raise file_error(error, path) from error

    def open_regular(self, path: str) -> tuple[int, os.stat_result]:
        """Open a regular file for reading; a pipe, a device or a folder is refused.

        Raises:
            FileError: The file is missing or not a regular file.
        """
        descriptor = self.open(path, os.O_RDONLY)
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            return descriptor, found
        os.close(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise SandboxIsADirectoryError(f"{path!r} is a folder", path=path)
        raise PathError(f"{path!r} is not a regular file", path=path)

    def open_folder(self, path: str, *, make: bool = False) -> int:
        """Open a folder; with `make`, create it with missing parents.

        Raises:
            FileError: The folder is missing or not a folder.
        """
        flags = os.O_RDONLY | os.O_DIRECTORY
        if not make:
            return self.open(path, flags)
        parts = [] if path == "." else path.split("/")
        for count in range(1, len(parts) + 1):
            parent = self.open("/".join(parts[: count - 1]) or ".", flags)
            try:
                os.mkdir(parts[count - 1], dir_fd=parent)
            except FileExistsError:
                pass
            except OSError as error:
                raise file_error(error, path) from error
            finally:
                os.close(parent)
        return self.open(path, flags)

    def _walk(self, path: str, flags: int, mode: int) -> int:
        parent = os.dup(self._descriptor)
        names = path.split("/")
        try:
            for name in names[:-1]:
                step = os.open(
                    name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent
                )
                os.close(parent)
                parent = step
            return os.open(names[-1], flags | os.O_NOFOLLOW, mode, dir_fd=parent)
        finally:
            os.close(parent)

    def close(self) -> None:
        """Close the descriptor; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def file_error(error: OSError, path: str) -> FileError:
    """Return an `OSError` as an error of this library."""
    number = error.errno or 0
    words = _WORDS.get(number) or (os.strerror(number) if number else str(error))
    return _BY_ERRNO.get(number, FileError)(f"{path!r}: {words}", path=path)


def _openat2(parent: int, path: str, flags: int, mode: int) -> int:
    how = struct.pack("=QQQ", flags, mode if flags & os.O_CREAT else 0, _NO_MAGIC_LINKS | _BENEATH)
    for _ in range(_TRIES):
        descriptor = int(_libc.syscall(_OPENAT2, parent, os.fsencode(path), how, len(how)))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        # The path changed while it was resolved.
        if number != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number))


@cache
def has_openat2() -> bool:
    """Return whether `openat2` is available."""
    try:
        os.close(_openat2(-100, ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0))
    except OSError:
        return False
    return True
