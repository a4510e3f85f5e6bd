"""Roots of a client, mounted read-only in its sandboxes."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import unquote, urlsplit

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp_types import ListRootsResult

from llm_sandbox.backends.mounts import find_mounts
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.mounts import Bind, Mount
from llm_sandbox.views.sanitize import one_line

__all__ = ["FOLDER", "RootMounts", "Roots"]

FOLDER = "/roots"
"""Folder of the roots in sandboxes."""

_MOST = 20


async def _ask(context: Context[Any, Any]) -> ListRoots | ListRootsResult:
    """Request the client's roots, if the server and the client support them."""
    takes = context.request_context.lifespan_context.options.takes_roots
    capabilities = context.client_capabilities
    if takes and capabilities is not None and capabilities.roots is not None:
        return ListRoots()
    return ListRootsResult(roots=[])


Roots = Annotated[ListRootsResult, Resolve(_ask)]
"""Type of a tool parameter that is resolved from the client, not the model."""


@dataclass(frozen=True)
class RootMounts:
    """Mounts of a client's roots for a new sandbox."""

    mounts: Mapping[str, Mount] = field(default_factory=dict)
    """Mounts by path."""
    problems: tuple[str, ...] = ()
    """Reasons for unmounted roots, for the client."""

    @classmethod
    def of(cls, found: ListRootsResult) -> Self:
        """Return the mounts of a client's roots, with the reasons for omitted ones.

        Args:
            found: Roots listed by the client.
        """
        mounts: dict[str, Mount] = {}
        problems = []
        for root in found.roots[:_MOST]:
            # trust: a client's word, which the server's option lets count; the place is judged as
            # every mount is, and only read.
            address = urlsplit(str(root.uri))
            path = Path(unquote(address.path))
            place = _free(posixpath.join(FOLDER, path.name or "root"), mounts)
            try:
                if address.netloc not in ("", "localhost"):
                    raise ValidationError("it is not a folder of this computer", parameter="roots")
                mount = Bind(path)
                find_mounts({place: mount})
            except SandboxError as error:
                problems.append(f"The root {one_line(str(root.uri))} is not seen: {error.message}.")
            else:
                mounts[place] = mount
        return cls(mounts, tuple(problems))


def _free(place: str, taken: Mapping[str, Mount]) -> str:
    names = [place, *(f"{place}-{number}" for number in range(2, _MOST + 2))]
    return next(name for name in names if name not in taken)
