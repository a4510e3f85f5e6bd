"""The machine under a session, or how it is used, is at fault."""

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
    "PoolExhaustedError",
    "ProcessNotFoundError",
    "SandboxNotFoundError",
    "SessionBusyError",
    "SessionClosedError",
    "SessionExpiredError",
    "ToolchainNotFoundError",
]


class ContainerError(SandboxError):
    """The machine under the session, or its use, is at fault."""

    default_code = ErrorCode.CONTAINER


class _ImageError(ContainerError):
    details = ("image",)

    image: str
    """Reference of the image."""

    def __init__(self, image: str, sentence: str, facts: ErrorFacts) -> None:
        super().__init__(f"image {image!r} {sentence}", **facts)
        self.image = image


class ImageNotFoundError(_ImageError):
    """The image is neither here nor in the registry."""

    default_code = ErrorCode.IMAGE_NOT_FOUND

    def __init__(self, image: str, **facts: Unpack[ErrorFacts]) -> None:
        super().__init__(image, "was not found", facts)


class ImagePullError(_ImageError):
    """The image could not be pulled."""

    default_code = ErrorCode.IMAGE_PULL
    default_retryable = True

    def __init__(self, image: str, error: object = None, **facts: Unpack[ErrorFacts]) -> None:
        why = f": {error}" if error is not None else ""
        super().__init__(image, f"could not be pulled{why}", facts)


class ContainerGoneError(ContainerError):
    """The container, pod or sandbox no longer exists."""

    default_code = ErrorCode.CONTAINER_GONE


class NotOpenSessionError(ContainerError):
    """The session was used before it was opened."""

    default_code = ErrorCode.NOT_OPEN

    def __init__(
        self, message: str = "the session is not open", **facts: Unpack[ErrorFacts]
    ) -> None:
        facts.setdefault("hint", "use it in a with block, or call open() first")
        super().__init__(message, **facts)


class SessionClosedError(NotOpenSessionError):
    """The session was used after it was closed."""

    default_code = ErrorCode.CLOSED

    def __init__(self, message: str = "the session is closed", **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "open it again, or create a new session")
        super().__init__(message, **facts)


class SessionExpiredError(NotOpenSessionError, ContainerGoneError, SandboxTimeoutError):
    """The session was used after its `session_timeout`."""

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
    """Two threads used one session at once."""

    default_code = ErrorCode.BUSY
    default_retryable = True


class PoolExhaustedError(ContainerError):
    """Every sandbox of a pool is lent out, and none came back in time."""

    default_code = ErrorCode.POOL_EXHAUSTED
    default_retryable = True
    details = ("pool_size", "timeout")

    pool_size: int
    """How many the pool may have."""
    timeout: float | None
    """Seconds that were waited; None when nobody waited."""

    def __init__(
        self, pool_size: int, timeout: float | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        facts.setdefault("hint", "close a session, or raise max_pool_size")
        waited = "" if timeout is None else f", and none came back in {timeout} s"
        super().__init__(f"all {pool_size} sandboxes of the pool are in use{waited}", **facts)
        self.pool_size, self.timeout = pool_size, timeout


class PoolClosedError(ContainerError):
    """The pool was used after close."""

    default_code = ErrorCode.POOL_CLOSED

    def __init__(self, message: str = "the pool is closed", **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "create a new pool")
        super().__init__(message, **facts)


class NameInUseError(ContainerError):
    """Another living sandbox has the name."""

    default_code = ErrorCode.NAME_IN_USE
    details = ("name", "namespace")

    name: str
    """The name."""
    namespace: str
    """Where it is taken."""

    def __init__(self, name: str, namespace: str, **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", f"use that one, Sandbox.from_name({name!r}), or give another name")
        super().__init__(
            f"a sandbox in namespace {namespace!r} has the name {name!r} already", **facts
        )
        self.name, self.namespace = name, namespace


class SandboxNotFoundError(ContainerError, LookupError):
    """There is no such sandbox, or not any more."""

    default_code = ErrorCode.SANDBOX_NOT_FOUND
    details = ("end_reason", "exit_code")

    end_reason: str | None
    """Why it has ended; None where nobody remembers it."""
    exit_code: int | None
    """What it came to; None where nobody remembers it."""

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
    """The sandbox knows no such program, or not any more."""

    default_code = ErrorCode.PROCESS_NOT_FOUND

    def __init__(self, process_id: str, **facts: Unpack[ErrorFacts]) -> None:
        facts.setdefault("hint", "Sandbox.processes() has those that run")
        super().__init__(f"the sandbox knows no program {process_id!r}", **facts)


class LaunchError(ContainerError):
    """A command never started."""

    default_code = ErrorCode.LAUNCH
    details = ("kind",)

    kind: Literal["not_found", "not_executable", "bad_cwd", "other"]
    """What prevented the start."""

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
    """The engine behind the sandbox answered with an error."""

    default_code = ErrorCode.BACKEND


class BackendUnavailableError(BackendError):
    """The engine does not answer or its binary is absent."""

    default_code = ErrorCode.BACKEND_UNAVAILABLE


class IsolationUnavailableError(BackendUnavailableError):
    """This machine cannot isolate; the message says why and the hint how to change it."""

    default_code = ErrorCode.ISOLATION_UNAVAILABLE


class ToolchainNotFoundError(BackendUnavailableError):
    """The programs that run a language are not where the sandbox would have them from.

    Args:
        language: The language.
        missing: The programs that were looked for and are not there.
        place: Where they were looked for, in words.
        facts: What else is known; see `SandboxError`.
    """

    default_code = ErrorCode.TOOLCHAIN_NOT_FOUND
    details = ("language", "missing", "place")

    language: str
    """The language."""
    missing: tuple[str, ...]
    """The programs that were looked for and are not there."""
    place: str
    """Where they were looked for, in words."""

    def __init__(
        self, language: str, missing: Sequence[str], place: str, **facts: Unpack[ErrorFacts]
    ) -> None:
        names = ", ".join(missing)
        super().__init__(f"{language} is run by {names}, not found {place}", **facts)
        self.language, self.missing, self.place = language, tuple(missing), place
