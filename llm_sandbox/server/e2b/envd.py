"""Service in each sandbox for files and programs, at port 49983."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.server.answers import in_thread, sentence, status_of
from llm_sandbox.server.api import Api
from llm_sandbox.server.e2b.connect import explain_call
from llm_sandbox.server.e2b.control_plane import explain
from llm_sandbox.server.e2b.file_transfer import compose, download, upload
from llm_sandbox.server.e2b.filesystem import filesystem_routes
from llm_sandbox.server.e2b.processes import check_user, process_routes
from llm_sandbox.server.e2b.usage import describe_usage
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import RefusedError, header
from llm_sandbox.server.live_sandbox import LIVE_KEY, LiveSandbox

__all__ = ["make_api"]

_Endpoint = Callable[[Request], Awaitable[Any]]
_USAGE = {
    "ts": "timestampUnix",
    "cpu_count": "cpuCount",
    "cpu_used_pct": "cpuUsedPct",
    "mem_total": "memTotal",
    "mem_used": "memUsed",
    "mem_cache": "memCache",
    "disk_used": "diskUsed",
    "disk_total": "diskTotal",
}


def make_api(fleet: Fleet) -> Api:
    """Return the API over a fleet."""
    most = fleet.options.file_bytes

    async def health(request: Request) -> Response:
        del request
        return Response(status_code=204)

    async def get_files(request: Request) -> Response:
        return await download(request, _live(request), most)

    async def post_files(request: Request) -> Response:
        return await upload(request, _live(request), most)

    async def join_files(request: Request) -> Response:
        return await compose(request, _live(request), fleet.options.body_bytes)

    async def metrics(request: Request) -> Response:
        found = await in_thread(describe_usage, _live(request))
        return JSONResponse({name: found[key] for name, key in _USAGE.items()})

    async def envs(request: Request) -> Response:
        return JSONResponse(dict(_live(request).request.envs))

    routes = [
        Route("/files", _admitted(get_files), methods=["GET"]),
        Route("/files", _admitted(post_files), methods=["POST"]),
        Route("/files/compose", _admitted(join_files), methods=["POST"]),
        Route("/metrics", _admitted(metrics), methods=["GET"]),
        Route("/envs", _admitted(envs), methods=["GET"]),
    ]
    calls = [*process_routes(fleet), *filesystem_routes(fleet)]
    return Api(
        "envd",
        [
            Route("/health", health, methods=["GET"]),
            *routes,
            *[Route(one.path, _explained(one.endpoint), methods=["POST"]) for one in calls],
        ],
        explain,
    )


def _live(request: Request) -> LiveSandbox:
    live: LiveSandbox = request.scope[LIVE_KEY]
    return live


def _admitted(endpoint: _Endpoint) -> _Endpoint:
    """Return an endpoint for callers who hold the sandbox's access token."""

    async def admitted(request: Request) -> Any:
        live = _live(request)
        token = header(request.scope, "x-access-token") or ""
        if not hmac.compare_digest(token.encode("latin-1"), live.access_token.encode()):
            raise RefusedError(401, "the access token of the sandbox is needed")
        check_user(request)
        return await endpoint(request)

    admitted.__name__ = endpoint.__name__
    return admitted


def _explained(endpoint: _Endpoint) -> _Endpoint:
    """Return the endpoint of a call of the Connect protocol, which has a form of its own for
    errors.
    """
    admitted = _admitted(endpoint)

    async def explained(request: Request) -> Any:
        try:
            return await admitted(request)
        except RefusedError as error:
            return explain_call(request, error.status, error.message)
        except SandboxError as error:
            return explain_call(request, status_of(error), sentence(error))

    explained.__name__ = endpoint.__name__
    return explained
