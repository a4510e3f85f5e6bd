"""Sessions as Jupyter means them: a notebook or console of the client's, and its kernel."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = ["NotebookSession", "parse_session"]

_LONGEST = 1024


@dataclass(frozen=True)
class NotebookSession:
    """Notebook, console or file of a client, which the server has nothing of but its name."""

    path: str
    """Path at the client's."""
    name: str = ""
    """Name for people."""
    type: str = "notebook"
    """What it is: ``notebook``, ``console``, ``file``."""
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    """Id of the session."""

    def describe(self, kernel: Mapping[str, Any]) -> dict[str, Any]:
        """Return the session as Jupyter describes one.

        Args:
            kernel: Description of its kernel.
        """
        own = {"path": self.path, "name": self.name}
        notebook = {"notebook": own} if self.type == "notebook" else {}
        return {"id": self.id, **own, "type": self.type, "kernel": dict(kernel), **notebook}


def parse_session(
    body: Mapping[str, Any], before: NotebookSession | None = None
) -> NotebookSession:
    """Return the session that a request describes.

    Args:
        body: Body of the request.
        before: Session to change; None for a new one.

    Raises:
        ValidationError: A value is invalid, or a new session has no path.
    """
    found = {name: body[name] for name in ("path", "name", "type") if body.get(name) is not None}
    for name, value in found.items():
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise ValidationError(f"invalid {name}: expected text", parameter=name)
    if before is not None:
        return replace(before, **found)
    if "path" not in found:
        raise ValidationError("invalid path: expected text", parameter="path")
    return NotebookSession(**found)
