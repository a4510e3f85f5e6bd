"""Runs as lines of the standard library's logging."""

import logging
from typing import Any, Literal, get_args

from llm_sandbox.exceptions import MissingDependencyError, ValidationError
from llm_sandbox.telemetry.record import RunRecord

__all__ = ["Level", "LoggingObserver", "StructlogObserver"]


class LoggingObserver:
    """Logs a line for each record; the record as data is the line's attribute ``llm_sandbox``, for
    handlers that write JSON.

    In a `WithContent`, the line ends with the content, its control characters escaped.

    Args:
        logger: Where to; None for the logger ``llm_sandbox.runs``.
        level: At which level, whatever the run's end.
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
