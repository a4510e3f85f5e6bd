"""Service ``process.Process`` of envd: programs are started, followed, written to and ended."""

import base64
import binascii
import signal
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import (
    ContainerGoneError,
    LaunchError,
    ProcessNotFoundError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.host.guest_numbers import signal_name
from llm_sandbox.server.answers import Emit, in_thread
from llm_sandbox.server.e2b.connect import Answer, Deadline, envelope, messages, stream, unary
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.live_sandbox import LIVE_KEY, LiveSandbox
from llm_sandbox.server.programs import Program

__all__ = ["check_user", "process_routes"]

_SIGNALS = {"SIGNAL_SIGTERM": signal.SIGTERM, "SIGNAL_SIGKILL": signal.SIGKILL}
_SIGNAL_WORDS = {2: "interrupt", 9: "killed", 11: "segmentation fault", 15: "terminated"}
_KEEPALIVE_S = 50.0
_SHELL = "/bin/bash"


def process_routes(fleet: Fleet) -> list[Route]:
    """Return the routes of the service."""
    service = _ProcessService(fleet)
    most = fleet.options.body_bytes
    calls: dict[str, Any] = {
        "Start": stream(service.start, most),
        "Connect": stream(service.connect, most),
        "List": unary(service.list, most),
        "SendInput": unary(service.send_input, most),
        "CloseStdin": unary(service.close_stdin, most),
        "SendSignal": unary(service.send_signal, most),
        "Update": unary(service.update, most),
        "StreamInput": service.stream_input,
    }
    return [
        Route(f"/process.Process/{name}", endpoint, methods=["POST"])
        for name, endpoint in calls.items()
    ]


def _live(request: Request) -> LiveSandbox:
    live: LiveSandbox = request.scope[LIVE_KEY]
    return live


class _ProcessService:
    """Calls of the service."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def start(self, request: Request, message: dict[str, Any], emit: Emit) -> None:
        """Start a program, and stream its output until its end."""
        live = _live(request)
        given = _object(message, "process")
        argv = (_text(given, "cmd"), *_texts(given, "args"))
        terminal = _terminal(message.get("pty"))
        timeout_s = _timeout(request)
        with self._fleet.run():
            program = await in_thread(_start, live, argv, given, message, terminal, timeout_s)
            await _follow(request, program, emit, from_start=True)

    async def connect(self, request: Request, message: dict[str, Any], emit: Emit) -> None:
        """Stream what a program puts out from now on."""
        program = _selected(_live(request), message)
        await _follow(request, program, emit, from_start=False)

    async def list(self, request: Request, message: dict[str, Any]) -> Answer:
        """List the programs that run."""
        del message
        found = []
        for program in _live(request).programs.running():
            cmd, *args = program.process.command
            config: dict[str, object] = {"cmd": cmd, "args": args, "envs": dict(program.envs)}
            if program.cwd is not None:
                config["cwd"] = program.cwd
            tag = {} if program.tag is None else {"tag": program.tag}
            found.append({"config": config, "pid": program.number, **tag})
        return {"processes": found}

    async def send_input(self, request: Request, message: dict[str, Any]) -> Answer:
        """Write to a program's standard input or terminal."""
        _write(_selected(_live(request), message), _object(message, "input"))
        return {}

    async def stream_input(self, request: Request) -> Response:
        """Write to a program what the client streams."""
        program: Program | None = None
        async for message in messages(request):
            if "start" in message:
                program = _selected(_live(request), _object(message, "start"))
            elif "data" in message:
                if program is None:
                    raise ValidationError("invalid stream: expected the program first")
                _write(program, _object(_object(message, "data"), "input"))
        body = envelope({}) + envelope({}, 2)
        return Response(body, media_type="application/connect+json")

    async def close_stdin(self, request: Request, message: dict[str, Any]) -> Answer:
        """End a program's standard input."""
        program = _selected(_live(request), message, running=True)
        if program.process.stdin is None:
            raise ValidationError("the program was started without standard input")
        program.process.stdin.write_eof()
        return {}

    async def send_signal(self, request: Request, message: dict[str, Any]) -> Answer:
        """End a program."""
        program = _selected(_live(request), message, running=True)
        number = _SIGNALS.get(str(message.get("signal")))
        if number is None:
            raise ValidationError(f"invalid signal: expected {' or '.join(_SIGNALS)}")
        process = program.process
        if number == signal.SIGKILL:
            delivered = await in_thread(process.kill)
        else:
            delivered = await in_thread(process.signal, number)
        if not delivered:
            raise ProcessNotFoundError(str(program.number))
        return {}

    async def update(self, request: Request, message: dict[str, Any]) -> Answer:
        """Change the size of a program's terminal."""
        program = _selected(_live(request), message, running=True)
        terminal = _terminal(message.get("pty"))
        if terminal is not None:
            await in_thread(program.process.resize, terminal.rows, terminal.cols)
        return {}


def _start(
    live: LiveSandbox,
    argv: tuple[str, ...],
    given: Mapping[str, Any],
    message: Mapping[str, Any],
    terminal: Terminal | None,
    timeout_s: float | None,
) -> Program:
    envs = given.get("envs") or {}
    if not isinstance(envs, dict) or not all(isinstance(text, str) for text in envs.values()):
        raise ValidationError("invalid envs: expected names with texts", parameter="envs")
    cwd, tag = given.get("cwd") or None, message.get("tag")
    if not isinstance(cwd, str | None) or not isinstance(tag, str | None):
        raise ValidationError("invalid cwd or tag: expected text")
    # Clients that do not know the field write to the standard input when they like.
    stdin = message.get("stdin", True) is not False

    def start(words: tuple[str, ...]) -> Program:
        return live.programs.start(
            words,
            envs=envs,
            cwd=cwd,
            tag=tag,
            terminal=terminal,
            stdin=stdin,
            timeout_s=timeout_s,
        )

    try:
        return start(argv)
    except LaunchError as error:
        # Clients name bash for every command; an image may have another shell only.
        if argv[0] != _SHELL or error.kind != "not_found":
            raise
        return start(("sh", *argv[1:]))


async def _follow(request: Request, program: Program, emit: Emit, *, from_start: bool) -> None:
    """Send a program's start, output and end."""
    live = _live(request)
    keepalive_s = _seconds(request.headers.get("keepalive-ping-interval"), _KEEPALIVE_S)
    await emit(_event("start", {"pid": program.number}))
    async for piece in program.follow(from_start=from_start, keepalive_s=keepalive_s):
        live.touch()
        if piece is None:
            await emit(_event("keepalive", {}))
            continue
        name, data = piece
        shown = "pty" if program.has_terminal else name
        await emit(_event("data", {shown: base64.b64encode(data).decode()}))
    if program.dropped_bytes:
        words = f"\n[{program.dropped_bytes} bytes of output are over the limit, and left out]\n"
        shown = "pty" if program.has_terminal else "stderr"
        await emit(_event("data", {shown: base64.b64encode(words.encode()).decode()}))
    ended = program.exit
    if live.has_ended and (ended is None or ended.signal is not None):
        raise ContainerGoneError("the sandbox was not found: it has ended")
    if ended is None:
        return
    if ended.timed_out:
        raise Deadline("the program was killed at the deadline of its client")
    if ended.signal is not None:
        said = f"signal: {_SIGNAL_WORDS.get(ended.signal) or signal_name(ended.signal)}"
        end = {"exitCode": -1, "exited": False, "status": said, "error": said}
    else:
        status = f"exit status {ended.exit_code}"
        end = {"exitCode": ended.exit_code, "exited": True, "status": status}
        if ended.exit_code:
            end["error"] = status
    await emit(_event("end", end))


def _event(name: str, data: Mapping[str, object]) -> bytes:
    return envelope({"event": {name: data}})


def _selected(live: LiveSandbox, message: Mapping[str, Any], *, running: bool = False) -> Program:
    selector = message.get("process")
    selector = selector if isinstance(selector, dict) else {}
    number, tag = selector.get("pid"), selector.get("tag")
    program = live.programs.get(
        number if isinstance(number, int) else None, tag if isinstance(tag, str) else None
    )
    if running and not program.is_running:
        raise ProcessNotFoundError(str(program.number))
    return program


def _write(program: Program, given: Mapping[str, Any]) -> None:
    if not program.is_running:
        raise ProcessNotFoundError(str(program.number))
    text = given.get("pty" if program.has_terminal else "stdin")
    try:
        data = base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except binascii.Error:
        kind = "pty" if program.has_terminal else "stdin"
        raise ValidationError(f"invalid input: expected {kind} in base64") from None
    if program.process.stdin is None:
        raise ValidationError("the program was started without standard input")
    program.process.stdin.write(data)


def _terminal(given: object) -> Terminal | None:
    if given is None:
        return None
    size = given.get("size") if isinstance(given, dict) else None
    size = size if isinstance(size, dict) else {}
    return Terminal(size.get("rows", 24), size.get("cols", 80))


def _timeout(request: Request) -> float | None:
    text = request.headers.get("connect-timeout-ms")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise ValidationError("invalid Connect-Timeout-Ms: expected milliseconds")
    return max(0.001, int(text) / 1000) if int(text) else None


def _seconds(text: str | None, otherwise: float) -> float:
    try:
        return min(max(float(text or otherwise), 1.0), 3600.0)
    except ValueError:
        return otherwise


def _object(message: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = message.get(name)
    if not isinstance(value, dict):
        raise ValidationError(f"invalid {name}: expected an object", parameter=name)
    return value


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise ValidationError(f"invalid {name}: expected text", parameter=name)
    return value


def _texts(message: Mapping[str, Any], name: str) -> list[str]:
    value = message.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError(f"invalid {name}: expected a list of texts", parameter=name)
    return value


def check_user(request: Request) -> None:
    """Refuse a request for another user than the sandbox's own.

    Raises:
        UnsupportedError: The request names one.
    """
    name = request.query_params.get("username")
    given = request.headers.get("authorization", "")
    if name is None and given.lower().startswith("basic "):
        try:
            name = base64.b64decode(given[6:]).decode().partition(":")[0]
        except ValueError:
            raise ValidationError("invalid Authorization: expected a user in base64") from None
    if name not in (None, "", "user", "sandbox"):
        raise UnsupportedError(
            f"the user {name!r}", reason="everything runs as the sandbox's one user, 'user'"
        )
