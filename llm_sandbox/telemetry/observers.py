"""Observers that log runs: standard library and structlog."""

import logging
from typing import Any, Literal, get_args

from llm_sandbox.exceptions import MissingDependencyError, ValidationError
from llm_sandbox.telemetry.record import RunRecord

__all__ = ["Level", "LoggingObserver", "StructlogObserver"]


class LoggingObserver:
    """Observer that logs a line for each record; the attribute ``llm_sandbox`` of the line has the
    record as data, for JSON handlers.

    In a `WithContent`, the line ends with the content, its control characters escaped.

    Args:
        logger: Logger; None for the logger ``llm_sandbox.runs``.
        level: Log level, independent of the outcome.
    """

    def __init__(self, logger: logging.Logger | None = None, level: int = logging.INFO) -> None:
        self._logger = logger if logger is not None else logging.getLogger("llm_sandbox.runs")
        self._level = level

    def __call__(self, record: RunRecord, /) -> None:
        """Log the record."""
        if self._logger.isEnabledFor(self._level):
            line = " ".join(_words(record))
            self._logger.log(self._level, "%s", line, extra={"llm_sandbox": record.to_dict()})


def _words(record: RunRecord) -> list[str]:
    words = [f"{record.kind} {record.status} in {record.duration_s:.3f} s"]
    facts: dict[str, object] = {
        "exit_code": record.exit_code,
        "error": record.error_type,
        "backend": record.backend,
        "language": record.language,
        "session": record.session_id,
        "call": record.tool_call_id,
        "rules": ",".join(record.policy_rules) or None,
    }
    content = record.content
    if content is not None:
        facts.update(code=content.code, stdout=content.stdout or None, value=content.value)
        facts.update(stderr=content.stderr or None, message=content.error)
        facts["names"] = ", ".join(content.names) or None
    words.extend(f"{name}={_word(value)}" for name, value in facts.items() if value is not None)
    return words


def _word(value: object) -> str:
    # trust: a line break in what a model or its code wrote would forge a line of its own.
    text = str(value)
    return text if text.isprintable() and " " not in text else ascii(text)


Level = Literal["debug", "info", "warning", "error", "critical"]
"""Log level, by structlog's names."""


class StructlogObserver:
    """Observer that logs an event for each record, such as ``llm_sandbox.run``, with the known
    fields of the record as values, in a `WithContent` also ``content``.

    Args:
        logger: A bound logger of structlog; None for ``structlog.get_logger("llm_sandbox.runs")``.
        level: Log level, independent of the outcome.

    Raises:
        MissingDependencyError: structlog is not installed.
        ValidationError: The level is unknown.
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
