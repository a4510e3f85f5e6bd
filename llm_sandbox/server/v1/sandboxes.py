"""Sandboxes of all APIs: listed, ended; their programs and their files."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from llm_sandbox.exceptions import SandboxIsADirectoryError
from llm_sandbox.sandbox.files import FileEntry
from llm_sandbox.server.answers import TooLargeError, in_long_thread, in_thread
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.usage import measure
from llm_sandbox.server.v1.access import Access, json_response
from llm_sandbox.server.v1.models import (
    FileFacts,
    ProcessResultModel,
    ProgramRequest,
    SandboxFacts,
    UsageFacts,
    describe_sandbox,
    program_words,
)
from llm_sandbox.server.v1.session_options import NewSession, read_options
from llm_sandbox.server.watchers import walk

__all__ = ["add_routes"]

_PIECE = 1 << 20
_DEEPEST = 16
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}
_UPLOAD = {
    "requestBody": {
        "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        "required": True,
    }
}


def add_routes(router: APIRouter, access: Access) -> None:
    """Add the routes of sandboxes; those of programs and files below sessions as well."""
    api = _Sandboxes(access)
    add = router.add_api_route
    facts: dict[str, Any] = {"response_model": SandboxFacts}
    one = "/v1/sandboxes/{sandbox_id}"
    add("/v1/sandboxes", api.create, methods=["POST"], status_code=201, **facts)
    add("/v1/sandboxes", api.list, methods=["GET"], response_model=list[SandboxFacts])
    add(one, api.get, methods=["GET"], **facts)
    add(one, api.delete, methods=["DELETE"], status_code=204)
    add(f"{one}/usage", api.usage, methods=["GET"], response_model=UsageFacts)
    add(f"{one}/exec", api.exec, methods=["POST"], response_model=ProcessResultModel)
    for root in (one, "/v1/sessions/{sandbox_id}"):
        file = f"{root}/files/{{path:path}}"
        add(f"{root}/files", api.list_files, methods=["GET"], response_model=list[FileFacts])
        add(file, api.read, methods=["GET"], response_class=Response, responses=_CONTENT)
        add(file, api.write, methods=["PUT"], response_model=FileFacts, openapi_extra=_UPLOAD)
        add(file, api.remove, methods=["DELETE"], status_code=204)


class _Sandboxes:
    """Routes of sandboxes."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._fleet = access.fleet

    async def create(self, request: Request, body: NewSession) -> Response:  # type: ignore[valid-type]
        """Create a sandbox, which is a session that is used for its programs and files."""
        tenant = self._access.tenant(request)
        asked = read_options(body, self._access.options)
        live = await in_thread(self._fleet.create, tenant, asked)
        return json_response(await in_thread(describe_sandbox, live), 201)

    async def list(self, request: Request) -> Response:
        """List the tenant's sandboxes, whatever API has made them, newest first."""
        found = self._fleet.list(self._access.tenant(request))
        return json_response([describe_sandbox(live) for live in found])

    async def get(self, request: Request, sandbox_id: str) -> Response:
        """Describe a sandbox."""
        live = self._fleet.get(self._access.tenant(request), sandbox_id)
        return json_response(describe_sandbox(live))

    async def delete(self, request: Request, sandbox_id: str) -> Response:
        """End a sandbox."""
        live = await self._access.sandbox(request, sandbox_id)
        await in_thread(self._fleet.kill, live)
        return Response(status_code=204)

    async def usage(self, request: Request, sandbox_id: str) -> Response:
        """Measure a sandbox, now. This is no use of it that keeps it."""
        live = self._fleet.get(self._access.tenant(request), sandbox_id)
        return json_response(asdict(await in_thread(measure, live)))

    async def exec(self, request: Request, sandbox_id: str, body: ProgramRequest) -> Response:
        """Run a program to its end."""
        live = await self._access.sandbox(request, sandbox_id)

        def run() -> dict[str, object]:
            with self._fleet.run():
                process = live.sandbox.exec(
                    *program_words(body.command),
                    env=body.env,
                    cwd=body.cwd,
                    stdin=body.stdin,
                    timeout=body.timeout,
                )
                return process.collect().to_dict()

        return json_response(await in_long_thread(run))

    # --- files

    async def list_files(
        self,
        request: Request,
        sandbox_id: str,
        path: str = ".",
        depth: int = Query(1, ge=1, le=_DEEPEST, description="Number of levels."),
    ) -> Response:
        """List a directory."""
        live = await self._access.sandbox(request, sandbox_id)

        def look() -> list[dict[str, Any]]:
            found = sorted(walk(live.sandbox.files, path, depth), key=lambda pair: pair[0])
            return [_facts(inner, entry) for inner, entry in found]

        return json_response(await in_thread(look))

    async def read(self, request: Request, sandbox_id: str, path: str) -> Response:
        """Return the content of a file, as an attachment."""
        live = await self._access.sandbox(request, sandbox_id)
        most = self._access.options.file_bytes
        entry = await in_thread(live.sandbox.files.stat, path)
        if entry.kind == "directory":
            raise SandboxIsADirectoryError(f"{path!r} is a directory", path=path)
        data = await in_thread(live.sandbox.files.read_bytes, path, most)
        # trust: bytes from inside; as an attachment no browser renders them.
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return StreamingResponse(
            _pieces(data), media_type="application/octet-stream", headers=headers
        )

    async def write(self, request: Request, sandbox_id: str, path: str) -> Response:
        """Write a file from the body of the request; missing directories are made."""
        live = await self._access.sandbox(request, sandbox_id)
        await self._receive(request, live, path)
        entry = await in_thread(live.sandbox.files.stat, path)
        return json_response(_facts(path, entry))

    async def _receive(self, request: Request, live: LiveSandbox, path: str) -> None:
        """Write the body in pieces; what is too large leaves the beginning."""
        most = self._access.options.file_bytes
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length[:20]) > most:
            raise TooLargeError(f"the file is larger than {most} bytes")
        files = live.sandbox.files
        held = bytearray()
        count, is_new = 0, True
        async for data in request.stream():
            held += data
            count += len(data)
            if count > most:
                raise TooLargeError(f"the file is larger than {most} bytes")
            if len(held) >= _PIECE:
                await in_thread(files.write_bytes, path, bytes(held), append=not is_new)
                is_new = False
                held.clear()
        if held or is_new:
            await in_thread(files.write_bytes, path, bytes(held), append=not is_new)

    async def remove(
        self, request: Request, sandbox_id: str, path: str, recursive: bool = False
    ) -> Response:
        """Remove a file or an empty directory; with ``recursive`` a whole directory."""
        live = await self._access.sandbox(request, sandbox_id)
        await in_thread(live.sandbox.files.remove, path, recursive=recursive)
        return Response(status_code=204)


async def _pieces(data: bytes) -> AsyncIterator[memoryview]:
    view = memoryview(data)
    for place in range(0, len(view), _PIECE):
        yield view[place : place + _PIECE]


def _facts(path: str, entry: FileEntry) -> dict[str, Any]:
    return {"path": path, **asdict(entry)}
