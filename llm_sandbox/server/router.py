"""Router: which API answers a request, by path, and by headers or host name for sandboxes."""

import json
import re
import secrets
import sys
import time
from typing import TextIO

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from llm_sandbox.exceptions import SandboxError, SandboxNotFoundError
from llm_sandbox.server import openai_containers, piston, sandbox_fusion
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.api import API_KEY, Api, route_name
from llm_sandbox.server.e2b import control_plane, envd, interpreter, signed_links
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard, RefusedError, header, host_of
from llm_sandbox.server.jupyter import api as jupyter
from llm_sandbox.server.live_sandbox import LIVE_KEY
from llm_sandbox.server.metrics import Metrics
from llm_sandbox.server.page import make_page
from llm_sandbox.server.port_proxy import PortProxy
from llm_sandbox.server.v1 import api as v1

__all__ = ["ENVD_PORT", "INTERPRETER_PORT", "Router"]

ENVD_PORT = 49983
INTERPRETER_PORT = 49999

_SANDBOX_HOST = re.compile(r"(\d{1,5})-([a-z0-9]{1,64})\.")
_READY_S = 10.0


class Router:
    """ASGI application of the whole server.

    Args:
        fleet: The sandboxes.
        guard: Admission of requests.
        log: Receives one line of JSON for each request; None for standard error.
    """

    def __init__(self, fleet: Fleet, guard: Guard, log: TextIO | None = None) -> None:
        self._fleet = fleet
        self._guard = guard
        self._log = log
        self._metrics = Metrics(fleet)
        self._ready: tuple[float, str | None] = (-_READY_S, None)
        control = control_plane.make_api(fleet, guard)
        self._by_path: dict[str, ASGIApp] = {
            **dict.fromkeys(control_plane.ROOTS, control),
            "run_code": (fusion := sandbox_fusion.make_api(fleet, guard)),
            "run_jupyter": fusion,
            "api": (gateway := jupyter.make_api(fleet, guard)),
            **dict.fromkeys(("gw", "kernelspecs"), gateway),
            "api/v2": piston.make_api(fleet, guard),
            "v1": (own := v1.make_api(fleet, guard)),
            "v1/containers": openai_containers.make_api(fleet, guard),
            "openapi.json": own,
            **dict.fromkeys(("", "ui"), make_page()),
            **dict.fromkeys(("healthz", "readyz", "metrics"), self._operation()),
        }
        self._signed = signed_links.make_api(fleet)
        self._by_port: dict[int, ASGIApp] = {
            ENVD_PORT: envd.make_api(fleet),
            INTERPRETER_PORT: interpreter.make_api(fleet),
        }
        self._proxy = PortProxy(fleet)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and log it."""
        if scope["type"] not in ("http", "websocket"):
            return
        started = time.monotonic()
        request_id = secrets.token_hex(8)
        seen = {"status": 101 if scope["type"] == "websocket" else 500, "bytes": 0}

        async def note(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                seen["status"] = message["status"]
                identity = (b"x-request-id", request_id.encode())
                message = {**message, "headers": [*message.get("headers", ()), identity]}
            elif message["type"] == "http.response.body":
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self._answer(scope, receive, note)
        finally:
            took = time.monotonic() - started
            api, route = scope.get(API_KEY, "none"), route_name(scope)
            self._metrics.note(api, route, seen["status"], took)
            line = {
                "time": round(time.time(), 3),
                "id": request_id,
                "api": api,
                "route": route,
                "tenant": scope.get("llm_sandbox.tenant"),
                **seen,
                "ms": round(1000 * took, 1),
            }
            print(json.dumps(line), file=self._log or sys.stderr, flush=True)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._guard.check(scope)
            place = self._sandbox_place(scope)
        except RefusedError as error:
            await _refuse(scope, receive, send, error.status, error.message)
            return
        if place is not None:
            await self._answer_inside(*place, scope, receive, send)
        elif scope["path"] == "/files" and b"signature=" in scope["query_string"]:
            await self._signed(scope, receive, send)
        else:
            root = scope["path"].split("/", 3)[1]
            if root == "v2" and scope["path"].startswith("/v2/sandboxes"):
                root = "sandboxes"
            elif f"{scope['path']}/".startswith("/v1/containers/"):
                root = "v1/containers"
            elif scope["path"].startswith("/api/v2/"):
                root = "api/v2"
            app = self._by_path.get(root, self._by_path["sandboxes"])
            await app(scope, receive, send)

    def _sandbox_place(self, scope: Scope) -> tuple[str, int] | None:
        """Return the sandbox and the port that a request is for; None for the server itself."""
        sandbox_id, port = header(scope, "e2b-sandbox-id"), header(scope, "e2b-sandbox-port")
        if sandbox_id is not None and port is not None:
            if not port.isascii() or not port.isdigit() or not 0 < int(port[:6]) < 1 << 16:
                raise RefusedError(400, "invalid E2b-Sandbox-Port: expected a port")
            return sandbox_id, int(port)
        domain = self._fleet.options.domain
        host = host_of(header(scope, "host") or "")
        found = _SANDBOX_HOST.match(host)
        if found and domain is not None and host == found[0] + domain:
            return found[2], int(found[1])
        return None

    async def _answer_inside(
        self, sandbox_id: str, port: int, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            live = self._fleet.find(sandbox_id)
        except SandboxNotFoundError:
            scope[API_KEY] = "e2b"
            body = {"sandboxId": sandbox_id, "message": "The sandbox was not found", "code": 502}
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1013})
                return
            await JSONResponse(body, 502)(scope, receive, send)
            return
        scope["llm_sandbox.tenant"] = live.tenant
        scope[LIVE_KEY] = live
        live.touch()
        await self._by_port.get(port, self._proxy.to(port))(scope, receive, send)

    # --- operation

    def _operation(self) -> Api:
        async def healthz(request: Request) -> Response:
            del request
            return PlainTextResponse("ok\n")

        async def readyz(request: Request) -> Response:
            del request
            trouble = await self._trouble()
            return PlainTextResponse(f"{trouble or 'ready'}\n", 503 if trouble else 200)

        async def metrics(request: Request) -> Response:
            self._guard.principal(request.scope, "metrics")
            return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

        def explain(status: int, message: str, error: SandboxError | None) -> Response:
            del error
            return PlainTextResponse(f"{message}\n", status)

        routes = [Route(f"/{one.__name__}", one) for one in (healthz, readyz, metrics)]
        return Api("operation", routes, explain)

    async def _trouble(self) -> str | None:
        """Return why no sandbox can be created; None if one can. Known for ten seconds."""
        if self._fleet.is_draining:
            return "the server is about to end"
        at, trouble = self._ready
        if time.monotonic() - at > _READY_S:
            try:
                await in_thread(self._fleet.check)
                trouble = None
            except SandboxError as error:
                trouble = error.message
            self._ready = (time.monotonic(), trouble)
        return trouble


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
    else:
        body = {"code": status, "message": message}
        await JSONResponse(body, status)(scope, receive, send)
