"""Files of the web page, with the headers that keep what comes from a sandbox apart from it."""

import hashlib
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.server.api import Api

__all__ = ["make_page"]

_TYPES = MappingProxyType(
    {
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    }
)
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
# trust: a page from inside has an origin of its own, which no request leaves.
_FRAME_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data:; "
    "form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = MappingProxyType(
    {
        "Cache-Control": "no-cache",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
)


def make_page() -> Api:
    """Return the page as an application; its files need no key, and hold nothing of anybody."""

    async def home(request: Request) -> Response:
        del request
        return RedirectResponse("/ui/", 308)

    async def file(request: Request) -> Response:
        name = request.path_params.get("name") or "index.html"
        content = _files().get(name)
        if content is None:
            return Response(f"there is no {name}\n", 404, media_type="text/plain")
        digest = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        policy = _FRAME_POLICY if name == "frame.html" else _PAGE_POLICY
        headers = {**_HEADERS, "Content-Security-Policy": policy, "ETag": digest}
        if request.headers.get("if-none-match") == digest:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=_TYPES[name.rpartition(".")[2]])

    def explain(status: int, message: str, error: SandboxError | None) -> Response:
        del error
        return Response(f"{message}\n", status, media_type="text/plain")

    routes = [
        Route("/", home),
        Route("/ui", home),
        Route("/ui/", file),
        Route("/ui/{name}", file),
    ]
    return Api("page", routes, explain)


@cache
def _files() -> dict[str, bytes]:
    """Return the page's files by name."""
    folder = files("llm_sandbox.server.page").joinpath("static")
    return {item.name: item.read_bytes() for item in folder.iterdir()}
