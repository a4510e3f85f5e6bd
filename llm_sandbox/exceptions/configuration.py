"""Errors of configuration."""

from collections.abc import Sequence
from typing import Unpack

from llm_sandbox.exceptions.base import CommonFacts, ErrorCode, ErrorFacts, SandboxError

__all__ = [
    "CommandEmptyError",
    "ConfigurationError",
    "LanguageNotSupportPlotError",
    "LanguageNotSupportedError",
    "LibraryInstallationNotSupportedError",
    "MissingDependencyError",
    "UnsupportedBackendError",
    "UnsupportedError",
    "ValidationError",
]


class ConfigurationError(SandboxError):
    """Invalid configuration."""

    default_code = ErrorCode.CONFIGURATION


class MissingDependencyError(ConfigurationError):
    """Missing optional dependency."""

    default_code = ErrorCode.MISSING_DEPENDENCY
    details = ("extra",)

    extra: str | None
    """The extra that brings the dependency; None when no extra does."""

    def __init__(
        self, message: str, *, extra: str | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        if extra is not None and "hint" not in facts:
            from llm_sandbox.host.distribution import install_command

            facts["hint"] = install_command(extra)
        super().__init__(message, **facts)
        self.extra = extra


class UnsupportedBackendError(ConfigurationError):
    """Backend that this version cannot use."""

    default_code = ErrorCode.UNSUPPORTED_BACKEND

    def __init__(
        self, backend: str, *, known: Sequence[str] = (), **facts: Unpack[CommonFacts]
    ) -> None:
        choice = f"; known: {', '.join(map(str, known))}" if known else ""
        message = f"backend {str(backend)!r} is not supported{choice}"
        super().__init__(message, backend=backend, **facts)


class _LanguageError(ConfigurationError):
    details = ("language",)

    language: str
    """Name of the language."""

    def __init__(self, language: str, sentence: str, facts: ErrorFacts) -> None:
        super().__init__(f"language {str(language)!r} {sentence}", **facts)
        self.language = str(language)


class LanguageNotSupportedError(_LanguageError):
    """Unknown language, or one that is not available in this version."""

    default_code = ErrorCode.LANGUAGE_NOT_SUPPORTED

    def __init__(
        self,
        language: str,
        *,
        known: Sequence[str] = (),
        reason: str = "is not supported",
        **facts: Unpack[ErrorFacts],
    ) -> None:
        choice = f"; available: {', '.join(map(str, known))}" if known else ""
        super().__init__(language, f"{reason}{choice}", facts)


class LanguageNotSupportPlotError(_LanguageError):
    """Language whose plots cannot be captured."""

    default_code = ErrorCode.PLOTS_NOT_SUPPORTED

    def __init__(self, language: str, **facts: Unpack[ErrorFacts]) -> None:
        super().__init__(language, "has no plot capture", facts)


class LibraryInstallationNotSupportedError(_LanguageError):
    """Language without a package manager here."""

    default_code = ErrorCode.INSTALL_NOT_SUPPORTED

    def __init__(self, language: str, **facts: Unpack[ErrorFacts]) -> None:
        super().__init__(language, "cannot install libraries", facts)


class ValidationError(ConfigurationError, ValueError):
    """Invalid argument."""

    default_code = ErrorCode.INVALID_VALUE
    details = ("parameter",)

    parameter: str | None
    """Name of the parameter or field; None when no single one is at fault."""

    def __init__(
        self, message: str, *, parameter: str | None = None, **facts: Unpack[ErrorFacts]
    ) -> None:
        super().__init__(message, **facts)
        self.parameter = parameter


class CommandEmptyError(ValidationError):
    """Command without words."""

    default_code = ErrorCode.COMMAND_EMPTY

    def __init__(self, message: str = "the command is empty", **facts: Unpack[ErrorFacts]) -> None:
        super().__init__(message, parameter="command", **facts)


class UnsupportedError(ConfigurationError, NotImplementedError):
    """Option that this backend or version cannot honour; refused rather than ignored."""

    default_code = ErrorCode.UNSUPPORTED
    details = ("feature", "reason")

    feature: str
    """The option."""
    reason: str | None
    """Reason of the refusal; None without one."""

    def __init__(
        self,
        feature: str,
        backend: str | None = None,
        reason: str | None = None,
        **facts: Unpack[CommonFacts],
    ) -> None:
        where = f" by backend {str(backend)!r}" if backend is not None else ""
        why = f": {reason}" if reason else ""
        super().__init__(f"{feature} is not supported{where}{why}", backend=backend, **facts)
        self.feature = feature
        self.reason = reason
