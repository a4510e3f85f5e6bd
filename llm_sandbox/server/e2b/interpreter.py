"""Code interpreter in each sandbox, at port 49999: contexts, and code that runs in them."""

import hmac
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ContainerGoneError, SandboxError, ValidationError
from llm_sandbox.results.outputs import ErrorOutput, ExecutionError, Output
from llm_sandbox.server.answers import Emit, EventStream, in_long_thread, in_thread, read_object
from llm_sandbox.server.api import Api
from llm_sandbox.server.contexts import Context
from llm_sandbox.server.e2b.cell_variables import cell_variables, check_variables
from llm_sandbox.server.e2b.filesystem import real_path
from llm_sandbox.server.e2b.outbox import ClientGoneError, Outbox
from llm_sandbox.server.e2b.results import error_line, line, lines_of
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import RefusedError, header
from llm_sandbox.server.live_sandbox import LIVE_KEY, LiveSandbox

__all__ = ["LANGUAGES", "make_api"]

LANGUAGES = {
    "js": "javascript",
    "node": "javascript",
    "py": "python",
    "python3": "python",
    "sh": "bash",
    "ts": "typescript",
}
"""Other names of languages."""

_KEEPALIVE_S = 5.0


def make_api(fleet: Fleet) -> Api:
    """Return the API over a fleet."""
    service = _Interpreter(fleet)
    one = "/contexts/{context_id}"

    async def health(request: Request) -> Response:
        del request
        return PlainTextResponse("OK")

    return Api(
        "interpreter",
        [
            Route("/health", health, methods=["GET"]),
            Route("/execute", _admitted(service.execute), methods=["POST"]),
            Route("/contexts", _admitted(service.create), methods=["POST"]),
            Route("/contexts", _admitted(service.list), methods=["GET"]),
            Route(one, _admitted(service.remove), methods=["DELETE"]),
            Route(f"{one}/restart", _admitted(service.restart), methods=["POST"]),
        ],
        _explain,
    )


def _explain(status: int, message: str, error: object) -> Response:
    del error
    return PlainTextResponse(message, status)


def _admitted(endpoint: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Any]]:
    """Return an endpoint for callers who hold one of the sandbox's tokens."""

    async def admitted(request: Request) -> Any:
        live = _live(request)
        pairs = (
            ("e2b-traffic-access-token", live.traffic_token),
            ("x-access-token", live.access_token),
        )
        given = [(header(request.scope, name) or "", token) for name, token in pairs]
        if not any(hmac.compare_digest(a.encode("latin-1"), b.encode()) for a, b in given):
            raise RefusedError(401, "the traffic access token of the sandbox is needed")
        return await endpoint(request)

    admitted.__name__ = endpoint.__name__
    return admitted


def _live(request: Request) -> LiveSandbox:
    live: LiveSandbox = request.scope[LIVE_KEY]
    return live


class _Interpreter:
    """Routes of the interpreter."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def _body(self, request: Request) -> dict[str, Any]:
        return await read_object(request, self._fleet.options.body_bytes)

    async def create(self, request: Request) -> Response:
        """Start another interpreter."""
        live = _live(request)
        body = await self._body(request)
        cwd = None if body.get("cwd") is None else real_path(live, body["cwd"])
        context = await in_thread(live.create_context, _language(body), cwd)
        return JSONResponse(_described(context))

    async def list(self, request: Request) -> Response:
        """List the interpreters."""
        return JSONResponse([_described(context) for context in _live(request).contexts()])

    async def remove(self, request: Request) -> Response:
        """End an interpreter."""
        await in_thread(_live(request).remove_context, request.path_params["context_id"])
        return Response(status_code=204)

    async def restart(self, request: Request) -> Response:
        """Replace an interpreter by a fresh one."""
        context = _live(request).context(request.path_params["context_id"])

        def restart() -> None:
            context.session.interrupt()
            with context.lock:
                context.session.restart()

        await in_thread(restart)
        return Response(status_code=204)

    async def execute(self, request: Request) -> EventStream:
        """Run code, and stream its outputs."""
        live = _live(request)
        body = await self._body(request)
        code, context_id = body.get("code"), body.get("context_id")
        if not isinstance(code, str):
            raise ValidationError("invalid code: expected text", parameter="code")
        if context_id is not None and body.get("language") is not None:
            raise ValidationError("only one of context_id and language can be given")
        variables = check_variables(body.get("env_vars"))
        if context_id is None:
            language = _language(body)
            context = live.find_default(language)
            if context is None:
                context = await in_thread(live.default_context, language)
        else:
            context = live.context(str(context_id))
        execution = _Execution(self._fleet, live, context, code, variables)
        return EventStream(execution.produce, "application/x-ndjson", on_gone=execution.stop)


class _Execution:
    """One run of code for one client."""

    def __init__(
        self,
        fleet: Fleet,
        live: LiveSandbox,
        context: Context,
        code: str,
        variables: dict[str, str],
    ) -> None:
        self._fleet = fleet
        self._live = live
        self._context = context
        self._code = code
        self._variables = variables
        self._is_gone = False
        self._has_turn = False
        self._has_shown_error = False

    def stop(self) -> None:
        """Stop the run, because its client has gone; that of another client is left alone."""
        self._is_gone = True
        if self._has_turn:
            self._context.session.interrupt()

    async def produce(self, emit: Emit) -> None:
        """Run the code and send the events, as `EventStream` asks."""
        outbox = Outbox()
        failure: list[SandboxError] = []

        async def work() -> None:
            try:
                await in_long_thread(self._run, outbox)
            except SandboxError as error:
                failure.append(error)
            except ClientGoneError:
                pass
            finally:
                outbox.close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            try:
                data, is_over = await outbox.take(_KEEPALIVE_S)
                while not is_over:
                    await emit(data or line("keepalive"))
                    self._live.touch()
                    data, is_over = await outbox.take(_KEEPALIVE_S)
            finally:
                outbox.abandon()
        if self._live.has_ended:
            if data:
                await emit(data)
            # Clients learn from a cut connection that it was ended in the middle.
            raise ContainerGoneError("the sandbox has ended")
        if failure:
            error = ExecutionError(type(failure[0]).__name__, failure[0].message)
            data += error_line(error)
        await emit(data + line("end_of_execution"))

    def _run(self, outbox: Outbox) -> None:
        def on_output(output: Output) -> None:
            self._has_shown_error = self._has_shown_error or isinstance(output, ErrorOutput)
            for data in lines_of(output):
                outbox.put(data)

        context = self._context
        with context.lock, self._fleet.run():
            self._has_turn = True
            if self._is_gone:
                return
            try:
                context.runs += 1
                count = line("number_of_executions", execution_count=context.runs)
                outbox.put(count, can_wait=True)
                with cell_variables(context, self._variables):
                    result = context.session.run(self._code, on_output=on_output)
            finally:
                self._has_turn = False
        if result.dropped_bytes:
            words = f"\n[{result.dropped_bytes} bytes of output are over the limit, and left out]\n"
            outbox.put(line("stderr", text=words, timestamp=time.time_ns()))
        error = _hidden_error(result)
        if error is not None and not self._has_shown_error:
            outbox.put(error_line(error, result.stderr[-4096:]))


def _hidden_error(result: ExecutionResult) -> ExecutionError | None:
    """Return the error of a run that no output may have shown."""
    if result.error is not None or result.status in (RunStatus.OK, RunStatus.EXITED):
        return result.error if result.exit_code else None
    words = {
        RunStatus.OOM: ("OutOfMemory", "the code used more memory than it may"),
        RunStatus.KILLED: ("Killed", "the interpreter was stopped"),
        RunStatus.TIMEOUT: ("Timeout", "the time of the code was over"),
    }
    name, value = words.get(result.status, ("Error", f"exit code {result.exit_code}"))
    return ExecutionError(name, "; ".join([value, *result.notes]))


def _language(body: dict[str, Any]) -> str | None:
    given = body.get("language")
    if given is None:
        return None
    if not isinstance(given, str):
        raise ValidationError("invalid language: expected text", parameter="language")
    return LANGUAGES.get(given.lower(), given.lower())


def _described(context: Context) -> dict[str, str]:
    return {"id": context.id, "language": context.language, "cwd": context.cwd}
