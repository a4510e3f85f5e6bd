"""Signed links: files of a sandbox for whoever has the link, without headers."""

import base64
import hashlib
import hmac
import threading
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.server.api import Api
from llm_sandbox.server.e2b.control_plane import explain
from llm_sandbox.server.e2b.file_transfer import download, upload
from llm_sandbox.server.e2b.processes import check_user
from llm_sandbox.server.errors import QuotaExceededError
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import RefusedError
from llm_sandbox.server.live_sandbox import LiveSandbox

__all__ = ["make_api", "sign"]

_TRIES_PER_SECOND = 50


def make_api(fleet: Fleet) -> Api:
    """Return the API over a fleet."""
    links = _SignedLinks(fleet)
    return Api(
        "signed_links",
        [
            Route("/files", links.get_file, methods=["GET"]),
            Route("/files", links.post_file, methods=["POST"]),
        ],
        explain,
    )


def sign(path: str, operation: str, user: str, token: str, expires_at: str | None) -> str:
    """Return the signature of a link.

    Args:
        path: Path in the sandbox, as in the link.
        operation: ``read`` or ``write``.
        user: User, as in the link; empty for none.
        token: Access token of the sandbox.
        expires_at: When it expires, in seconds since 1970; None for never.
    """
    words = [path, operation, user, token, *([] if expires_at is None else [expires_at])]
    digest = hashlib.sha256(":".join(words).encode("utf-8", "surrogateescape")).digest()
    return "v1_" + base64.b64encode(digest).rstrip(b"=").decode()


class _SignedLinks:
    """Routes of signed links. The sandbox of a link is found by its signature."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._lock = threading.Lock()
        self._second = 0
        self._tries: dict[str, int] = {}

    async def get_file(self, request: Request) -> Response:
        """Return the file of a link."""
        return await download(request, self._find(request, "read"), self._fleet.options.file_bytes)

    async def post_file(self, request: Request) -> Response:
        """Write the file of a link."""
        return await upload(request, self._find(request, "write"), self._fleet.options.file_bytes)

    def _find(self, request: Request, operation: str) -> LiveSandbox:
        query = request.query_params
        if any(len(query.getlist(name)) > 1 for name in query):
            raise ValidationError("invalid link: each parameter may be there once")
        self._count(request.client.host if request.client else "")
        expires_at = query.get("signature_expiration")
        given = query["signature"].encode("utf-8", "surrogateescape")
        found = None
        for live in self._fleet.list():
            wanted = sign(
                query.get("path", ""),
                operation,
                query.get("username", ""),
                live.access_token,
                expires_at,
            )
            if hmac.compare_digest(wanted.encode(), given):
                found = live
        if found is None:
            raise RefusedError(401, "the link's signature is invalid, or its sandbox has ended")
        if expires_at is not None and not (
            expires_at.isascii() and expires_at.isdigit() and time.time() < int(expires_at[:15])
        ):
            raise RefusedError(401, "the link's signature is expired")
        check_user(request)
        request.scope["llm_sandbox.tenant"] = found.tenant
        found.touch()
        return found

    def _count(self, address: str) -> None:
        """Count a try of an address, each of which costs a hash for each sandbox."""
        with self._lock:
            now = int(time.monotonic())
            if now != self._second:
                self._second, self._tries = now, {}
            self._tries[address] = self._tries.get(address, 0) + 1
            if self._tries[address] > _TRIES_PER_SECOND:
                raise QuotaExceededError("links per second", _TRIES_PER_SECOND, 1.0)
