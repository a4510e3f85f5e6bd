"""Interactive sessions, under their name for compatibility: all sessions keep variables."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage, language_name
from llm_sandbox.exceptions import LanguageNotSupportedError, ValidationError
from llm_sandbox.session.history import HistoryEntry

__all__ = ["InteractiveSandboxSession", "InteractiveSettings", "KernelType"]


class KernelType(StrEnum):
    """Kernel of an interactive session."""

    IPYTHON = "ipython"
    """IPython kernel, as in every Python session."""


@dataclass(frozen=True, slots=True)
class InteractiveSettings:
    """Settings of an interactive session.

    Raises:
        ValidationError: A value is invalid.
    """

    kernel_type: KernelType = KernelType.IPYTHON
    """Kernel type."""
    max_memory: str | None = "1GB"
    """Memory of the sandbox; None for the limit of every session."""
    history_size: int = 1000
    """Maximum number of runs in `history`."""
    timeout: float | None = 300.0
    """Seconds of a run; None for no limit."""
    poll_interval: float = 0.1
    """Accepted for compatibility: results are pushed, without polling."""

    def __post_init__(self) -> None:
        if self.history_size < 0:
            raise ValidationError(
                f"invalid history_size: expected 0 or more, got {self.history_size}",
                parameter="history_size",
            )
        if not self.poll_interval > 0:
            raise ValidationError(
                f"invalid poll_interval: expected seconds above 0, got {self.poll_interval}",
                parameter="poll_interval",
            )


class InteractiveSandboxSession(ArtifactSandboxSession):
    """Python session that keeps its variables between runs, as every session does.

    Args:
        backend: Backend; None for the strongest that works.
        lang: Python.
        kernel_type: Kernel type: ``ipython``.
        max_memory: Memory of the sandbox, such as ``1GB``; `limits`, or a ``mem_limit`` in
            `runtime_configs`, takes precedence.
        history_size: Maximum number of runs in `history`.
        timeout: Default seconds for a run; None for no limit.
        runtime_configs: Engine options by docker-py's names; see `create_session`.
        interactive_settings: Kernel, memory, history and timeout, in place of the separate
            arguments.
        **kwargs: Further arguments of `create_session`.

    Raises:
        LanguageNotSupportedError: The language is not Python.
        ValidationError: A value is invalid.
    """

    def __init__(
        self,
        *,
        backend: SandboxBackend | str | Backend | None = None,
        lang: str = SupportedLanguage.PYTHON,
        kernel_type: KernelType | str = KernelType.IPYTHON,
        max_memory: str | None = "1GB",
        history_size: int = 1000,
        timeout: float | None = 300.0,
        runtime_configs: Mapping[str, Any] | None = None,
        interactive_settings: InteractiveSettings | None = None,
        **kwargs: Any,
    ) -> None:
        if language_name(lang) != SupportedLanguage.PYTHON:
            raise LanguageNotSupportedError(
                lang, known=["python"], reason="has no interactive session of this class"
            )
        if kernel_type not in list(KernelType):
            raise ValidationError(
                f"invalid kernel_type: expected 'ipython', got {kernel_type!r}",
                parameter="kernel_type",
            )
        self.settings = interactive_settings or InteractiveSettings(
            KernelType(kernel_type), max_memory, history_size, timeout
        )
        configs = dict(runtime_configs or {})
        if self.settings.max_memory is not None and kwargs.get("limits") is None:
            configs.setdefault("mem_limit", self.settings.max_memory)
        kwargs.setdefault("execution_timeout", self.settings.timeout)
        super().__init__(backend=backend, lang=lang, runtime_configs=configs, **kwargs)

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """Latest runs, at most `history_size`, oldest first; see `BaseSession.history`."""
        kept = super().history
        return kept[max(0, len(kept) - self.settings.history_size) :]
