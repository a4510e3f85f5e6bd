"""Opt-in content of records."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.console import ConsoleOutput
from llm_sandbox.telemetry.record import RunContent, RunObserver, RunRecord, check_observer

__all__ = ["WithContent", "content_of"]

_MOST_NAMES = 100


class WithContent:
    """Wrapper of an observer that adds the content to records: code, output, values, names,
    messages.

    Logs then contain what users and models wrote, including secrets. Only wrapped observers receive
    content.

    Args:
        observer: Observer that receives records with `content`.
        max_chars: Maximum characters of each text, from its start.

    Raises:
        ValidationError: An argument is invalid.
    """

    def __init__(self, observer: RunObserver, *, max_chars: int = 4000) -> None:
        check_observer(observer)
        _check_length(max_chars)
        self.observer = observer
        self.max_chars = max_chars

    def __call__(self, record: RunRecord, /) -> object:
        """Pass on a record with its texts cut."""
        content = record.content
        if content is not None:
            record = replace(record, content=self._cut(content))
        return self.observer(record)

    def _cut(self, content: RunContent) -> RunContent:
        return RunContent(
            code=self._short(content.code),
            stdout=self._short(content.stdout),
            stderr=self._short(content.stderr),
            value=None if content.value is None else self._short(content.value),
            error=None if content.error is None else self._short(content.error),
            names=tuple(self._short(name) for name in content.names),
        )

    def _short(self, text: str) -> str:
        # trust: text from inside may hold what has no encoding, and no handler could write.
        kept = text[: self.max_chars].encode("utf-8", "replace").decode()
        left_out = len(text) - self.max_chars
        return f"{kept}... [{left_out} more characters]" if left_out > 0 else kept

    def __repr__(self) -> str:
        return f"WithContent({self.observer!r}, max_chars={self.max_chars})"


def _check_length(max_chars: object) -> None:
    if type(max_chars) is not int or max_chars < 1:
        raise ValidationError(
            f"max_chars must be a whole number above 0, not {max_chars!r}", parameter="max_chars"
        )


def content_of(
    text: str | Sequence[str], result: ConsoleOutput | None, error: BaseException | None
) -> RunContent:
    """Return the complete content of an ended run.

    Args:
        text: Code, command or libraries.
        result: Result; None if there is none.
        error: Raised exception; None if there is none.
    """
    names: tuple[str, ...] = ()
    value = None
    message = f"{type(error).__name__}: {error}" if error is not None else None
    if isinstance(result, ExecutionResult):
        value = result.value
        if message is None and result.error is not None:
            message = f"{result.error.name}: {result.error.value}"
        found = [name for item in result.artifacts for name in (item.paths or (item.name,))]
        names = tuple([*found, *result.deleted][:_MOST_NAMES])
    return RunContent(
        code=shlex.join(map(str, text)) if isinstance(text, list | tuple) else str(text),
        stdout=result.stdout if result is not None else "",
        stderr=result.stderr if result is not None else "",
        value=value,
        error=message,
        names=names,
    )
