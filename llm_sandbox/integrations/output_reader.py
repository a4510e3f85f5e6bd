"""Tool by which a model reads omitted output page by page."""

from collections.abc import Sequence
from typing import Any

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ArtifactNotFoundError, ValidationError
from llm_sandbox.session.history import HistoryEntry
from llm_sandbox.views.sanitize import fenced, one_line

__all__ = [
    "ABOUT_HANDLE",
    "ABOUT_LIMIT",
    "ABOUT_OFFSET",
    "LONGEST_PAGE",
    "PAGE",
    "describe_reader",
    "read_page",
    "reader_schema",
]

PAGE = 4000
"""Default number of characters of a page."""
LONGEST_PAGE = 20_000
"""Maximum number of characters of a page."""

ABOUT_HANDLE = (
    "stdout, stderr, error, displays or artifacts of the last run, or the id or path of a figure, "
    "table or file of any run, as an answer names it"
)
ABOUT_OFFSET = "characters to pass over"
ABOUT_LIMIT = f"characters to return, at most {LONGEST_PAGE}; {PAGE} are usual"

_OF_ONE_RUN = ("stdout", "stderr", "error", "displays", "artifacts")


def describe_reader(tool: str) -> str:
    """Return the description of the tool for a model.

    Args:
        tool: Name of the tool that runs code.
    """
    return (
        f"Reads what an answer of {tool} left out: long output, tables, texts. Answers name what "
        "can be read, and from which character on. Nothing is run."
    )


def reader_schema(*, strict: bool = False) -> dict[str, Any]:
    """Return the tool's parameters as JSON Schema.

    Args:
        strict: Whether all parameters are required, as in strict functions; null is then the
            default.
    """
    number = {"type": ["integer", "null"]} if strict else {"type": "integer"}
    return {
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": ABOUT_HANDLE},
            "offset": {**number, "description": ABOUT_OFFSET},
            "limit": {**number, "description": ABOUT_LIMIT},
        },
        "required": ["handle", "offset", "limit"] if strict else ["handle"],
        "additionalProperties": False,
    }


def read_page(
    history: Sequence[HistoryEntry], handle: str, offset: int = 0, limit: int = PAGE, *, name: str
) -> str:
    """Return a fenced page of a stream or an artifact, with instructions for the next one.

    If it cannot be read, the answer is an explanation for the model.

    Args:
        history: Runs of a session, oldest first.
        handle: ``stdout``, ``stderr``, ``error``, ``displays`` or ``artifacts`` of the last run, or
            the id or path of an artifact of any run.
        offset: Number of characters before the page.
        limit: Characters of the page, at most `LONGEST_PAGE`.
        name: Name of this tool.
    """
    if not history:
        return "Nothing has been run yet."
    try:
        result = _result_of(history, handle)
        limit = min(limit, LONGEST_PAGE)
        page = result.read(handle, offset, limit)
        following = offset + limit
        # What is left of a piece without its control sequences may be shorter than what was read.
        goes_on = bool(result.read(handle, following, LONGEST_PAGE).strip())
    except (ArtifactNotFoundError, ValidationError) as error:
        return f"Nothing was read: {error.message}. Handles: {ABOUT_HANDLE}."
    # trust: written by a model, and only shown to the model.
    shown = one_line(handle)
    if not page and not goes_on:
        past = f" after character {offset:,}" if offset else ""
        return f"{shown} has nothing{past}."
    rest = f'[{name}("{shown}", offset={following}) goes on]' if goes_on else "[that is the end]"
    return f"{shown}, from character {offset:,}:\n{fenced(page)}\n{rest}"


def _result_of(history: Sequence[HistoryEntry], handle: str) -> ExecutionResult:
    """Return the last run, or the last one that made the artifact."""
    last = history[-1].result
    if handle in _OF_ONE_RUN:
        return last
    problem: ArtifactNotFoundError | None = None
    for entry in reversed(history):
        try:
            entry.result.artifact(handle)
        except ArtifactNotFoundError as error:
            # The model has just received the answer of the last run.
            problem = problem or error
        else:
            return entry.result
    raise problem or ArtifactNotFoundError(f"no run has made {handle!r}")
