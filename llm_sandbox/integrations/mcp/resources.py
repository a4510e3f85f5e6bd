"""MCP resources: artifacts of runs, and files of sandboxes."""

import base64
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError
from mcp_types import Resource

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.integrations.mcp.access import SandboxAccess
from llm_sandbox.integrations.mcp.results import artifact_uri, file_uri, mime_of, shown_name
from llm_sandbox.integrations.mcp.sessions import ClientSandbox

__all__ = ["Resources"]

_ARTIFACT = "sandbox://{session}/artifacts/{artifact}"
_FILE = "sandbox://{session}/files/{+path}"
_BINARY = "application/octet-stream"
_MOST_LISTED = 500
_LARGEST = 32 << 20

_Next = Callable[[ServerRequestContext[Any, Any]], Awaitable[Any]]


class Resources:
    """Resources of a client's sandboxes.

    Args:
        access: Access to the sandboxes.
    """

    def __init__(self, access: SandboxAccess) -> None:
        self._access = access
        self._sessions = access.sessions

    def add_to(self, server: MCPServer[Any]) -> None:
        """Register the resources with a server."""
        server.resource(
            _ARTIFACT,
            name="artifact",
            description="What a run made: a figure, a table or a file.",
            mime_type=_BINARY,
        )(self._artifact)
        server.resource(
            _FILE,
            name="file",
            description="A file of a sandbox, by its path from the working directory.",
            mime_type=_BINARY,
            # Paths of the sandbox, which are looked up there and nowhere else.
            security=ResourceSecurity(exempt_params={"path"}),
        )(self._file)

        async def listing(ctx: ServerRequestContext[Any, Any], call_next: _Next) -> Any:
            result = await call_next(ctx)
            # What comes is in the form in which it is sent.
            if ctx.method == "resources/list" and isinstance(result, dict):
                context: Context[Any, Any] = Context(request_context=ctx, mcp_server=server)
                return {**result, "resources": [_sent(item) for item in await self._list(context)]}
            if ctx.method == "resources/read" and isinstance(result, dict):
                return {**result, "contents": [self._typed(item) for item in result["contents"]]}
            return result

        server.middleware.append(listing)

    async def _artifact(self, session: str, artifact: str, context: Context[Any, Any]) -> bytes:
        """Return an artifact of a run."""
        try:
            found = await self._held(session, context).session.artifact(artifact)
            return found.bytes()
        except SandboxError as error:
            raise ResourceError(str(error)) from None

    async def _file(self, session: str, path: str, context: Context[Any, Any]) -> bytes:
        """Return a file of a sandbox."""
        try:
            async with self._sessions.using(self._held(session, context)) as opened:
                return await opened.sandbox.files.read_bytes(path, _LARGEST)
        except SandboxError as error:
            raise ResourceError(str(error)) from None

    def _held(self, session: str, context: Context[Any, Any]) -> ClientSandbox:
        return self._sessions.find(session, self._access.caller(context))

    async def _list(self, context: Context[Any, Any]) -> list[Resource]:
        found: list[Resource] = []
        for held in self._sessions.of(self._access.caller(context)):
            found += _artifacts(held)
            if not held.is_in_use:
                found += await self._files(held)
        return found[:_MOST_LISTED]

    async def _files(self, held: ClientSandbox) -> list[Resource]:
        try:
            async with self._sessions.using(held) as opened:
                entries = await opened.sandbox.files.list(".")
        except SandboxError:
            return []
        return [
            Resource(
                uri=file_uri(held.id, entry.name),
                name=shown_name(entry.name),
                mime_type=mime_of(entry.name),
                size=entry.size,
            )
            for entry in entries
            if entry.kind == "file"
        ]

    def _typed(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return resource content with its MIME type, as text if it is text."""
        mime = self._mime(item["uri"])
        if mime.startswith("text/") or mime.endswith(("json", "xml")):
            # trust: a file from inside; a client reads it as text if it is some.
            with contextlib.suppress(UnicodeDecodeError):
                text = base64.b64decode(item["blob"]).decode()
                return {"uri": item["uri"], "mimeType": mime, "text": text}
        return {**item, "mimeType": mime}

    def _mime(self, uri: str) -> str:
        session, _, rest = uri.removeprefix("sandbox://").partition("/")
        kind, _, name = rest.partition("/")
        if kind == "files":
            return mime_of(unquote(name))
        held = self._sessions.by_id(session)
        made = (
            []
            if held is None
            else [a for run in held.session.history for a in run.result.artifacts]
        )
        return next((a.mime for a in made if a.id == unquote(name)), _BINARY)


def _sent(item: Resource) -> dict[str, Any]:
    return item.model_dump(by_alias=True, mode="json", exclude_none=True)


def _artifacts(held: ClientSandbox) -> list[Resource]:
    made = [artifact for run in held.session.history for artifact in run.result.artifacts]
    return [
        Resource(
            uri=artifact_uri(held.id, artifact.id),
            name=shown_name(artifact.name),
            description=artifact.describe(),
            mime_type=artifact.mime,
            size=artifact.size,
        )
        for artifact in made
        if artifact.content is not None
    ]
