"""What a pipeline step is to a sandbox: where logs go, facts are noted and settings come from."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["LogSink", "LoggingStep", "Step", "active_step", "get_active_step"]


class LogSink(Protocol):
    """Where the records of one log source go."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""

    def end(self) -> None:
        """Take no more."""


class Step(Protocol):
    """A step of a pipeline, while it runs."""

    def open_log(self, source: str) -> LogSink:
        """Begin a log source.

        Args:
            source: Its name, ``sandbox:<session id>``.
        """

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Note facts about the step."""

    def get_settings(self, component_type: str, flavor: str) -> Mapping[str, Any]:
        """Return the settings that the step has for a component, as far as they were set."""


class _LoggerSink:
    def __init__(self, source: str) -> None:
        self._logger = logging.getLogger(source)

    def emit(self, record: logging.LogRecord) -> None:
        if self._logger.isEnabledFor(record.levelno):
            self._logger.handle(record)

    def end(self) -> None:
        """Nothing is held."""


class LoggingStep:
    """A step whose log sources are loggers of the standard library.

    Args:
        settings: Settings of its components by ``<type>.<flavor>``, such as ``sandbox.local``.
    """

    metadata: dict[str, str]
    """What was noted."""

    def __init__(self, settings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._settings = dict(settings or {})
        self.metadata = {}

    def open_log(self, source: str) -> LogSink:
        """See `Step`."""
        return _LoggerSink(source)

    def publish(self, metadata: Mapping[str, str]) -> None:
        """See `Step`."""
        self.metadata.update(metadata)

    def get_settings(self, component_type: str, flavor: str) -> Mapping[str, Any]:
        """See `Step`."""
        return self._settings.get(f"{component_type}.{flavor}", {})


_active: ContextVar[Step | None] = ContextVar("llm_sandbox_zenml_step", default=None)


def get_active_step() -> Step | None:
    """Return the step that is active for the caller; None outside of any."""
    return _active.get()


@contextlib.contextmanager
def active_step(step: Step) -> Iterator[Step]:
    """Make a step the active one for the block; what ZenML does itself where it runs the step."""
    token = _active.set(step)
    try:
        yield step
    finally:
        _active.reset(token)
