"""Tool call ids of runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from llm_sandbox.exceptions import ValidationError

__all__ = ["LONGEST_ID", "current_tool_call_id", "tool_call_id"]

LONGEST_ID = 256
"""Maximum characters of an id, which comes from a model and must be bounded in logs."""

_current: ContextVar[str | None] = ContextVar("llm_sandbox_tool_call_id", default=None)


@contextmanager
def tool_call_id(id: str | None) -> Iterator[None]:
    """Set the `RunRecord.tool_call_id` of the runs in a ``with`` block.

    The id applies to this thread or task, and to calls of awaitable twins in it.

    Args:
        id: Id of the call in the model's API; None for none. Cut to 256 characters.

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
    """Return the current id set by `tool_call_id`; None if there is none."""
    return _current.get()
