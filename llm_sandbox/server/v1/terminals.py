"""Websockets of a sandbox: programs with a terminal or with pipes, and its file service."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Literal, TypeVar

import anyio
import pydantic
from pydantic import BaseModel, ConfigDict, Field
from starlette.websockets import WebSocket, WebSocketDisconnect

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.programs import Program
from llm_sandbox.server.v1.access import SUBPROTOCOL, Access
from llm_sandbox.server.v1.models import program_words
from llm_sandbox.server.v1.problems import problem_response

__all__ = ["FILES_SUBPROTOCOL", "STREAMS", "Websockets"]

FILES_SUBPROTOCOL = "llm-sandbox.files.v1"
"""Subprotocol of the file service, whose records are those of `guest.bulk`."""

STREAMS = {"stdout": b"\x01", "stderr": b"\x02"}
"""First byte of a message with output."""

_SHELL = "command -v bash >/dev/null && exec bash || exec sh"
_SILENCE_S = 15.0
_PIECE = 1 << 18
_FIRST_S = 30.0


_Message = TypeVar("_Message", bound=BaseModel)


class _Size(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rows: int = 24
    cols: int = 80
    term: str = "xterm-256color"


class _Start(BaseModel):
    """First message of a client: what is started."""

    model_config = ConfigDict(extra="forbid")

    command: str | list[str] = _SHELL
    terminal: _Size | None = Field(default_factory=_Size)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    timeout: float | None = Field(None, gt=0)
    stdin: bool = True


class _Control(BaseModel):
    """Later message of a client."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["resize", "signal", "kill", "eof"]
    rows: int = 24
    cols: int = 80
    number: int = 15


def _read(model: type[_Message], text: str) -> _Message:
    """Return a message of the client.

    Raises:
        ValidationError: It is of no such form.
    """
    try:
        return model.model_validate_json(text)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValidationError(f"invalid message: {place}: {first['msg']}") from None


class Websockets:
    """Websockets of a sandbox.

    Args:
        access: Access to sandboxes.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def _admitted(
        self,
        websocket: WebSocket,
        subprotocol: str,
        work: Callable[[WebSocket, LiveSandbox], Awaitable[None]],
    ) -> None:
        """Work for a client that may use the sandbox; another one's handshake is refused."""
        try:
            live = await self._access.sandbox(websocket, websocket.path_params["sandbox_id"])
        except SandboxError as error:
            await websocket.send_denial_response(problem_response(error))
            return
        offered = websocket.scope.get("subprotocols", ())
        await websocket.accept(subprotocol if subprotocol in offered else None)
        try:
            await work(websocket, live)
        except SandboxError as error:
            await self._fail(websocket, error)
        except WebSocketDisconnect:
            return

    async def _fail(self, websocket: WebSocket, error: SandboxError) -> None:
        facts = error.to_dict()
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await websocket.send_json({"type": "error", "error": facts})
            await websocket.close()

    # --- programs

    async def terminal(self, websocket: WebSocket) -> None:
        """Start a program, with a terminal unless the client wants pipes; it ends with the client.

        The first message is JSON: ``command``, ``terminal`` with ``rows`` and ``cols`` or null,
        ``env``, ``cwd``, ``timeout``, ``stdin``. Binary messages are input; ``{"type": "resize",
        "rows", "cols"}``, ``{"type": "signal", "number"}``, ``{"type": "kill"}`` and ``{"type":
        "eof"}`` do what they say. The answers are ``{"type": "start"}``, binary messages of 1 or 2
        and a piece of standard output or error, and ``{"type": "exit", "exit_code", ...}``.
        """
        await self._admitted(websocket, SUBPROTOCOL, self._terminal)

    async def _terminal(self, websocket: WebSocket, live: LiveSandbox) -> None:
        with anyio.fail_after(_FIRST_S):
            asked = _read(_Start, await websocket.receive_text())
        size = asked.terminal
        program = await in_thread(
            live.programs.start,
            tuple(program_words(asked.command)),
            envs=asked.env,
            cwd=asked.cwd,
            tag=None,
            terminal=None if size is None else Terminal(size.rows, size.cols, size.term),
            stdin=asked.stdin,
            timeout_s=asked.timeout,
        )
        try:
            await websocket.send_json({"type": "start", "id": program.number})
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listen, websocket, program, tasks.cancel_scope)
                await self._tell(websocket, live, program)
                tasks.cancel_scope.cancel()
        except* WebSocketDisconnect:
            pass
        finally:
            with anyio.CancelScope(shield=True):
                await in_thread(program.process.kill)
        ended = program.exit
        if ended is not None:
            facts = {**asdict(ended), "dropped_bytes": program.dropped_bytes}
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await websocket.send_json({"type": "exit", **facts})
                await websocket.close()

    async def _tell(self, websocket: WebSocket, live: LiveSandbox, program: Program) -> None:
        async for piece in program.follow(from_start=True, keepalive_s=_SILENCE_S):
            await self._access.use(live)
            if piece is not None:
                await websocket.send_bytes(STREAMS[piece[0]] + piece[1])

    async def _listen(
        self, websocket: WebSocket, program: Program, scope: anyio.CancelScope
    ) -> None:
        """Do what the client says; the program ends when it leaves."""
        stdin = program.process.stdin
        while True:
            message = await websocket.receive()
            if message["type"] != "websocket.receive":
                scope.cancel()
                return
            data = message.get("bytes")
            if data is not None:
                if stdin is not None and program.is_running:
                    stdin.write(data)
                    # What is not read holds up the client, and is not stored here.
                    with contextlib.suppress(BrokenPipeError):
                        await in_thread(stdin.drain)
                continue
            try:
                await self._control(program, _read(_Control, message["text"]))
            except SandboxError as error:
                await websocket.send_json({"type": "error", "error": error.to_dict()})

    async def _control(self, program: Program, asked: _Control) -> None:
        process = program.process
        if asked.type == "resize":
            await in_thread(process.resize, asked.rows, asked.cols)
        elif asked.type == "signal":
            await in_thread(process.signal, asked.number)
        elif asked.type == "kill":
            await in_thread(process.kill)
        elif process.stdin is not None:
            process.stdin.write_eof()

    # --- files

    async def files(self, websocket: WebSocket) -> None:
        """Connect to the file service of the sandbox, for clients that are the library itself."""
        await self._admitted(websocket, FILES_SUBPROTOCOL, self._files)

    async def _files(self, websocket: WebSocket, live: LiveSandbox) -> None:
        if websocket.scope.get("subprotocols", [])[:1] != [FILES_SUBPROTOCOL]:
            raise ValidationError(
                "this client speaks another version of the file service",
                hint="use the same version of llm-sandbox on both sides",
            )
        far = await in_thread(live.sandbox._machine.open_files)
        with far:
            far.setblocking(False)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_pump_out, far, websocket, tasks.cancel_scope)
                await self._pump_in(websocket, live, far)
                tasks.cancel_scope.cancel()

    async def _pump_in(self, websocket: WebSocket, live: LiveSandbox, far: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError, WebSocketDisconnect):
            while True:
                data = await websocket.receive_bytes()
                await self._access.use(live)
                # What a client writes is no change of a run.
                live.sandbox._modified.note()
                await loop.sock_sendall(far, data)


async def _pump_out(far: socket.socket, websocket: WebSocket, scope: anyio.CancelScope) -> None:
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, RuntimeError, WebSocketDisconnect):
        while data := await loop.sock_recv(far, _PIECE):
            # trust: bytes from inside, for the client's own reader.
            await websocket.send_bytes(data)
        await websocket.close()
    scope.cancel()
