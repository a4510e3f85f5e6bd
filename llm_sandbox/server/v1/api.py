"""The API as an ASGI application, with its OpenAPI document."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.server.answers import TooLargeError
from llm_sandbox.server.api import API_KEY
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard, RefusedError
from llm_sandbox.server.v1 import evaluate, facts, history, sandboxes, sessions
from llm_sandbox.server.v1.access import Access
from llm_sandbox.server.v1.problems import (
    MEDIA_TYPE,
    Problem,
    error_of_validation,
    problem_response,
)
from llm_sandbox.server.v1.repetitions import Repetitions
from llm_sandbox.server.v1.session_options import API_NAME
from llm_sandbox.server.v1.terminals import Websockets

__all__ = ["make_api"]

_OWN_REPETITION = ("evaluate", "run")
"""Routes that know their repetitions themselves."""
_ADMINS = ("keys", "make_key", "revoke_key")
"""Routes for keys with the scope ``admin``."""
_STREAMED = ("write",)
"""Routes whose body is read by themselves."""


def make_api(fleet: Fleet, guard: Guard) -> Callable[[Scope, Receive, Send], Any]:
    """Return the API over a fleet."""
    access = Access(fleet, guard)
    app = FastAPI(
        title="llm-sandbox",
        version=VERSION,
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        dependencies=[
            Depends(HTTPBearer(auto_error=False)),
            Depends(APIKeyHeader(name="X-API-Key", auto_error=False)),
        ],
    )
    router = APIRouter(
        route_class=_route_class(access),
        responses={
            "default": {
                "description": "An error.",
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
            422: {"model": Problem, "content": {MEDIA_TYPE: {}}},
        },
    )
    for part in (sessions, sandboxes, history, evaluate, facts):
        part.add_routes(router, access)
    app.include_router(router)
    websockets = Websockets(access)
    for root in ("sessions", "sandboxes"):
        one = f"/v1/{root}/{{sandbox_id}}"
        app.router.add_websocket_route(f"{one}/terminal", websockets.terminal)
        app.router.add_websocket_route(f"{one}/file-service", websockets.files)

    def on_error(request: Request, error: Exception) -> Response:
        del request
        return problem_response(_error_of(error))

    for kind in (SandboxError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, on_error)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope[API_KEY] = API_NAME
        await app(scope, receive, send)

    return answer


def _error_of(error: Exception) -> SandboxError:
    if isinstance(error, RequestValidationError):
        return error_of_validation(error)
    if isinstance(error, HTTPException):
        return RefusedError(error.status_code, error.detail)
    return error if isinstance(error, SandboxError) else SandboxError("the server has failed")


def _route_class(access: Access) -> type[APIRoute]:
    """Return the class of routes, which bounds bodies and knows repeated requests."""
    repetitions = Repetitions()

    class Route(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()
            name = self.endpoint.__name__

            async def bounded(request: Request) -> Response:
                # Before a body is read and judged, so that only those with a key see a verdict.
                tenant = access.tenant(request, "admin" if name in _ADMINS else None)
                if name not in _STREAMED:
                    most = access.options.body_bytes
                    is_large = name == "evaluate"
                    await _check_body(
                        request, max(most, evaluate.LARGEST_BODY) if is_large else most
                    )
                if request.method == "GET" or name in _OWN_REPETITION:
                    return await handle(request)
                return await repetitions.once(tenant, request, lambda: handle(request))

            return bounded

    return Route


async def _check_body(request: Request, most: int) -> None:
    """Read the body, which the request keeps.

    Raises:
        TooLargeError: It has more than `most` bytes.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise TooLargeError(f"the body of the request is larger than {most} bytes")
    request._body = bytes(body)
