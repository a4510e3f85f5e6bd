"""API of OpenAI's containers, and one route beside it that runs code in them."""

import contextlib
import posixpath
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    SandboxError,
    SandboxFileNotFoundError,
    SandboxTimeoutError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.results.outputs import ErrorOutput, Output, ResultOutput, StreamOutput
from llm_sandbox.server.answers import TooLargeError, in_long_thread, in_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard
from llm_sandbox.server.live_sandbox import LiveSandbox, NewSandbox
from llm_sandbox.server.watchers import walk
from llm_sandbox.server.whole_programs import check_path

__all__ = ["API_NAME", "make_api"]

API_NAME = "openai"

_WORKDIR = "/mnt/data"
_MEMORY = {"1g": 1 << 30, "4g": 4 << 30, "16g": 16 << 30, "64g": 64 << 30}
_MINUTES = 20
_PAGE = 20
_MOST_PAGE = 100
_DEPTH = 8
_PIECE = 1 << 20
_RUN_S = 120.0
_PREFIX = "cntr_"


def make_api(fleet: Fleet, guard: Guard) -> Api:
    """Return the API over a fleet."""
    api = _Containers(fleet, guard)
    root = "/v1/containers"
    one = f"{root}/{{container_id}}"
    file = f"{one}/files/{{file_id}}"
    return Api(
        API_NAME,
        [
            Route(root, api.create, methods=["POST"]),
            Route(root, api.list, methods=["GET"]),
            Route(one, api.get, methods=["GET"]),
            Route(one, api.delete, methods=["DELETE"]),
            Route(f"{one}/files", api.add_file, methods=["POST"]),
            Route(f"{one}/files", api.list_files, methods=["GET"]),
            Route(file, api.get_file, methods=["GET"]),
            Route(file, api.delete_file, methods=["DELETE"]),
            Route(f"{file}/content", api.file_content, methods=["GET"]),
            Route(f"{one}/run", api.run, methods=["POST"]),
        ],
        _explain,
    )


_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}


def _explain(status: int, message: str, error: SandboxError | None) -> Response:
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    details = {
        "message": message,
        "type": kind,
        "param": getattr(error, "parameter", None),
        "code": None if error is None else str(error.code),
    }
    return JSONResponse({"error": details}, status)


class _Containers:
    """Routes of the API."""

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self._fleet = fleet
        self._guard = guard

    def _tenant(self, request: Request) -> str:
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        return tenant

    async def _live(self, request: Request) -> LiveSandbox:
        """Return the container of a request, which is used and so lives on for its time."""
        tenant = self._tenant(request)
        live = self._fleet.get(
            tenant, request.path_params["container_id"].removeprefix(_PREFIX), API_NAME
        )
        live.touch()
        await in_thread(live.set_timeout, live.timeout_s)
        return live

    async def create(self, request: Request) -> Response:
        """Create a container."""
        tenant = self._tenant(request)
        body = await read_object(request, self._fleet.options.body_bytes)
        live = await in_thread(self._fleet.create, tenant, self._new_container(body))
        return JSONResponse(_container(live))

    def _new_container(self, body: Mapping[str, Any]) -> NewSandbox:
        if body.get("file_ids"):
            raise UnsupportedError("file_ids", reason="this server stores no files of its own")
        if body.get("skills"):
            raise UnsupportedError("skills", reason="this server stores none")
        name = body.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= 256:
            raise ValidationError("invalid name: expected 1 to 256 characters", parameter="name")
        expires = body.get("expires_after") or {"anchor": "last_active_at", "minutes": _MINUTES}
        if not isinstance(expires, dict) or expires.get("anchor") != "last_active_at":
            raise ValidationError(
                "invalid expires_after: expected the anchor last_active_at",
                parameter="expires_after",
            )
        minutes = expires.get("minutes")
        if isinstance(minutes, bool) or not isinstance(minutes, int):
            raise ValidationError("invalid minutes: expected a number", parameter="minutes")
        memory = body.get("memory_limit")
        if memory is not None and memory not in _MEMORY:
            raise ValidationError(
                f"invalid memory_limit: expected one of {', '.join(_MEMORY)}",
                parameter="memory_limit",
            )
        return NewSandbox(
            API_NAME,
            workdir=_WORKDIR,
            timeout_s=minutes * 60,
            metadata={"name": name, "memory_limit": memory or ""},
            network=_network(body.get("network_policy")),
            memory_bytes=None if memory is None else _MEMORY[memory],
        )

    async def list(self, request: Request) -> Response:
        """List the tenant's containers."""
        found = self._fleet.list(self._tenant(request), API_NAME)
        if name := request.query_params.get("name"):
            found = [live for live in found if live.request.metadata["name"] == name]
        return _page(request, [_container(live) for live in found])

    async def get(self, request: Request) -> Response:
        """Describe a container."""
        return JSONResponse(_container(await self._live(request)))

    async def delete(self, request: Request) -> Response:
        """End a container."""
        live = await self._live(request)
        await in_thread(self._fleet.kill, live)
        name = request.path_params["container_id"]
        return JSONResponse({"id": name, "object": "container.deleted", "deleted": True})

    # --- files

    async def add_file(self, request: Request) -> Response:
        """Add a file to a container."""
        live = await self._live(request)
        kind = request.headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            raise UnsupportedError(
                "file_id", reason="this server stores no files of its own", hint="upload the file"
            )
        most = self._fleet.options.file_bytes
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length[:20]) > most + _PIECE:
            raise TooLargeError(f"the file is larger than {most} bytes, or of unknown size")
        try:
            form = await request.form(max_files=1)
        except MultiPartException as error:
            raise ValidationError(f"invalid body: {error.message}") from None
        async with contextlib.aclosing(_closing(form)):
            part = form.get("file")
            if not isinstance(part, UploadFile) or not part.filename:
                raise ValidationError("invalid file: expected one with a name", parameter="file")
            path = check_path(posixpath.basename(part.filename))
            source = part.file

            def write() -> None:
                live.sandbox.files.write_bytes(path, source.read(_PIECE))
                while data := source.read(_PIECE):
                    live.sandbox.files.write_bytes(path, data, append=True)

            await in_thread(write)
        return JSONResponse(await in_thread(_file, live, path))

    async def list_files(self, request: Request) -> Response:
        """List the files of a container."""
        live = await self._live(request)

        def find() -> list[dict[str, object]]:
            found = walk(live.sandbox.files, _WORKDIR, _DEPTH)
            return [
                _described(live, path, entry.size, int(entry.mtime))
                for path, entry in sorted(found, key=lambda pair: pair[0])
                if entry.kind == "file"
            ]

        return _page(request, await in_thread(find))

    async def get_file(self, request: Request) -> Response:
        """Describe a file of a container."""
        live = await self._live(request)
        return JSONResponse(await in_thread(_file, live, _path_of(request)))

    async def delete_file(self, request: Request) -> Response:
        """Remove a file of a container."""
        live = await self._live(request)
        await in_thread(live.sandbox.files.remove, _path_of(request))
        name = request.path_params["file_id"]
        return JSONResponse({"id": name, "object": "container.file.deleted", "deleted": True})

    async def file_content(self, request: Request) -> Response:
        """Return the content of a file of a container."""
        live = await self._live(request)
        path = _path_of(request)
        data = await in_thread(live.sandbox.files.read_bytes, path, self._fleet.options.file_bytes)
        # trust: bytes from inside; as an attachment no browser renders them.
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return Response(data, media_type="application/octet-stream", headers=headers)

    # --- code

    async def run(self, request: Request) -> Response:
        """Run code, and return it as a call of the code interpreter in OpenAI's Responses."""
        live = await self._live(request)
        body = await read_object(request, self._fleet.options.body_bytes)
        code = body.get("code")
        if not isinstance(code, str):
            raise ValidationError("invalid code: expected text", parameter="code")
        timeout = body.get("timeout", _RUN_S)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0:
            raise ValidationError("invalid timeout: expected seconds", parameter="timeout")
        result = await in_long_thread(self._run, live, code, float(timeout))
        return JSONResponse(_call(live, code, result))

    def _run(self, live: LiveSandbox, code: str, timeout_s: float) -> ExecutionResult:
        with self._fleet.run():
            try:
                return live.default_context(None).session.run(code, timeout=timeout_s)
            except SandboxTimeoutError as error:
                if not isinstance(error.result, ExecutionResult):
                    raise
                return error.result


async def _closing(form: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await form.close()


def _network(policy: object) -> Network:
    if policy is None:
        return "blocked"
    kind = policy.get("type") if isinstance(policy, dict) else None
    if kind == "disabled":
        return "blocked"
    if kind != "allowlist" or not isinstance(policy, dict):
        raise ValidationError(
            "invalid network_policy: expected the type disabled or allowlist",
            parameter="network_policy",
        )
    if policy.get("domain_secrets"):
        raise UnsupportedError("domain_secrets", reason="secrets are not taken over HTTP")
    domains = policy.get("allowed_domains")
    if not isinstance(domains, list) or not all(isinstance(name, str) for name in domains):
        raise ValidationError(
            "invalid allowed_domains: expected names", parameter="allowed_domains"
        )
    return NetworkRules.allow(domains=domains)


def _container(live: LiveSandbox) -> dict[str, object]:
    return {
        "id": _PREFIX + live.id,
        "object": "container",
        "created_at": int(live.started_at),
        "status": "running",
        "name": live.request.metadata["name"],
        "expires_after": {"anchor": "last_active_at", "minutes": round(live.timeout_s / 60)},
        "last_active_at": int(live.active_at),
        "memory_limit": live.request.metadata["memory_limit"] or None,
        "network_policy": {
            "type": "disabled" if live.request.network == "blocked" else "allowlist"
        },
    }


def _page(request: Request, items: Sequence[Mapping[str, object]]) -> Response:
    query = request.query_params
    if query.get("order", "desc") == "asc":
        items = list(reversed(items))
    if after := query.get("after"):
        places = [place for place, item in enumerate(items) if item["id"] == after]
        items = items[places[0] + 1 :] if places else []
    text = query.get("limit", str(_PAGE))
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:6]) <= _MOST_PAGE:
        raise ValidationError(f"invalid limit: expected 1 to {_MOST_PAGE}", parameter="limit")
    page = items[: int(text)]
    return JSONResponse(
        {
            "object": "list",
            "data": list(page),
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
            "has_more": len(items) > len(page),
        }
    )


def _file_id(path: str) -> str:
    return "cfile_" + path.encode("utf-8", "surrogateescape").hex()


def _path_of(request: Request) -> str:
    """Return the path of a file by its id, which is made of nothing else."""
    name = request.path_params["file_id"].removeprefix("cfile_")
    try:
        return check_path(bytes.fromhex(name).decode("utf-8", "surrogateescape"))
    except ValueError:
        raise SandboxFileNotFoundError("there is no such file") from None


def _file(live: LiveSandbox, path: str) -> dict[str, object]:
    entry = live.sandbox.files.stat(path, follow=False)
    if entry.kind != "file":
        raise SandboxFileNotFoundError("there is no such file", path=path)
    return _described(live, path, entry.size, int(entry.mtime))


def _described(live: LiveSandbox, path: str, size: int, created_at: int) -> dict[str, object]:
    return {
        "id": _file_id(path),
        "object": "container.file",
        "bytes": size,
        "container_id": _PREFIX + live.id,
        "created_at": created_at,
        "path": posixpath.join(
            _WORKDIR, path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        ),
        # Who has written a file is not recorded: a program may have changed what was uploaded.
        "source": "user",
    }


def _log(output: Output) -> str:
    if isinstance(output, StreamOutput):
        return output.text
    if isinstance(output, ErrorOutput):
        return "\n".join(output.traceback) + "\n"
    if isinstance(output, ResultOutput):
        return f"{output.data.get('text/plain', '')}\n"
    return ""


def _call(live: LiveSandbox, code: str, result: ExecutionResult) -> dict[str, object]:
    outputs: list[dict[str, str]] = []
    if logs := strip_controls("".join(map(_log, result.outputs))):
        outputs.append({"type": "logs", "logs": logs})
    for plot in result.plots:
        url = f"data:{plot.format.mime};base64,{plot.content_base64}"
        outputs.append({"type": "image", "url": url})
    return {
        "id": f"ci_{secrets.token_hex(12)}",
        "type": "code_interpreter_call",
        "status": "completed" if result.exit_code == 0 else "failed",
        "code": code,
        "container_id": _PREFIX + live.id,
        "outputs": outputs,
    }
