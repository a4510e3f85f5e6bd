"""Errors: failures of the sandbox, never of the program inside.

::

    SandboxError
    ├─ ConfigurationError
    │  ├─ MissingDependencyError          an extra is not installed
    │  ├─ UnsupportedBackendError
    │  ├─ LanguageNotSupportedError
    │  ├─ LanguageNotSupportPlotError
    │  ├─ LibraryInstallationNotSupportedError
    │  ├─ ValidationError                 (ValueError)  a parameter's value
    │  │  └─ CommandEmptyError
    │  └─ UnsupportedError                (NotImplementedError)  refused, never ignored
    ├─ SecurityError
    │  └─ SecurityViolationError          the policy refused the code
    ├─ ContainerError
    │  ├─ ImageNotFoundError, ImagePullError, ContainerGoneError
    │  ├─ NotOpenSessionError             used before open
    │  │  ├─ SessionClosedError           used after close
    │  │  └─ SessionExpiredError          used after its session_timeout; ContainerGoneError, and
    │  │                                  SandboxTimeoutError, too
    │  ├─ SessionBusyError                used by two threads at once
    │  ├─ PoolExhaustedError, PoolCreationError, PoolClosedError
    │  ├─ NameInUseError                  another living sandbox has the name
    │  ├─ SandboxNotFoundError            (LookupError)
    │  ├─ ProcessNotFoundError            (LookupError)
    │  ├─ LaunchError                     the command never started
    │  └─ BackendError
    │     └─ BackendUnavailableError
    │        ├─ IsolationUnavailableError this machine cannot isolate
    │        └─ ToolchainNotFoundError    a language's programs are not there
    ├─ FileError
    │  ├─ PathError                       (ValueError)
    │  ├─ SandboxFileNotFoundError        (FileNotFoundError)
    │  ├─ SandboxFileExistsError          (FileExistsError)
    │  ├─ SandboxIsADirectoryError        (IsADirectoryError)
    │  ├─ SandboxNotADirectoryError       (NotADirectoryError)
    │  ├─ SandboxPermissionError          (PermissionError)
    │  └─ NoSpaceError                    (OSError, ENOSPC)
    ├─ ResourceError                      OutputLimitError, ArtifactLimitError, OutOfMemoryError
    ├─ ArtifactNotFoundError              (LookupError)
    ├─ VariableNotFoundError              (LookupError)
    │  └─ TableGoneError                  the code has let go of a table that was shown
    ├─ ValueNotTransferableError          (TypeError)  neither plain data, an array nor a table
    │  └─ ValueTooLargeError
    ├─ SandboxTimeoutError                (TimeoutError)  carries the partial result
    ├─ KernelError                        KernelDiedError, KernelNotReadyError, ProtocolError
    ├─ LibraryInstallationError           CommandFailedError
    └─ TransportError                     retryable

Messages name the object and the limit; they never hold user code, environment values or secrets.
Every error pickles and survives JSON (`to_dict`, `from_dict`). The codes are `ErrorCode`.
"""

from llm_sandbox.exceptions.aliases import (
    DuplicateClientError,
    ExtraArgumentsError,
    InvalidRegexPatternError,
    LanguageHandlerNotInitializedError,
    PackageManagerError,
    PoolHealthCheckError,
    SessionNotOpenError,
)
from llm_sandbox.exceptions.base import (
    ErrorCode,
    ErrorFacts,
    SandboxError,
)
from llm_sandbox.exceptions.configuration import (
    CommandEmptyError,
    ConfigurationError,
    LanguageNotSupportedError,
    LanguageNotSupportPlotError,
    LibraryInstallationNotSupportedError,
    MissingDependencyError,
    UnsupportedBackendError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.exceptions.files import (
    FileError,
    NoSpaceError,
    PathError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
)
from llm_sandbox.exceptions.machine import (
    BackendError,
    BackendUnavailableError,
    ContainerError,
    ContainerGoneError,
    ImageNotFoundError,
    ImagePullError,
    IsolationUnavailableError,
    LaunchError,
    NameInUseError,
    NotOpenSessionError,
    PoolClosedError,
    PoolCreationError,
    PoolExhaustedError,
    ProcessNotFoundError,
    SandboxNotFoundError,
    SessionBusyError,
    SessionClosedError,
    SessionExpiredError,
    ToolchainNotFoundError,
)
from llm_sandbox.exceptions.running import (
    ArtifactLimitError,
    ArtifactNotFoundError,
    CommandFailedError,
    KernelDiedError,
    KernelError,
    KernelNotReadyError,
    LibraryInstallationError,
    OutOfMemoryError,
    OutputLimitError,
    ProtocolError,
    ResourceError,
    SandboxTimeoutError,
    SecurityError,
    SecurityViolationError,
    TableGoneError,
    TransportError,
    ValueNotTransferableError,
    ValueTooLargeError,
    VariableNotFoundError,
)

__all__ = [
    "ArtifactLimitError",
    "ArtifactNotFoundError",
    "BackendError",
    "BackendUnavailableError",
    "CommandEmptyError",
    "CommandFailedError",
    "ConfigurationError",
    "ContainerError",
    "ContainerGoneError",
    "DuplicateClientError",
    "ErrorCode",
    "ErrorFacts",
    "ExtraArgumentsError",
    "FileError",
    "ImageNotFoundError",
    "ImagePullError",
    "InvalidRegexPatternError",
    "IsolationUnavailableError",
    "KernelDiedError",
    "KernelError",
    "KernelNotReadyError",
    "LanguageHandlerNotInitializedError",
    "LanguageNotSupportPlotError",
    "LanguageNotSupportedError",
    "LaunchError",
    "LibraryInstallationError",
    "LibraryInstallationNotSupportedError",
    "MissingDependencyError",
    "NameInUseError",
    "NoSpaceError",
    "NotOpenSessionError",
    "OutOfMemoryError",
    "OutputLimitError",
    "PackageManagerError",
    "PathError",
    "PoolClosedError",
    "PoolCreationError",
    "PoolExhaustedError",
    "PoolHealthCheckError",
    "ProcessNotFoundError",
    "ProtocolError",
    "ResourceError",
    "SandboxError",
    "SandboxFileExistsError",
    "SandboxFileNotFoundError",
    "SandboxIsADirectoryError",
    "SandboxNotADirectoryError",
    "SandboxNotFoundError",
    "SandboxPermissionError",
    "SandboxTimeoutError",
    "SecurityError",
    "SecurityViolationError",
    "SessionBusyError",
    "SessionClosedError",
    "SessionExpiredError",
    "SessionNotOpenError",
    "TableGoneError",
    "ToolchainNotFoundError",
    "TransportError",
    "UnsupportedBackendError",
    "UnsupportedError",
    "ValidationError",
    "ValueNotTransferableError",
    "ValueTooLargeError",
    "VariableNotFoundError",
]
