"""Folders that a client names as its roots, for its sandboxes to read."""

import posixpath
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp_types import ListRootsResult

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.mounts import Bind

__all__ = ["FOLDER", "Roots", "mounts_of"]

FOLDER = "/roots"
"""Where sandboxes see them."""

_MOST = 20


async def _ask(context: Context[Any, Any]) -> ListRoots | ListRootsResult:
    """Ask the client, if the server takes roots and the client has any."""
    takes = context.request_context.lifespan_context.options.takes_roots
    capabilities = context.client_capabilities
    if takes and capabilities is not None and capabilities.roots is not None:
        return ListRoots()
    return ListRootsResult(roots=[])


Roots = Annotated[ListRootsResult, Resolve(_ask)]
"""A parameter of tools that is asked of the client, and not of the model."""


def mounts_of(found: ListRootsResult) -> dict[str, Bind]:
    """Return what a sandbox sees of a client's roots, by path inside.

    Args:
        found: What the client has named.

    Raises:
        ValidationError: One is no folder or file of this computer.
    """
    mounts: dict[str, Bind] = {}
    for root in found.roots[:_MOST]:
        # trust: a client's word, which the server's option lets count; `Bind` judges the place.
        address = urlsplit(str(root.uri))
        path = Path(unquote(address.path))
        if address.scheme != "file" or address.netloc not in ("", "localhost"):
            raise ValidationError(f"the root {root.uri} is no file", parameter="roots")
        if not path.exists():
            raise ValidationError(f"the root {path} is not on this computer", parameter="roots")
        place = posixpath.join(FOLDER, path.name or "root")
        number = 2
        while place in mounts:
            place = posixpath.join(FOLDER, f"{path.name}-{number}")
            number += 1
        mounts[place] = Bind(path)
    return mounts
