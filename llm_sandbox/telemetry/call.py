"""Which tool call of a model a run belongs to."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from llm_sandbox.exceptions import ValidationError

__all__ = ["LONGEST_ID", "current_tool_call_id", "tool_call_id"]

LONGEST_ID = 256
"""Characters of an id that are kept: a model's words are not unbounded in logs."""

_current: ContextVar[str | None] = ContextVar("llm_sandbox_tool_call_id", default=None)


@contextmanager
def tool_call_id(id: str | None) -> Iterator[None]:
    """Say which tool call the runs in a with block belong to: their `RunRecord.tool_call_id`.

    It holds for this thread or task, and for what a session's awaitable twin does for it.

    Args:
        id: The id by which the model's API knows the call; None for none. Longer ones than 256
            characters are cut.

    Raises:
        ValidationError: `id` is not text.
    """
    token = _current.set(_checked(id))
    try:
        yield
    finally:
        _current.reset(token)


def _checked(id: object) -> str | None:
    if id is not None and not isinstance(id, str):
        kind = type(id).__name__
        raise ValidationError(f"a tool call's id is text, not {kind}", parameter="id")
    # trust: it is what a model's API sent, and may hold what has no encoding.
    return id[:LONGEST_ID].encode("utf-8", "replace").decode() if id else None


def current_tool_call_id() -> str | None:
    """Return the id that `tool_call_id` has set here; None when there is none."""
    return _current.get()
