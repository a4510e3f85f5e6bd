"""One wire API: its routes, and the form in which it reports errors."""

from collections.abc import Callable, Sequence

from starlette.responses import Response
from starlette.routing import BaseRoute, Router
from starlette.types import Message, Receive, Scope, Send

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.server.answers import retry_headers, sentence, status_of
from llm_sandbox.server.guard import RefusedError

__all__ = ["API_KEY", "Api", "Explain", "route_name"]

API_KEY = "llm_sandbox.api"
"""Key of a request's scope for the name of the API that answered it."""

Explain = Callable[[int, str, SandboxError | None], Response]
"""Function that makes the answer for an error: its status, its sentence, and the error."""


class Api:
    """ASGI application of one API.

    Args:
        name: Name for metrics and logs.
        routes: Its routes.
        explain: Makes the answers for errors.
    """

    def __init__(self, name: str, routes: Sequence[BaseRoute], explain: Explain) -> None:
        self.name = name
        self._explain = explain
        self._router = Router(routes, redirect_slashes=False, default=self._not_found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope[API_KEY] = self.name
        has_started = False

        async def note(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._router(scope, receive, note)
        except SandboxError as error:
            if has_started:
                raise
            status = error.status if isinstance(error, RefusedError) else status_of(error)
            answer = self._explain(status, sentence(error), error)
            answer.headers.update(retry_headers(error))
            await answer(scope, receive, send)

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._explain(404, "there is no such route", None)
        await answer(scope, receive, send)


def route_name(scope: Scope) -> str:
    """Return the name of the route that answered a request: of a function, never a path."""
    endpoint = scope.get("endpoint")
    return str(getattr(endpoint, "__name__", "")).lstrip("_") or "none"
