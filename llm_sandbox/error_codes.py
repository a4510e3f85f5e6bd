"""Stable machine-readable codes of the library's errors.

A code is never renamed and never reused: servers, command lines and agents branch on it.
"""

from enum import StrEnum

__all__ = ["ErrorCode"]


class ErrorCode(StrEnum):
    """What went wrong, for programs; one code for each class of `llm_sandbox.exceptions`."""

    SANDBOX = "sandbox"
    CONFIGURATION = "configuration"
    MISSING_DEPENDENCY = "missing_dependency"
    UNSUPPORTED_BACKEND = "unsupported_backend"
    LANGUAGE_NOT_SUPPORTED = "language_not_supported"
    PLOTS_NOT_SUPPORTED = "plots_not_supported"
    INVALID_VALUE = "invalid_value"
    UNSUPPORTED = "unsupported"
    INSTALL_NOT_SUPPORTED = "install_not_supported"
    COMMAND_EMPTY = "command_empty"
    SECURITY = "security"
    SECURITY_VIOLATION = "security_violation"
    CONTAINER = "container"
    IMAGE_NOT_FOUND = "image_not_found"
    IMAGE_PULL = "image_pull"
    CONTAINER_GONE = "container_gone"
    NOT_OPEN = "not_open"
    CLOSED = "closed"
    BUSY = "busy"
    BACKEND = "backend"
    BACKEND_UNAVAILABLE = "backend_unavailable"
    ISOLATION_UNAVAILABLE = "isolation_unavailable"
    LAUNCH = "launch"
    FILE = "file"
    PATH = "path"
    FILE_NOT_FOUND = "file_not_found"
    FILE_EXISTS = "file_exists"
    IS_A_DIRECTORY = "is_a_directory"
    NOT_A_DIRECTORY = "not_a_directory"
    FILE_PERMISSION = "file_permission"
    NO_SPACE = "no_space"
    RESOURCE = "resource"
    OUTPUT_LIMIT = "output_limit"
    ARTIFACT_LIMIT = "artifact_limit"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    KERNEL = "kernel"
    KERNEL_DIED = "kernel_died"
    KERNEL_NOT_READY = "kernel_not_ready"
    PROTOCOL = "protocol"
    INSTALL_FAILED = "install_failed"
    COMMAND_FAILED = "command_failed"
    TRANSPORT = "transport"
