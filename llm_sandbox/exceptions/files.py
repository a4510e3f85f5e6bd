"""Errors of file operations in the sandbox."""

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
    """Failed file operation in the sandbox."""

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
    """Invalid path, or one that leaves the allowed folder."""

    default_code = ErrorCode.PATH


class SandboxFileNotFoundError(FileError, FileNotFoundError):
    """Missing file."""

    default_code = ErrorCode.FILE_NOT_FOUND
    errno = _errno.ENOENT


class SandboxFileExistsError(FileError, FileExistsError):
    """File that exists already."""

    default_code = ErrorCode.FILE_EXISTS
    errno = _errno.EEXIST


class SandboxIsADirectoryError(FileError, IsADirectoryError):
    """Directory in place of a file."""

    default_code = ErrorCode.IS_A_DIRECTORY
    errno = _errno.EISDIR


class SandboxNotADirectoryError(FileError, NotADirectoryError):
    """Other file in place of a directory."""

    default_code = ErrorCode.NOT_A_DIRECTORY
    errno = _errno.ENOTDIR


class SandboxPermissionError(FileError, PermissionError):
    """Operation that the sandbox's user is not permitted."""

    default_code = ErrorCode.FILE_PERMISSION
    errno = _errno.EACCES


class NoSpaceError(FileError, OSError):
    """Exhausted disk or inode limit of the sandbox."""

    default_code = ErrorCode.NO_SPACE
    errno = _errno.ENOSPC
