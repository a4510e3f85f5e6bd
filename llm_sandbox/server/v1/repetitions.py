"""Repeated requests: one with a known ``Idempotency-Key`` gets the first one's answer."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.server.guard import RefusedError, header

__all__ = ["Repetitions", "idempotency_key"]

_REMEMBERED_S = 600.0
_MOST_ANSWER = 1 << 20
_MOST_ANSWERS = 64 << 20
_MOST_KEYS = 10_000


@dataclass
class _First:
    """Request that was seen first with its key."""

    digest: str
    at: float
    answer: "asyncio.Future[Response | None]" = field(default_factory=asyncio.Future)

    @property
    def size(self) -> int:
        """Bytes of the answer that is kept."""
        answer = self.answer.result() if self.answer.done() else None
        return 0 if answer is None else len(answer.body)


class Repetitions:
    """Answers of the last ten minutes by tenant and key, for one event loop.

    Nothing is done twice: a repetition of a request whose answer was too large to keep is refused.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _First] = {}

    async def once(
        self, tenant: str, request: Request, answer: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Answer a request, or return the answer to the first one with its key.

        Args:
            tenant: Tenant of the request.
            request: The request, whose body is small.
            answer: Answers it.

        Raises:
            RefusedError: The key is that of another request, or the answer is not kept.
        """
        key = idempotency_key(request)
        if key is None:
            return await answer()
        place = (tenant, key)
        digest = await _digest(request)
        self._tidy()
        first = self._known.get(place)
        if first is not None:
            if first.digest != digest:
                raise RefusedError(422, "the Idempotency-Key was used for another request")
            found = await asyncio.shield(first.answer)
            if found is None:
                raise RefusedError(409, "the request was carried out; its answer was not kept")
            return found
        if len(self._known) >= _MOST_KEYS:
            raise RefusedError(429, "there are too many Idempotency-Keys; repeat without one")
        first = self._known[place] = _First(digest, time.monotonic())
        try:
            made = await answer()
        except BaseException as error:
            # A failure is not kept: the same request may succeed now.
            del self._known[place]
            failed = error if isinstance(error, SandboxError) else SandboxError("the first failed")
            first.answer.set_exception(failed)
            first.answer.exception()
            raise
        kept = (
            len(made.body) <= _MOST_ANSWER
            and sum(one.size for one in self._known.values()) < _MOST_ANSWERS
        )
        first.answer.set_result(made if kept else None)
        return made

    def _tidy(self) -> None:
        limit = time.monotonic() - _REMEMBERED_S
        for place, first in list(self._known.items()):
            if first.at < limit and first.answer.done():
                del self._known[place]


def idempotency_key(request: Request) -> str | None:
    """Return the key of a request; None without one."""
    key = header(request.scope, "idempotency-key")
    if key is not None and not 0 < len(key) <= 255:
        raise RefusedError(400, "invalid Idempotency-Key: expected 1 to 255 characters")
    return key


async def _digest(request: Request) -> str:
    """Return what tells requests apart; of an uploaded file only its length counts."""
    words = f"{request.method} {request.url.path}?{request.url.query}".encode()
    is_file = request.method == "PUT" and "/files/" in request.url.path
    body = request.headers.get("content-length", "").encode() if is_file else await request.body()
    return hashlib.sha256(words + b"\0" + body).hexdigest()
