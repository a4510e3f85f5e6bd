"""Pipeline steps: destination of logs and metadata, and source of settings."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["LogSink", "LoggingStep", "Step", "active_step", "get_active_step"]


class LogSink(Protocol):
    """Destination of the records of one log source."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record."""

    def end(self) -> None:
        """End the log source."""


class Step(Protocol):
    """Running step of a pipeline."""

    def open_log(self, source: str) -> LogSink:
        """Open a log source.

        Args:
            source: Name, ``sandbox:<session id>``.
        """

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Publish metadata of the step."""

    def get_settings(self, component_type: str, flavor: str) -> Mapping[str, Any]:
        """Return the explicitly set settings of the step for a component."""


class _LoggerSink:
    def __init__(self, source: str) -> None:
        self._logger = logging.getLogger(source)

    def emit(self, record: logging.LogRecord) -> None:
        if self._logger.isEnabledFor(record.levelno):
            self._logger.handle(record)

    def end(self) -> None:
        """Do nothing."""


class LoggingStep:
    """Step whose log sources are loggers of the standard library.

    Args:
        settings: Settings of components by ``<type>.<flavor>``, such as ``sandbox.local``.
    """

    metadata: dict[str, str]
    """Published metadata."""

    def __init__(self, settings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._settings = dict(settings or {})
        self.metadata = {}

    def open_log(self, source: str) -> LogSink:
        """Implement `Step`."""
        return _LoggerSink(source)

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Implement `Step`."""
        self.metadata.update(metadata)

    def get_settings(self, component_type: str, flavor: str) -> Mapping[str, Any]:
        """Implement `Step`."""
        return self._settings.get(f"{component_type}.{flavor}", {})


_active: ContextVar[Step | None] = ContextVar("llm_sandbox_zenml_step", default=None)


def get_active_step() -> Step | None:
    """Return the active step of the caller; None outside a step."""
    return _active.get()


@contextlib.contextmanager
def active_step(step: Step) -> Iterator[Step]:
    """Activate a step for the block, as ZenML does for the steps that it runs."""
    token = _active.set(step)
    try:
        yield step
    finally:
        _active.reset(token)
