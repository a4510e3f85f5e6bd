"""Names that programs written for the reference catch, each the class that is raised here in its
place, or a base of it. See `llm_sandbox.compat`.
"""

from llm_sandbox.exceptions.configuration import (
    LanguageNotSupportedError,
    LibraryInstallationNotSupportedError,
    ValidationError,
)
from llm_sandbox.exceptions.machine import ContainerGoneError, NotOpenSessionError

__all__ = [
    "DuplicateClientError",
    "ExtraArgumentsError",
    "InvalidRegexPatternError",
    "LanguageHandlerNotInitializedError",
    "PackageManagerError",
    "PoolHealthCheckError",
    "SessionNotOpenError",
]

DuplicateClientError = ValidationError
"""A session of a pool was given an option of the pool."""
ExtraArgumentsError = ValidationError
"""An argument is unknown, or contradicts another."""
InvalidRegexPatternError = ValueError
"""Base of the error of a `SecurityPattern`: pydantic's own, which lists the mistakes."""
LanguageHandlerNotInitializedError = LanguageNotSupportedError
"""The language has no handler."""
PackageManagerError = LibraryInstallationNotSupportedError
"""The language has no package manager."""
PoolHealthCheckError = ContainerGoneError
"""A sandbox has ended. Those that end while idle in a pool are replaced silently."""
SessionNotOpenError = NotOpenSessionError
"""A session was used before open, or after close."""
