"""Runs as events of structlog."""

from typing import Any, Literal, get_args

from llm_sandbox.exceptions import MissingDependencyError, ValidationError
from llm_sandbox.telemetry.record import RunRecord

__all__ = ["Level", "StructlogObserver"]

Level = Literal["debug", "info", "warning", "error", "critical"]
"""At which level events are logged, by structlog's names."""


class StructlogObserver:
    """Logs an event for each record, such as ``llm_sandbox.run``, with the record's fields that are
    known as its values; in a `WithContent`, ``content`` is one of them.

    Args:
        logger: A bound logger of structlog; None for ``structlog.get_logger("llm_sandbox.runs")``.
        level: At which level, whatever the run's end.

    Raises:
        MissingDependencyError: structlog is not installed.
        ValidationError: There is no such level.
    """

    def __init__(self, logger: Any = None, level: Level = "info") -> None:
        if level not in get_args(Level):
            known = ", ".join(get_args(Level))
            raise ValidationError(f"there is no level {level!r}; known: {known}", parameter="level")
        if logger is None:
            try:
                import structlog
            except ModuleNotFoundError as error:
                raise MissingDependencyError(
                    "structlog is not installed", extra="structlog"
                ) from error
            logger = structlog.get_logger("llm_sandbox.runs")
        # The method is looked up at each record: structlog may be configured after this.
        self._logger = logger
        self._level = level

    def __call__(self, record: RunRecord, /) -> None:
        """Log the record."""
        values = {name: value for name, value in record.to_dict().items() if value is not None}
        getattr(self._logger, self._level)(f"llm_sandbox.{record.kind}", **values)
