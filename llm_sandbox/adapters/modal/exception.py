"""Exception classes of Modal. Each also derives from the equivalent of this library, where there is
one.
"""

import builtins

import llm_sandbox.exceptions as core

__all__ = [
    "AlreadyExistsError",
    "AuthError",
    "ClientClosed",
    "ConflictError",
    "Error",
    "ExecTimeoutError",
    "ExecutionError",
    "ImageBuildError",
    "InternalError",
    "InvalidError",
    "NotFoundError",
    "PermissionDeniedError",
    "RemoteError",
    "ResourceExhaustedError",
    "SandboxFilesystemDirectoryNotEmptyError",
    "SandboxFilesystemError",
    "SandboxFilesystemFileTooLargeError",
    "SandboxFilesystemIsADirectoryError",
    "SandboxFilesystemNotADirectoryError",
    "SandboxFilesystemNotFoundError",
    "SandboxFilesystemPathAlreadyExistsError",
    "SandboxFilesystemPermissionError",
    "SandboxTerminatedError",
    "SandboxTimeoutError",
    "SnapshotCreationError",
    "TimeoutError",
    "UnimplementedError",
]


class Error(core.SandboxError):
    """Base of the exceptions of this adapter."""


class InvalidError(Error, core.ValidationError):
    """An argument is invalid, or a call is not allowed at this point."""


class ConflictError(InvalidError):
    """The operation is not possible in the state of the sandbox, such as after its end."""


class NotFoundError(Error, LookupError):
    """The sandbox, app, image, secret, volume or program does not exist."""


class AlreadyExistsError(Error, core.ContainerError):
    """The name is already in use."""


class AuthError(Error):
    """Authentication failed; never raised here."""


class PermissionDeniedError(Error, core.SecurityError):
    """The operation was refused for security reasons."""


class ResourceExhaustedError(Error, core.ResourceError):
    """A limit was exceeded."""


class InternalError(Error):
    """Modal's servers failed; never raised here."""


class RemoteError(Error):
    """A remote operation failed."""


class ImageBuildError(RemoteError, core.ContainerError):
    """An image could not be built; the message has the last lines."""


class ExecutionError(Error, core.ContainerError):
    """The sandbox, or the engine behind it, failed."""


class UnimplementedError(Error, core.UnsupportedError):
    """Modal's cloud supports this, and this machine or backend does not; the message says why."""


class TimeoutError(Error, builtins.TimeoutError):
    """The operation took too long."""


class SandboxTimeoutError(TimeoutError, core.SandboxTimeoutError):
    """The sandbox reached its timeout, or an operation on it took too long."""


class ExecTimeoutError(TimeoutError):
    """A program reached its timeout; never raised here: the exit code is -1."""


class SandboxTerminatedError(Error):
    """The sandbox was terminated before it ended by itself."""


class SnapshotCreationError(Error):
    """A memory snapshot failed; never raised here."""


class ClientClosed(Error, core.SessionClosedError):
    """The handle is detached from the sandbox."""

    def __init__(self, message: str = "this handle has let go of the sandbox") -> None:
        super().__init__(message, hint="Sandbox.from_id() gives another")


class SandboxFilesystemError(Error, core.FileError):
    """A file operation failed."""


class SandboxFilesystemNotFoundError(SandboxFilesystemError, FileNotFoundError):
    """Nothing exists at the path."""


class SandboxFilesystemPathAlreadyExistsError(SandboxFilesystemError, FileExistsError):
    """Something exists at the path already."""


class SandboxFilesystemIsADirectoryError(SandboxFilesystemError, IsADirectoryError):
    """A file was expected, and the path is a directory."""


class SandboxFilesystemNotADirectoryError(SandboxFilesystemError, NotADirectoryError):
    """A directory was expected in the path, and something else exists there."""


class SandboxFilesystemPermissionError(SandboxFilesystemError, PermissionError):
    """The sandbox's user lacks the permission."""


class SandboxFilesystemFileTooLargeError(SandboxFilesystemError):
    """The file is larger than the limit, or the disk is full."""


class SandboxFilesystemDirectoryNotEmptyError(SandboxFilesystemError):
    """The directory to remove is not empty."""
