"""API of Jupyter's kernel gateway, and what direct clients of a Jupyter server ask besides."""

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import SandboxError, SandboxNotFoundError, ValidationError
from llm_sandbox.server.answers import in_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard
from llm_sandbox.server.jupyter.channels import Channels
from llm_sandbox.server.jupyter.kernel import GatewayKernel
from llm_sandbox.server.jupyter.kernelspecs import DEFAULT_KERNEL, Kernelspecs
from llm_sandbox.server.jupyter.notebook_sessions import NotebookSession, parse_session
from llm_sandbox.server.live_sandbox import LiveSandbox, NewSandbox

__all__ = ["API_NAME", "make_api"]

API_NAME = "jupyter"

_KEPT_S = 3600.0
"""Seconds that a kernel lives after its last client has gone."""
_KEEP_EVERY_S = 300.0
_MOST_VARIABLES = 1000
_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


def make_api(fleet: Fleet, guard: Guard) -> ASGIApp:
    """Return the API over a fleet."""
    api = _Gateway(fleet, guard)
    kernel = "/api/kernels/{kernel_id}"
    session = "/api/sessions/{session_id}"
    inner = Api(
        API_NAME,
        [
            Route("/api", api.version, methods=["GET"]),
            Route("/api/me", api.me, methods=["GET"]),
            Route("/api/status", api.status, methods=["GET"]),
            Route("/api/kernelspecs", api.list_kernelspecs, methods=["GET"]),
            Route("/api/kernelspecs/{name}", api.get_kernelspec, methods=["GET"]),
            Route("/kernelspecs/{name}/{file}", api.get_picture, methods=["GET"]),
            Route("/api/kernels", api.list_kernels, methods=["GET"]),
            Route("/api/kernels", api.start_kernel, methods=["POST"]),
            Route(kernel, api.get_kernel, methods=["GET"]),
            Route(kernel, api.end_kernel, methods=["DELETE"]),
            Route(f"{kernel}/interrupt", api.interrupt, methods=["POST"]),
            Route(f"{kernel}/restart", api.restart, methods=["POST"]),
            WebSocketRoute(f"{kernel}/channels", api.channels),
            Route("/api/sessions", api.list_sessions, methods=["GET"]),
            Route("/api/sessions", api.start_session, methods=["POST"]),
            Route(session, api.get_session, methods=["GET"]),
            Route(session, api.change_session, methods=["PATCH"]),
            Route(session, api.end_session, methods=["DELETE"]),
        ],
        _explain,
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        _take_token(scope)
        await inner(scope, receive, send)

    return app


def _take_token(scope: Scope) -> None:
    """Put a token of the address, where clients have no other place for it, into a header."""
    path: str = scope["path"]
    token = None
    if path.startswith("/gw/"):
        token, _, rest = path.removeprefix("/gw/").partition("/")
        scope["path"] = f"/{rest}"
        scope["raw_path"] = scope["path"].encode()
    elif not any(name in (b"authorization", b"x-api-key") for name, _ in scope["headers"]):
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]
    if token is not None:
        kept = [
            pair for pair in scope["headers"] if pair[0] not in (b"authorization", b"x-api-key")
        ]
        words = f"token {token}".encode("latin-1", "replace")
        scope["headers"] = [*kept, (b"authorization", words)]


def _explain(status: int, message: str, error: SandboxError | None) -> Response:
    del error
    return JSONResponse({"message": message, "reason": None}, status)


class _Gateway:
    """Routes of the API."""

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self._fleet = fleet
        self._guard = guard
        self._specs = Kernelspecs(fleet)
        self._started_at = time.time()

    def _tenant(self, request: Request | WebSocket) -> str:
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        return tenant

    async def _body(self, request: Request) -> dict[str, Any]:
        return await read_object(request, self._fleet.options.body_bytes)

    # --- the server

    async def version(self, request: Request) -> Response:
        """Say the version."""
        self._tenant(request)
        return JSONResponse({"version": VERSION})

    async def me(self, request: Request) -> Response:
        """Say who is asking."""
        tenant = self._tenant(request)
        names = dict.fromkeys(("username", "name", "display_name"), tenant)
        identity = {**names, "initials": tenant[:2], "avatar_url": None, "color": None}
        return JSONResponse({"identity": identity, "permissions": {}})

    async def status(self, request: Request) -> Response:
        """Say what the tenant has."""
        found = [kernel for _, kernel in self._kernels(self._tenant(request))]
        active = max((kernel.active_at for kernel in found), default=self._started_at)
        return JSONResponse(
            {
                "started": _moment(self._started_at),
                "last_activity": _moment(active),
                "connections": sum(kernel.connections for kernel in found),
                "kernels": len(found),
            }
        )

    # --- kernelspecs

    async def list_kernelspecs(self, request: Request) -> Response:
        """List the kernels that can be started."""
        self._tenant(request)
        return JSONResponse(await in_thread(self._specs.list))

    async def get_kernelspec(self, request: Request) -> Response:
        """Describe one of them."""
        self._tenant(request)
        return JSONResponse(await in_thread(self._specs.describe, request.path_params["name"]))

    async def get_picture(self, request: Request) -> Response:
        """Return its picture."""
        self._tenant(request)
        name, file = request.path_params["name"], request.path_params["file"]
        data = await in_thread(self._specs.picture, name, file)
        if data is None:
            return _explain(404, "there is no such file", None)
        kind = _TYPES[file[file.rindex(".") :]]
        return Response(data, media_type=kind)

    # --- kernels

    def _kernels(self, tenant: str) -> list[tuple[LiveSandbox, GatewayKernel]]:
        """Return a tenant's kernels, oldest first."""
        return [
            (live, live.attachment)
            for live in reversed(self._fleet.list(tenant, API_NAME))
            if isinstance(live.attachment, GatewayKernel)
        ]

    def _find(self, tenant: str, kernel_id: str) -> tuple[LiveSandbox, GatewayKernel]:
        try:
            sandbox_id = uuid.UUID(kernel_id).hex
        except ValueError:
            raise SandboxNotFoundError(f"kernel {kernel_id}", hint=None) from None
        live = self._fleet.get(tenant, sandbox_id, API_NAME)
        if not isinstance(live.attachment, GatewayKernel):
            raise SandboxNotFoundError(f"kernel {kernel_id}", hint=None)
        live.touch()
        return live, live.attachment

    def _of(self, request: Request) -> tuple[LiveSandbox, GatewayKernel]:
        return self._find(self._tenant(request), request.path_params["kernel_id"])

    def _start(
        self, tenant: str, name: str, variables: Mapping[str, str]
    ) -> tuple[LiveSandbox, GatewayKernel]:
        template, language = self._specs.find(name)
        asked = NewSandbox(
            API_NAME,
            template,
            timeout_s=min(_KEPT_S, self._fleet.options.longest_s),
            metadata={"kernel": name},
            envs=variables,
        )
        live = self._fleet.create(tenant, asked)
        try:
            (context,) = live.contexts()
            kill = partial(self._fleet.kill, live)
            kernel = GatewayKernel(context.session, language, self._fleet.run, kill)
            live.attach(kernel)
        except BaseException:
            self._fleet.kill(live)
            raise
        return live, kernel

    async def list_kernels(self, request: Request) -> Response:
        """List the tenant's kernels."""
        return JSONResponse([_kernel(*pair) for pair in self._kernels(self._tenant(request))])

    async def start_kernel(self, request: Request) -> Response:
        """Start a kernel; a folder of the client's is none of its sandbox's."""
        tenant = self._tenant(request)
        body = await self._body(request)
        name = _text(body, "name") or DEFAULT_KERNEL
        pair = await in_thread(self._start, tenant, name, _variables(body))
        model = _kernel(*pair)
        return JSONResponse(model, 201, headers={"Location": f"/api/kernels/{model['id']}"})

    async def get_kernel(self, request: Request) -> Response:
        """Describe a kernel."""
        return JSONResponse(_kernel(*self._of(request)))

    async def end_kernel(self, request: Request) -> Response:
        """End a kernel, with its sandbox."""
        live, _ = self._of(request)
        await in_thread(self._fleet.kill, live)
        return Response(status_code=204)

    async def interrupt(self, request: Request) -> Response:
        """Interrupt the running code."""
        _, kernel = self._of(request)
        kernel.interrupt()
        return Response(status_code=204)

    async def restart(self, request: Request) -> Response:
        """Replace the interpreter by a fresh one; files stay."""
        live, kernel = self._of(request)
        await in_thread(kernel.restart)
        return JSONResponse(_kernel(live, kernel))

    async def channels(self, socket: WebSocket) -> None:
        """Carry the messages of a kernel and one of its clients."""
        tenant = self._tenant(socket)
        live, kernel = self._find(tenant, socket.path_params["kernel_id"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep, live)
            await Channels(socket, kernel).carry()
            tasks.cancel_scope.cancel()

    async def _keep(self, live: LiveSandbox) -> None:
        """Have a kernel live on while it has a client, as long as the operator allows."""
        longest = live.started_at + self._fleet.options.longest_s
        while not live.has_ended:
            live.touch()
            left = min(_KEPT_S + _KEEP_EVERY_S, longest - time.time())
            if left > 0:
                try:
                    await in_thread(live.keep_for, left)
                except SandboxError:
                    return
            await anyio.sleep(_KEEP_EVERY_S)

    # --- sessions: the notebooks of kernels

    def _session(self, request: Request) -> tuple[LiveSandbox, GatewayKernel, NotebookSession]:
        wanted = request.path_params["session_id"]
        for live, kernel in self._kernels(self._tenant(request)):
            session = kernel.notebook
            if session is not None and session.id == wanted:
                return live, kernel, session
        raise SandboxNotFoundError(f"session {wanted}", hint=None)

    async def list_sessions(self, request: Request) -> Response:
        """List the tenant's notebooks that have a kernel."""
        return JSONResponse(
            [
                kernel.notebook.describe(_kernel(live, kernel))
                for live, kernel in self._kernels(self._tenant(request))
                if kernel.notebook is not None
            ]
        )

    async def start_session(self, request: Request) -> Response:
        """Give a notebook a kernel: the one that it has, one that runs, or a new one."""
        tenant = self._tenant(request)
        body = await self._body(request)
        session = parse_session(body)
        for live, kernel in self._kernels(tenant):
            if kernel.notebook is not None and kernel.notebook.path == session.path:
                return JSONResponse(kernel.notebook.describe(_kernel(live, kernel)), 201)
        live, kernel = await self._kernel_of(tenant, body)
        kernel.notebook = session
        model = session.describe(_kernel(live, kernel))
        return JSONResponse(model, 201, headers={"Location": f"/api/sessions/{session.id}"})

    async def _kernel_of(
        self, tenant: str, body: Mapping[str, Any]
    ) -> tuple[LiveSandbox, GatewayKernel]:
        """Return the kernel that a request for a session names, or a new one."""
        asked = body.get("kernel") or {}
        if not isinstance(asked, Mapping):
            raise ValidationError("invalid kernel: expected an object", parameter="kernel")
        kernel_id = _text(asked, "id")
        if kernel_id:
            return self._find(tenant, kernel_id)
        name = _text(asked, "name") or DEFAULT_KERNEL
        return await in_thread(self._start, tenant, name, _variables(body))

    async def get_session(self, request: Request) -> Response:
        """Describe a notebook's session."""
        live, kernel, session = self._session(request)
        return JSONResponse(session.describe(_kernel(live, kernel)))

    async def change_session(self, request: Request) -> Response:
        """Rename a notebook, or give it another kernel; the one before ends then."""
        live, kernel, session = self._session(request)
        body = await self._body(request)
        changed = parse_session(body, session)
        if body.get("kernel"):
            before = live
            live, kernel = await self._kernel_of(live.tenant, body)
            if live is not before:
                await in_thread(self._fleet.kill, before)
        kernel.notebook = changed
        return JSONResponse(changed.describe(_kernel(live, kernel)))

    async def end_session(self, request: Request) -> Response:
        """End a notebook's session, with its kernel."""
        live, _, _ = self._session(request)
        await in_thread(self._fleet.kill, live)
        return Response(status_code=204)


def _kernel(live: LiveSandbox, kernel: GatewayKernel) -> dict[str, Any]:
    return {
        "id": str(uuid.UUID(live.id)),
        "name": live.request.metadata["kernel"],
        "last_activity": _moment(kernel.active_at),
        "execution_state": kernel.state,
        "connections": kernel.connections,
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise ValidationError(f"invalid {name}: expected text", parameter=name)
    return value


def _variables(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment of a kernel's code, as a gateway is asked for one."""
    given = body.get("env") or {}
    if (
        not isinstance(given, dict)
        or len(given) > _MOST_VARIABLES
        or not all(isinstance(value, str) for value in given.values())
    ):
        raise ValidationError("invalid env: expected texts by name", parameter="env")
    return given
