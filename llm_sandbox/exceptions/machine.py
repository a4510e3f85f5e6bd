"""Errors of the machine of a session, and of its use."""

from collections.abc import Sequence
from typing import Literal, Unpack

from llm_sandbox.exceptions.base import ErrorCode, ErrorFacts, SandboxError
from llm_sandbox.exceptions.running import SandboxTimeoutError

__all__ = [
    "BackendError",
    "BackendUnavailableError",
    "ContainerError",
    "ContainerGoneError",
    "ImageNotFoundError",
    "ImagePullError",
    "IsolationUnavailableError",
    "LaunchError",
    "NameInUseError",
    "NotOpenSessionError",
    "PoolClosedError",
    "PoolCreationError",
    "PoolExhaustedError",
    "ProcessNotFoundError",
    "SandboxNotFoundError",
    "SessionBusyError",
    "SessionClosedError",
    "SessionExpiredError",
    "ToolchainNotFoundError",
]


class ContainerError(SandboxError):
    """Failure of the machine of a session, or of its use."""

    default_code = ErrorCode.CONTAINER


class _ImageError(ContainerError):
    details = ("image",)

    image: str
    """Reference of the image."""

    def __init__(self, image: str, sentence: str, facts: ErrorFacts) -> None:
        super().__init__(f"image {image!r} {sentence}", **facts)
        self.image = image


class ImageNotFoundError(_ImageError):
    """Image that is neither local nor in the registry."""

    default_code = ErrorCode.IMAGE_NOT_FOUND

    def __init__(self, image: str, **facts: Unpack[ErrorFacts]) -> None:
        super().__init__(image, "was not found", facts)


class ImagePullError(_ImageError):
    """Failed pull of an image."""

    default_code = ErrorCode.IMAGE_PULL
    default_retryable = True

    def __init__(self, image: str, error: object = None, **facts: Unpack[ErrorFacts]) -> None:
        why = f": {error}" if error is not None else ""
        super().__init__(image, f"could not be pulled{why}", facts)


class ContainerGoneError(ContainerError):
    """Container, pod or sandbox that no longer exists."""

    default_code = ErrorCode.CONTAINER_GONE


class NotOpenSessionError(ContainerError):
    """Use of a session before it was opened."""

    default_code = ErrorCode.NOT_OPEN

    def __init__(
        self, message: str = "the session is not open", **facts: Unpack[ErrorFacts]
    ) -> None:
        facts.setdefault("hint", "use it in a with block, or call open() first")
        super().__init__(message, **facts)


class SessionClosedError(NotOpenSessionError):
    """Use of a session after it was closed."""

    default_code = ErrorCode.CLOSED

    def __init__(self, message: str = "the session is closed", **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "open it again, or create a new session")
        super().__init__(message, **facts)


class SessionExpiredError(NotOpenSessionError, ContainerGoneError, SandboxTimeoutError):
    """Use of a session after its `session_timeout`."""

    default_code = ErrorCode.SESSION_EXPIRED

    def __init__(self, timeout_duration: float | None = None, **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "open it again, or create a new session")
        whole = "" if timeout_duration is None else f" of {timeout_duration:g} s"
        SandboxTimeoutError.__init__(
            self,
            f"the session is not open: its session_timeout{whole} is over, and its sandbox ended",
            timeout_duration,
            **facts,
        )


class SessionBusyError(ContainerError):
    """Concurrent use of one session by two threads."""

    default_code = ErrorCode.BUSY
    default_retryable = True


class PoolExhaustedError(ContainerError):
    """Pool that had no sandbox for a claim: too many are in use, or too many claims wait."""

    default_code = ErrorCode.POOL_EXHAUSTED
    default_retryable = True
    details = ("pool_size", "timeout", "busy", "waiting")

    pool_size: int
    """Maximum size of the pool."""
    timeout: float | None
    """Seconds waited; None without waiting."""
    busy: int | None
    """Number of sandboxes in use; None for all."""
    waiting: int | None
    """Number of claims that wait already, if that is the reason; else None."""

    def __init__(
        self,
        pool_size: int,
        timeout: float | None = None,
        *,
        busy: int | None = None,
        waiting: int | None = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        facts.setdefault("hint", "close a session, or raise max_pool_size")
        if busy is not None and busy < pool_size and timeout is not None:
            text = (
                f"no sandbox of the pool was ready within {timeout:g} s: {busy} of {pool_size} "
                "are in use, and others were not ready yet"
            )
        else:
            text = f"all {pool_size} sandboxes of the pool are in use"
            if waiting:
                text += f", and {waiting} claims wait already"
            if timeout is not None:
                text += f", and none came back in {timeout:g} s"
        super().__init__(text, **facts)
        self.pool_size, self.timeout = pool_size, timeout
        self.busy, self.waiting = busy, waiting


class PoolCreationError(ContainerError):
    """Failed creation of a session for a pool; its ``__cause__`` is the error."""

    default_code = ErrorCode.POOL_CREATION
    details = ("failures",)

    failures: int
    """Number of failed attempts in a row."""

    def __init__(self, cause: object, failures: int = 1, **facts: Unpack[ErrorFacts]) -> None:
        reason = cause.message if isinstance(cause, SandboxError) else f"{cause}"
        if isinstance(cause, SandboxError):
            facts.setdefault("hint", cause.hint)
            facts.setdefault("backend", cause.backend)
        elif isinstance(cause, BaseException):
            reason = f"{type(cause).__name__}: {cause}"
        super().__init__(f"the pool could not create a session: {reason}", **facts)
        self.failures = failures


class PoolClosedError(ContainerError):
    """Use of a pool after it was closed."""

    default_code = ErrorCode.POOL_CLOSED

    def __init__(self, message: str = "the pool is closed", **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "create a new pool")
        super().__init__(message, **facts)


class NameInUseError(ContainerError):
    """Name of another living sandbox."""

    default_code = ErrorCode.NAME_IN_USE
    details = ("name", "namespace")

    name: str
    """The name."""
    namespace: str
    """Namespace of the name."""

    def __init__(self, name: str, namespace: str, **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", f"use that one, Sandbox.from_name({name!r}), or give another name")
        super().__init__(
            f"a sandbox in namespace {namespace!r} has the name {name!r} already", **facts
        )
        self.name, self.namespace = name, namespace


class SandboxNotFoundError(ContainerError, LookupError):
    """Sandbox that does not exist, or no longer."""

    default_code = ErrorCode.SANDBOX_NOT_FOUND
    details = ("end_reason", "exit_code")

    end_reason: str | None
    """Reason of its end; None when unknown."""
    exit_code: int | None
    """Exit code of the sandbox; None when unknown."""

    def __init__(
        self,
        which: str,
        *,
        end_reason: str | None = None,
        exit_code: int | None = None,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        facts.setdefault("hint", "Sandbox.list() has those that live")
        ended = "" if end_reason is None else f": it has ended ({end_reason}, {exit_code})"
        super().__init__(f"there is no sandbox {which}{ended}", **facts)
        self.end_reason, self.exit_code = end_reason, exit_code


class ProcessNotFoundError(ContainerError, LookupError):
    """Program that the sandbox does not know, or no longer."""

    default_code = ErrorCode.PROCESS_NOT_FOUND

    def __init__(self, process_id: str, **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "Sandbox.processes() has those that run")
        super().__init__(f"the sandbox knows no program {process_id!r}", **facts)


class LaunchError(ContainerError):
    """Command that could not be started."""

    default_code = ErrorCode.LAUNCH
    details = ("kind",)

    kind: Literal["not_found", "not_executable", "bad_cwd", "other"]
    """Cause of the failure."""

    def __init__(
        self,
        message: str,
        *,
        kind: Literal["not_found", "not_executable", "bad_cwd", "other"] = "other",
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(message, **facts)
        self.kind = kind


class BackendError(ContainerError):
    """Error of the engine behind the sandbox."""

    default_code = ErrorCode.BACKEND


class BackendUnavailableError(BackendError):
    """Engine that does not answer, or whose binary is missing."""

    default_code = ErrorCode.BACKEND_UNAVAILABLE


class IsolationUnavailableError(BackendUnavailableError):
    """Lack of isolation on this computer; the message has the cause, the hint the remedy."""

    default_code = ErrorCode.ISOLATION_UNAVAILABLE


class ToolchainNotFoundError(BackendUnavailableError):
    """Missing programs of a language.

    Args:
        language: The language.
        missing: The missing programs.
        place: Description of the searched location.
        facts: Common attributes; see `SandboxError`.
    """

    default_code = ErrorCode.TOOLCHAIN_NOT_FOUND
    details = ("language", "missing", "place")

    language: str
    """The language."""
    missing: tuple[str, ...]
    """The missing programs."""
    place: str
    """Description of the searched location."""

    def __init__(
        self, language: str, missing: Sequence[str], place: str, **facts: Unpack[ErrorFacts]
    ) -> None:
        names = ", ".join(missing)
        super().__init__(f"{language} is run by {names}, not found {place}", **facts)
        self.language, self.missing, self.place = language, tuple(missing), place
