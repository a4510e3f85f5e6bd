"""What Modal's programs catch. Each class is one of this library's as well, where there is one that
means the same.
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
    """Base of all that is raised here."""


class InvalidError(Error, core.ValidationError):
    """An argument, or a call at this point, is not acceptable."""


class ConflictError(InvalidError):
    """It cannot be done in the state that the sandbox is in, such as after its end."""


class NotFoundError(Error, LookupError):
    """There is no such sandbox, app, image, secret, volume or program."""


class AlreadyExistsError(Error, core.ContainerError):
    """The name is taken."""


class AuthError(Error):
    """Who asks could not be made out; never raised here."""


class PermissionDeniedError(Error, core.SecurityError):
    """It was refused for security."""


class ResourceExhaustedError(Error, core.ResourceError):
    """A limit stands in the way."""


class InternalError(Error):
    """Modal's servers failed; never raised here."""


class RemoteError(Error):
    """What was done elsewhere failed."""


class ImageBuildError(RemoteError, core.ContainerError):
    """An image could not be built; the message has the last lines."""


class ExecutionError(Error, core.ContainerError):
    """The sandbox, or the engine behind it, failed."""


class UnimplementedError(Error, core.UnsupportedError):
    """Modal's cloud does this, and this machine or backend cannot; the message says why."""


class TimeoutError(Error, builtins.TimeoutError):
    """It took too long."""


class SandboxTimeoutError(TimeoutError, core.SandboxTimeoutError):
    """The sandbox came to its timeout, or something about it took too long."""


class ExecTimeoutError(TimeoutError):
    """A program came to its timeout; never raised here: its exit code is -1."""


class SandboxTerminatedError(Error):
    """The sandbox was ended before it ended by itself."""


class SnapshotCreationError(Error):
    """A sandbox's memory could not be saved; never raised here."""


class ClientClosed(Error, core.SessionClosedError):
    """The handle has let go of the sandbox."""

    def __init__(self, message: str = "this handle has let go of the sandbox") -> None:
        super().__init__(message, hint="Sandbox.from_id() gives another")


class SandboxFilesystemError(Error, core.FileError):
    """A file operation failed."""


class SandboxFilesystemNotFoundError(SandboxFilesystemError, FileNotFoundError):
    """Nothing exists at the path."""


class SandboxFilesystemPathAlreadyExistsError(SandboxFilesystemError, FileExistsError):
    """Something exists at the path already."""


class SandboxFilesystemIsADirectoryError(SandboxFilesystemError, IsADirectoryError):
    """A file was wanted and the path is a directory."""


class SandboxFilesystemNotADirectoryError(SandboxFilesystemError, NotADirectoryError):
    """A directory was wanted, or is on the way, and something else is there."""


class SandboxFilesystemPermissionError(SandboxFilesystemError, PermissionError):
    """The sandbox's user may not."""


class SandboxFilesystemFileTooLargeError(SandboxFilesystemError):
    """The file is larger than what is taken, or the disk is full."""


class SandboxFilesystemDirectoryNotEmptyError(SandboxFilesystemError):
    """The directory to be removed has something in it."""
