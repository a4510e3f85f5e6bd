"""Runs as lines of the standard library's logging."""

import logging

from llm_sandbox.telemetry.record import RunRecord

__all__ = ["LoggingObserver"]


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
