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
"""A session of a pool was given what only the pool can be given."""
ExtraArgumentsError = ValidationError
"""An argument is unknown, or contradicts another."""
InvalidRegexPatternError = ValueError
"""The base of what a `SecurityPattern` raises: pydantic's own error, which lists what is wrong."""
LanguageHandlerNotInitializedError = LanguageNotSupportedError
"""There is no handler of the language."""
PackageManagerError = LibraryInstallationNotSupportedError
"""The language has nothing that installs libraries."""
PoolHealthCheckError = ContainerGoneError
"""A sandbox has ended. Those that end while a pool keeps them are replaced without a word."""
SessionNotOpenError = NotOpenSessionError
"""A session was used before open, or after close."""
