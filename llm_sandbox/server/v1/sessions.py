"""Sessions: created, listed, ended; their code run, interrupted and answered."""

import base64
import binascii
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from llm_sandbox.exceptions import SandboxTimeoutError, ValidationError
from llm_sandbox.results.outputs import to_dict
from llm_sandbox.server.answers import in_long_thread, in_thread
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.runs import Run, RunRequest
from llm_sandbox.server.v1.access import Access, json_response
from llm_sandbox.server.v1.models import (
    CommandRequest,
    ExecutionResultModel,
    InputRequest,
    InstallRequest,
    ProcessResultModel,
    RunBody,
    RunFacts,
    SandboxFacts,
    ServiceAnswer,
    ServiceCall,
    TimeoutRequest,
    describe_run,
    describe_sandbox,
)
from llm_sandbox.server.v1.repetitions import idempotency_key
from llm_sandbox.server.v1.session_options import (
    API_NAME,
    NewSession,
    check_libraries,
    read_options,
)
from llm_sandbox.server.v1.streams import (
    DOCUMENTED,
    StreamResponse,
    last_event_id,
    wants_stream,
)

__all__ = ["add_routes"]

_ONE = "/v1/sessions/{session_id}"
_SILENCE_S = 15.0
_STREAM: dict[int | str, dict[str, Any]] = {200: {"content": DOCUMENTED}}


def add_routes(router: APIRouter, access: Access) -> None:
    """Add the routes of sessions."""
    api = _Sessions(access)
    add = router.add_api_route
    facts: dict[str, Any] = {"response_model": SandboxFacts}
    add("/v1/sessions", api.create, methods=["POST"], status_code=201, **facts)
    add("/v1/sessions", api.list, methods=["GET"], response_model=list[SandboxFacts])
    add(_ONE, api.get, methods=["GET"], **facts)
    add(_ONE, api.delete, methods=["DELETE"], status_code=204)
    add(f"{_ONE}/timeout", api.set_timeout, methods=["POST"], **facts)
    add(
        f"{_ONE}/run",
        api.run,
        methods=["POST"],
        response_model=ExecutionResultModel,
        responses=_STREAM,
    )
    add(f"{_ONE}/runs", api.runs, methods=["GET"], response_model=list[RunFacts])
    add(f"{_ONE}/runs/{{number}}", api.run_facts, methods=["GET"], response_model=RunFacts)
    add(
        f"{_ONE}/runs/{{number}}/result",
        api.result,
        methods=["GET"],
        response_model=ExecutionResultModel,
    )
    add(f"{_ONE}/runs/{{number}}/events", api.events, methods=["GET"], responses=_STREAM)
    add(f"{_ONE}/interrupt", api.interrupt, methods=["POST"], status_code=204)
    add(f"{_ONE}/restart", api.restart, methods=["POST"], status_code=204)
    add(f"{_ONE}/input", api.input, methods=["POST"], status_code=204)
    add(f"{_ONE}/install", api.install, methods=["POST"], status_code=204)
    add(f"{_ONE}/exec", api.exec, methods=["POST"], response_model=ProcessResultModel)
    add(f"{_ONE}/call", api.call, methods=["POST"], response_model=ServiceAnswer)
    add(f"{_ONE}/background", api.background, methods=["POST"], response_model=list[dict[str, Any]])


class _Sessions:
    """Routes of sessions."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._fleet = access.fleet

    # --- life

    async def create(self, request: Request, body: NewSession) -> Response:  # type: ignore[valid-type]
        """Create a session."""
        tenant = self._access.tenant(request)
        asked = read_options(body, self._access.options)
        live = await in_thread(self._fleet.create, tenant, asked, idempotency_key(request))
        return json_response(await in_thread(describe_sandbox, live), 201)

    async def list(self, request: Request) -> Response:
        """List the tenant's sessions, newest first."""
        found = self._fleet.list(self._access.tenant(request), API_NAME)
        return json_response([describe_sandbox(live) for live in found])

    async def get(self, request: Request, session_id: str) -> Response:
        """Describe a session."""
        live = self._fleet.get(self._access.tenant(request), session_id, API_NAME)
        return json_response(describe_sandbox(live))

    async def delete(self, request: Request, session_id: str) -> Response:
        """End a session."""
        live = await self._access.session(request, session_id)
        await in_thread(self._fleet.kill, live)
        return Response(status_code=204)

    async def set_timeout(
        self, request: Request, session_id: str, body: TimeoutRequest
    ) -> Response:
        """Set the time that a session has left."""
        live = await self._access.session(request, session_id)
        await in_thread(live.set_timeout, self._fleet.check_timeout(body.seconds))
        return json_response(describe_sandbox(live))

    # --- code

    async def run(self, request: Request, session_id: str, body: RunBody) -> Response:
        """Run code: a result, or events for ``Accept: text/event-stream``.

        The code goes on when its client leaves. With ``Last-Event-ID`` nothing is run, and the
        stream of that run is resumed.
        """
        live = await self._access.session(request, session_id)
        resumed = last_event_id(request)
        if resumed is not None:
            return self._stream(live, self._run_of(live, resumed[0]), resumed[1])
        check_libraries(body.libraries, self._access.options)
        asked = RunRequest(
            body.code,
            tuple(body.libraries),
            body.timeout,
            body.stdin,
            tuple(body.argv),
            body.interactive,
        )
        run = live.runs.start(live.session, asked, self._fleet.run, idempotency_key(request))
        if wants_stream(request):
            return self._stream(live, run, 0)
        return await self._finished(live, run)

    def _stream(self, live: LiveSandbox, run: Run, after: int) -> Response:
        number = str(run.number)
        return StreamResponse(run.log, number, after, run.end, lambda: self._access.use(live))

    async def _finished(self, live: LiveSandbox, run: Run) -> Response:
        """Return the result of a run, once it has ended."""
        async for event in run.log.follow(run.log.count, _SILENCE_S):
            if event is None:
                await self._access.use(live)
        if run.error is not None:
            raise run.error
        answer = await in_thread(lambda: json_response(run.end()[1]))
        answer.headers["X-Run"] = str(run.number)
        return answer

    def _run_of(self, live: LiveSandbox, number: str) -> Run:
        if not number.isascii() or not number.isdigit() or len(number) > 18:
            raise ValidationError("invalid run: expected its number", parameter="number")
        return live.runs.get(int(number))

    async def runs(self, request: Request, session_id: str) -> Response:
        """List the last 1,000 runs, oldest first."""
        live = await self._access.session(request, session_id)
        return json_response([describe_run(run) for run in live.runs.list()])

    async def run_facts(self, request: Request, session_id: str, number: int) -> Response:
        """Describe a run."""
        live = await self._access.session(request, session_id)
        return json_response(describe_run(live.runs.get(number)))

    async def result(self, request: Request, session_id: str, number: int) -> Response:
        """Return the result of a run, once it has ended."""
        live = await self._access.session(request, session_id)
        return await self._finished(live, live.runs.get(number))

    async def events(self, request: Request, session_id: str, number: int) -> Response:
        """Follow a run; ``Last-Event-ID`` resumes where a client has left."""
        live = await self._access.session(request, session_id)
        resumed = last_event_id(request)
        if resumed is not None and resumed[0] != str(number):
            raise ValidationError(
                "invalid Last-Event-ID: expected that of an event of this run",
                parameter="Last-Event-ID",
            )
        return self._stream(live, live.runs.get(number), 0 if resumed is None else resumed[1])

    async def interrupt(self, request: Request, session_id: str) -> Response:
        """Stop the code that runs; nothing happens when none does."""
        live = await self._access.session(request, session_id)
        live.runs.stop()
        await in_thread(live.session.interrupt)
        return Response(status_code=204)

    async def restart(self, request: Request, session_id: str) -> Response:
        """Start a fresh interpreter; refused while code runs."""
        live = await self._access.session(request, session_id)
        await in_thread(live.session.restart)
        return Response(status_code=204)

    async def input(self, request: Request, session_id: str, body: InputRequest) -> Response:
        """Answer code that waits for input."""
        live = await self._access.session(request, session_id)
        waiting = [run for run in live.runs.list() if run.is_waiting]
        if not waiting:
            raise ValidationError("no code waits for input", hint="run it with interactive: true")
        waiting[0].answer(body.text)
        return Response(status_code=204)

    async def install(self, request: Request, session_id: str, body: InstallRequest) -> Response:
        """Install libraries."""
        live = await self._access.session(request, session_id)
        check_libraries(body.libraries, self._access.options)
        await in_long_thread(live.session.install, body.libraries)
        return Response(status_code=204)

    async def exec(self, request: Request, session_id: str, body: CommandRequest) -> Response:
        """Run a command to its end."""
        live = await self._access.session(request, session_id)

        def run() -> dict[str, object]:
            with self._fleet.run():
                try:
                    result = live.session.execute_command(
                        body.command, body.workdir, timeout=body.timeout
                    )
                except SandboxTimeoutError as error:
                    if error.result is None:
                        raise
                    return error.result.to_dict()
                return result.to_dict()

        return json_response(await in_long_thread(run))

    async def call(self, request: Request, session_id: str, body: ServiceCall) -> Response:
        """Call a service of the interpreter: variables, their values, whole tables."""
        live = await self._access.session(request, session_id)
        try:
            buffers = [base64.b64decode(text, validate=True) for text in body.buffers]
        except (binascii.Error, ValueError):
            raise ValidationError("invalid buffers: expected base64", parameter="buffers") from None

        def call() -> dict[str, Any]:
            content, found = live.session._call(body.service, body.arguments, buffers)
            return {"content": content, "buffers": [base64.b64encode(b).decode() for b in found]}

        return json_response(await in_long_thread(call))

    async def background(self, request: Request, session_id: str) -> Response:
        """Take the output of ended runs since the last call."""
        live = await self._access.session(request, session_id)
        found = await in_thread(live.session.background_output)
        return json_response(
            [
                {
                    "run": one.run,
                    "output": to_dict(one.output),
                    "time": one.time,
                    "dropped_bytes": one.dropped_bytes,
                }
                for one in found
            ]
        )
