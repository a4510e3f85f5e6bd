"""What a session has done: artifacts with their content, a report, a notebook."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from llm_sandbox.exceptions import ArtifactNotFoundError
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.v1.access import Access, json_response
from llm_sandbox.server.v1.models import ArtifactFacts
from llm_sandbox.views.chart_svg import chart_svg

__all__ = ["add_routes"]

_ONE = "/v1/sessions/{session_id}"
_INERT = {
    "Content-Disposition": "attachment",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""Headers for bytes from inside, which no browser renders as a page of this server."""


def add_routes(router: APIRouter, access: Access) -> None:
    """Add the routes of what a session has done."""
    api = _History(access)
    add = router.add_api_route
    add(f"{_ONE}/artifacts", api.artifacts, methods=["GET"], response_model=list[ArtifactFacts])
    add(
        f"{_ONE}/artifacts/{{name:path}}",
        api.artifact,
        methods=["GET"],
        response_class=Response,
        responses={200: {"content": {"*/*": {"schema": {"type": "string"}}}}},
    )
    add(f"{_ONE}/report", api.report, methods=["GET"], response_class=HTMLResponse)
    add(f"{_ONE}/notebook", api.notebook, methods=["GET"], response_model=dict[str, Any])


class _History:
    """Routes of what a session has done."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def artifacts(self, request: Request, session_id: str) -> Response:
        """List the artifacts of all runs, without content; charts and tables with their data."""
        live = await self._access.session(request, session_id)
        return json_response(await in_thread(_artifacts, live))

    async def artifact(
        self, request: Request, session_id: str, name: str, mime: str | None = None
    ) -> Response:
        """Return the content of an artifact, by its id or path; ``mime`` chooses another form.

        A chart without a picture of its own is drawn from its data as ``image/svg+xml``.
        """
        live = await self._access.session(request, session_id)

        def find() -> tuple[bytes, str]:
            found = live.session.artifact(name)
            if mime is None or mime == found.mime:
                return found.bytes(), found.mime
            other = found.alternatives.get(mime)
            if other is None and mime == "image/svg+xml" and found.chart is not None:
                drawn = chart_svg(found.chart)
                if drawn is not None:
                    return drawn.encode("utf-8", "replace"), mime
            if other is None:
                known = ", ".join([found.mime, *found.alternatives])
                raise ArtifactNotFoundError(f"the artifact has no form {mime!r}; it has {known}")
            return other.bytes(), mime

        data, kind = await in_thread(find)
        # trust: the type is recognised, and the bytes are inert: see the headers.
        return Response(data, media_type=kind, headers=_INERT)

    async def report(
        self, request: Request, session_id: str, title: str = "Session"
    ) -> HTMLResponse:
        """Return the history as one page, in which nothing can run."""
        from llm_sandbox.views.report import html_report

        live = await self._access.session(request, session_id)
        page = await in_thread(html_report, title, live.session.history, lang=live.language)
        headers = {
            "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; "
            "media-src data:; style-src 'unsafe-inline'"
        }
        return HTMLResponse(page.encode("utf-8", "replace"), headers=headers)

    async def notebook(self, request: Request, session_id: str) -> Response:
        """Return the history as a Jupyter notebook."""
        from llm_sandbox.views.notebook import to_notebook

        live = await self._access.session(request, session_id)
        facts = {"language": live.language}
        return json_response(await in_thread(to_notebook, live.session.history, facts))


def _artifacts(live: LiveSandbox) -> list[dict[str, Any]]:
    numbers = {id(run.result): run.number for run in live.runs.list() if run.result is not None}
    return [
        {"run": numbers.get(id(entry.result)), **item.to_dict(include_content=False)}
        for entry in live.session.history
        for item in entry.result.artifacts
    ]
