"""Files in the sandbox could not be read, written or listed."""

import errno as _errno
from typing import Unpack

from llm_sandbox.exceptions.base import ErrorCode, ErrorFacts, SandboxError

__all__ = [
    "FileError",
    "NoSpaceError",
    "PathError",
    "SandboxFileExistsError",
    "SandboxFileNotFoundError",
    "SandboxIsADirectoryError",
    "SandboxNotADirectoryError",
    "SandboxPermissionError",
]


class FileError(SandboxError):
    """Reading, writing or listing files in the sandbox failed."""

    default_code = ErrorCode.FILE
    details = ("path",)

    path: str | None
    """Path inside the sandbox; None when unknown."""

    def __init__(
        self, message: str, *, path: str | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.path = path


class PathError(FileError, ValueError):
    """The path is invalid or leaves the place it must stay in."""

    default_code = ErrorCode.PATH


class SandboxFileNotFoundError(FileError, FileNotFoundError):
    """Nothing exists at the path."""

    default_code = ErrorCode.FILE_NOT_FOUND
    errno = _errno.ENOENT


class SandboxFileExistsError(FileError, FileExistsError):
    """Something exists at the path already."""

    default_code = ErrorCode.FILE_EXISTS
    errno = _errno.EEXIST


class SandboxIsADirectoryError(FileError, IsADirectoryError):
    """A file was wanted and the path is a directory."""

    default_code = ErrorCode.IS_A_DIRECTORY
    errno = _errno.EISDIR


class SandboxNotADirectoryError(FileError, NotADirectoryError):
    """A directory was wanted and the path is something else."""

    default_code = ErrorCode.NOT_A_DIRECTORY
    errno = _errno.ENOTDIR


class SandboxPermissionError(FileError, PermissionError):
    """The sandbox's user may not do this at the path."""

    default_code = ErrorCode.FILE_PERMISSION
    errno = _errno.EACCES


class NoSpaceError(FileError, OSError):
    """The sandbox's disk or inode limit is reached."""

    default_code = ErrorCode.NO_SPACE
    errno = _errno.ENOSPC
