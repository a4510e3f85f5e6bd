"""Control plane: sandboxes are created, listed, prolonged and ended."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.network import Network
from llm_sandbox.server.answers import in_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.e2b.network_options import read_network
from llm_sandbox.server.e2b.usage import describe_usage
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard, header
from llm_sandbox.server.live_sandbox import LiveSandbox, NewSandbox

__all__ = ["API_NAME", "ENVD_VERSION", "ROOTS", "explain", "make_api"]

API_NAME = "e2b"
ENVD_VERSION = "0.6.1"
"""Version of envd whose features there are: clients ask for no others."""
ROOTS = ("sandboxes", "v2", "v3", "snapshots", "templates", "volumes", "secrets", "teams")
"""First parts of the paths of its routes."""

_HOME = "/home/user"
_CLIENT = "llm-sandbox"
_MOST_LABELS = 64
_LONGEST_LABEL = 4096
_PAGE = 100
_NO_PAUSE = "sandboxes cannot be paused: create it with the timeout action kill"
_REFUSED = {
    "autoPause": _NO_PAUSE,
    "autoPauseMemory": _NO_PAUSE,
    "iam": "there are no workload identities",
    "mcp": "there is no MCP gateway inside; `llm-sandbox mcp` serves that protocol",
    "volumeMounts": "clients may not mount volumes",
}
"""Options of `create` that are refused, with the reason."""


def make_api(fleet: Fleet, guard: Guard) -> Api:
    """Return the API over a fleet."""
    plane = _ControlPlane(fleet, guard)
    one = "/sandboxes/{sandbox_id}"

    def routes(path: str, *methods: tuple[str, Any]) -> list[Route]:
        return [
            Route(f"{version}{path}", endpoint, methods=[method])
            for version in ("", "/v2")
            for method, endpoint in methods
        ]

    return Api(
        API_NAME,
        [
            *routes("/sandboxes", ("POST", plane.create), ("GET", plane.list)),
            *routes("/sandboxes/metrics", ("GET", plane.all_metrics)),
            *routes(one, ("GET", plane.get), ("DELETE", plane.kill)),
            *routes(f"{one}/timeout", ("POST", plane.set_timeout)),
            *routes(f"{one}/refreshes", ("POST", plane.refresh)),
            *routes(f"{one}/connect", ("POST", plane.connect)),
            *routes(f"{one}/resume", ("POST", plane.connect)),
            *routes(f"{one}/metrics", ("GET", plane.metrics)),
            *routes(f"{one}/network", ("PUT", plane.set_network)),
            *routes(f"{one}/logs", ("GET", plane.logs)),
            *routes(f"{one}/pause", ("POST", plane.refuse_pause)),
            *routes(f"{one}/fork", ("POST", plane.refuse_fork)),
            *routes(f"{one}/snapshots", ("POST", plane.refuse_snapshot)),
            Route("/snapshots", plane.no_snapshots, methods=["GET"]),
            *[
                Route(f"{version}/{root}{rest}", plane.refuse_resource, methods=["GET", "POST"])
                for version in ("", "/v2", "/v3")
                for root in ("templates", "volumes", "secrets", "teams")
                for rest in ("", "/{rest:path}")
            ],
            Route("/templates/{template_id}", plane.delete_template, methods=["DELETE"]),
        ],
        explain,
    )


def explain(status: int, message: str, error: object = None) -> Response:
    """Return an error as E2B's REST APIs describe one."""
    del error
    return JSONResponse({"code": status, "message": message}, status)


class _ControlPlane:
    """Routes of the control plane."""

    def __init__(self, fleet: Fleet, guard: Guard) -> None:
        self._fleet = fleet
        self._guard = guard

    def _tenant(self, request: Request) -> str:
        tenant = self._guard.principal(request.scope).tenant
        request.scope["llm_sandbox.tenant"] = tenant
        return tenant

    async def _body(self, request: Request) -> dict[str, Any]:
        return await read_object(request, self._fleet.options.body_bytes)

    def _live(self, request: Request) -> LiveSandbox:
        name = request.path_params["sandbox_id"]
        return self._fleet.get(self._tenant(request), name, API_NAME)

    async def create(self, request: Request) -> Response:
        """Create a sandbox."""
        tenant = self._tenant(request)
        body = await self._body(request)
        asked = self._new_sandbox(body)
        key = header(request.scope, "idempotency-key")
        live = await in_thread(self._fleet.create, tenant, asked, key)
        headers = {"X-LLM-Sandbox-Network": _network_name(asked.network)}
        return JSONResponse(self._created(live), 201, headers=headers)

    def _new_sandbox(self, body: Mapping[str, Any]) -> NewSandbox:
        for name, reason in _REFUSED.items():
            if body.get(name):
                raise UnsupportedError(name, reason=reason)
        resume = body.get("autoResume")
        if isinstance(resume, Mapping) and resume.get("enabled"):
            raise UnsupportedError("autoResume", reason=_NO_PAUSE)
        template = body.get("templateID", "base")
        if not isinstance(template, str):
            raise ValidationError("invalid templateID: expected text", parameter="templateID")
        return NewSandbox(
            API_NAME,
            template,
            _HOME,
            body.get("timeout"),
            metadata=_labels(body, "metadata"),
            envs=_labels(body, "envVars"),
            network=read_network(body, self._fleet.options.network),
        )

    def _created(self, live: LiveSandbox) -> dict[str, object]:
        return {
            "templateID": live.request.template,
            "alias": live.request.template,
            "sandboxID": live.id,
            "clientID": _CLIENT,
            "envdVersion": ENVD_VERSION,
            "envdAccessToken": live.access_token,
            "trafficAccessToken": live.traffic_token,
            "domain": self._fleet.options.domain,
        }

    async def list(self, request: Request) -> Response:
        """List the sandboxes of the tenant, page by page."""
        found = self._fleet.list(self._tenant(request), API_NAME)
        query = request.query_params
        states = {state for text in query.getlist("state") for state in text.split(",")}
        if states and "running" not in states:
            found = []
        wanted = dict(parse_qsl(query.get("metadata", "")))
        found = [live for live in found if wanted.items() <= live.request.metadata.items()]
        if template := query.get("template"):
            found = [live for live in found if live.request.template == template]
        if after := query.get("startedAfter"):
            moment = _moment(after)
            found = [live for live in found if live.started_at > moment]
        if query.get("order") == "asc":
            found.reverse()
        start = _count(query.get("nextToken"), "nextToken", 0, 1 << 31)
        size = _count(query.get("limit"), "limit", _PAGE, _PAGE)
        page = found[start : start + size]
        rest = {"x-next-token": str(start + size)} if len(found) > start + size else {}
        return JSONResponse([self._described(live) for live in page], headers=rest)

    def _described(self, live: LiveSandbox) -> dict[str, object]:
        limits = live.sandbox.limits
        return {
            **self._created(live),
            "startedAt": _text(live.started_at),
            "endAt": _text(live.ends_at),
            "cpuCount": _cpus(live),
            "memoryMB": limits.memory_bytes >> 20,
            "diskSizeMB": limits.workdir_bytes >> 20,
            "state": "running",
            "metadata": dict(live.request.metadata),
        }

    async def get(self, request: Request) -> Response:
        """Describe a sandbox."""
        live = self._live(request)
        is_open = live.sandbox.network != "blocked"
        return JSONResponse(self._described(live) | {"allowInternetAccess": is_open})

    async def kill(self, request: Request) -> Response:
        """End a sandbox."""
        live = self._live(request)
        await in_thread(self._fleet.kill, live)
        return Response(status_code=204)

    async def set_timeout(self, request: Request) -> Response:
        """Have a sandbox end at another time."""
        live = self._live(request)
        body = await self._body(request)
        if "timeout" not in body:
            raise ValidationError("invalid timeout: expected seconds", parameter="timeout")
        await in_thread(live.set_timeout, self._fleet.check_timeout(body["timeout"]))
        return Response(status_code=204)

    async def refresh(self, request: Request) -> Response:
        """Have a sandbox live for some time at least."""
        live = self._live(request)
        body = await self._body(request)
        await in_thread(live.keep_for, self._fleet.check_timeout(body.get("duration")))
        return Response(status_code=204)

    async def connect(self, request: Request) -> Response:
        """Describe a living sandbox to a client that knows its id, and prolong it if needed."""
        live = self._live(request)
        body = await self._body(request)
        if body.get("memory") is False:
            raise UnsupportedError("a reboot", reason="sandboxes cannot be paused")
        await in_thread(live.keep_for, self._fleet.check_timeout(body.get("timeout")))
        return JSONResponse(self._created(live))

    async def metrics(self, request: Request) -> Response:
        """Measure a sandbox, now."""
        return JSONResponse([await in_thread(describe_usage, self._live(request))])

    async def all_metrics(self, request: Request) -> Response:
        """Measure several sandboxes, now."""
        tenant = self._tenant(request)
        ids = request.query_params.get("sandbox_ids", "").split(",")
        known = {live.id: live for live in self._fleet.list(tenant, API_NAME) if live.id in ids}
        found = {name: await in_thread(describe_usage, live) for name, live in known.items()}
        return JSONResponse({"sandboxes": found})

    async def set_network(self, request: Request) -> Response:
        """Change the network of a sandbox."""
        live = self._live(request)
        body = await self._body(request)
        wanted = read_network({"network": body, **body}, self._fleet.options.network)
        if wanted != "blocked" and self._fleet.options.network == "blocked":
            raise UnsupportedError(
                "internet access", reason="the operator of this server has closed it"
            )
        await in_thread(live.sandbox.set_network, wanted)
        return Response(status_code=204)

    async def logs(self, request: Request) -> Response:
        """Return the log of a sandbox, which has none: what it prints goes to its clients."""
        self._live(request)
        return JSONResponse({"logs": [], "logEntries": []})

    async def refuse_pause(self, request: Request) -> Response:
        """Refuse to pause a sandbox."""
        self._live(request)
        raise UnsupportedError(
            "pause", reason="the memory of a sandbox cannot be saved", hint="set a longer timeout"
        )

    async def refuse_fork(self, request: Request) -> Response:
        """Refuse to fork a sandbox."""
        self._live(request)
        raise UnsupportedError("fork", reason="the memory of a sandbox cannot be copied")

    async def refuse_snapshot(self, request: Request) -> Response:
        """Refuse to save a sandbox."""
        self._live(request)
        raise UnsupportedError(
            "snapshots over HTTP",
            reason="sandboxes are created from templates of the operator",
            hint="download its files, and upload them to another sandbox",
        )

    async def no_snapshots(self, request: Request) -> Response:
        """List the snapshots of the tenant, of which there are none."""
        self._tenant(request)
        return JSONResponse([])

    async def delete_template(self, request: Request) -> Response:
        """Report that there is no such template of the tenant's own."""
        self._tenant(request)
        return explain(404, "the tenant has no such template or snapshot")

    async def refuse_resource(self, request: Request) -> Response:
        """Refuse what the operator of a server does instead of its clients."""
        self._tenant(request)
        known = ", ".join(self._fleet.options.template_names)
        return explain(
            501, f"this server builds no templates and keeps no volumes; its templates: {known}"
        )


def _cpus(live: LiveSandbox) -> int:
    import math
    import os

    return math.ceil(live.sandbox.limits.cpus or os.cpu_count() or 1)


def _network_name(network: Network) -> str:
    return network if isinstance(network, str) else "rules"


def _labels(body: Mapping[str, Any], name: str) -> dict[str, str]:
    given = body.get(name) or {}
    is_plain = isinstance(given, dict) and all(isinstance(value, str) for value in given.values())
    if not is_plain or len(given) > _MOST_LABELS * 16:
        raise ValidationError(f"invalid {name}: expected names with texts", parameter=name)
    if name == "metadata" and (
        len(given) > _MOST_LABELS or any(len(text) > _LONGEST_LABEL for text in given.values())
    ):
        raise ValidationError(
            f"invalid metadata: expected at most {_MOST_LABELS} texts of at most "
            f"{_LONGEST_LABEL} characters",
            parameter=name,
        )
    return dict(given)


def _count(text: str | None, name: str, otherwise: int, most: int) -> int:
    if text is None:
        return otherwise
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise ValidationError(f"invalid {name}: expected a number", parameter=name)
    return min(int(text), most)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise ValidationError(
            "invalid startedAfter: expected a time such as 2026-01-31T12:00:00Z",
            parameter="startedAfter",
        ) from None


def _text(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")
