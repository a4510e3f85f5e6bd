"""The rest of what a view of a result left out, asked for by handle."""

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.views.artifact_text import is_text
from llm_sandbox.views.sanitize import clean, one_line
from llm_sandbox.views.sections import heading_of, line_of
from llm_sandbox.views.visible import displays, plain_text, visible_outputs

__all__ = ["read"]

_LONGEST = 1_000_000
_BYTES_OF_CHARACTER = 4


def read(result: ExecutionResult, handle: str, offset: int = 0, limit: int = 4000) -> str:
    """Return a piece of a stream or of an artifact as text, without control sequences.

    A table or chart whose content is no text is read as CSV, a list of all artifacts as one line
    each. Of what has no text its facts are returned.

    Args:
        result: The run.
        handle: `"stdout"`, `"stderr"`, `"error"`, `"displays"` (the texts of all displays),
            `"artifacts"` (a list of all), or an artifact's id or path.
        offset: Characters before the piece.
        limit: Characters of the piece, from 1 to 1,000,000.

    Raises:
        ArtifactNotFoundError: The handle is unknown.
        ValidationError: A number is out of range.
    """
    given: tuple[tuple[str, object, int], ...] = (("offset", offset, 0), ("limit", limit, 1))
    for name, value, least in given:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValidationError(f"{name} must be a whole number from {least}", parameter=name)
    limit = min(limit, _LONGEST)
    if handle in ("stdout", "stderr"):
        text: str = getattr(result, handle)
        # trust: text from inside; only the piece is copied and cleaned.
        return clean(text[offset : offset + limit])
    if handle == "error":
        return clean(_error(result)[offset : offset + limit])
    if handle == "displays":
        shown = displays(visible_outputs(result.outputs))
        text = "\n".join(plain_text(output.data) or "" for _, output in shown)
        return clean(text[offset : offset + limit])
    if handle == "artifacts":
        return "\n".join(map(line_of, result.artifacts))[offset : offset + limit]
    return _read_artifact(result.artifact(handle), offset, limit)


def _error(result: ExecutionResult) -> str:
    if result.error is None:
        return ""
    frames = [f"{f.file}, line {f.line}, in {f.function}: {f.source}" for f in result.error.frames]
    return "\n".join([f"{result.error.name}: {result.error.value}", *frames])


def _read_artifact(artifact: Artifact, offset: int, limit: int) -> str:
    content = artifact.content
    if content is not None and is_text(artifact.mime):
        # Reading from the start keeps whole characters whole, whatever their length in bytes.
        data = content.head(min(content.size, (offset + limit) * _BYTES_OF_CHARACTER))
        return clean(data.decode("utf-8", "replace")[offset : offset + limit])
    described = artifact.chart or artifact.table
    if described is not None:
        return clean(described.to_csv()[offset : offset + limit])
    note = f"; {one_line(artifact.note)}" if artifact.note else ""
    return f"{heading_of(artifact)}; it has no text{note}"
