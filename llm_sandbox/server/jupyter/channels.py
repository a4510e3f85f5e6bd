"""Websocket of one client of a kernel."""

import asyncio
import collections
import contextlib
import threading

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from llm_sandbox.exceptions import ContainerGoneError, ValidationError
from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.jupyter.kernel import GatewayKernel
from llm_sandbox.server.jupyter.wire import PROTOCOL_V1, Packed, unpack

__all__ = ["Channels"]

_MOST_UNREAD = 4 << 20
"""Bytes that wait for a client before the program waits for it."""
_SLOWEST_READER_S = 60.0
_CLOSE_S = 5.0
_LARGE = 1 << 16
_INVALID, _OVERLOADED, _GONE, _SLOW = 1007, 1013, 1001, 1008


class Channels:
    """Client of a kernel at the other end of a websocket; see `kernel.Client`.

    Args:
        socket: The websocket, which is not accepted yet.
        kernel: The kernel.
    """

    def __init__(self, socket: WebSocket, kernel: GatewayKernel) -> None:
        self.session_id = socket.query_params.get("session_id")
        self._socket = socket
        self._kernel = kernel
        self._is_v1 = PROTOCOL_V1 in socket.scope.get("subprotocols", ())
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._unread: collections.deque[Packed] = collections.deque()
        self._size = 0
        self._reason: str | None = None
        self._news = asyncio.Event()

    # --- from the kernel's thread

    @property
    def is_full(self) -> bool:
        """Whether it has enough to read."""
        return self._size > _MOST_UNREAD

    def deliver(self, packed: Packed) -> None:
        """Send it a message, without waiting."""
        with self._lock:
            self._unread.append(packed)
            self._size += packed.size
        self._tell()

    def end(self, reason: str) -> None:
        """Disconnect it, without waiting."""
        self._reason = reason
        self._tell()

    def _tell(self) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._news.set)

    # --- in the event loop

    async def carry(self) -> None:
        """Carry messages until either end goes."""
        await self._socket.accept(PROTOCOL_V1 if self._is_v1 else None)
        try:
            self._kernel.connect(self)
        except ContainerGoneError:
            await self._socket.close(_GONE)
            return
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, tasks.cancel_scope)
                await self._read()
                tasks.cancel_scope.cancel()
        finally:
            self._kernel.disconnect(self)

    async def _read(self) -> None:
        socket = self._socket
        try:
            while (message := await socket.receive())["type"] == "websocket.receive":
                data = message.get("text") or message.get("bytes") or b""
                if len(data) > _LARGE:
                    received = await in_thread(unpack, data, is_v1=self._is_v1)
                else:
                    received = unpack(data, is_v1=self._is_v1)
                self._kernel.hear(self, received)
        except WebSocketDisconnect:
            return
        except ValidationError as error:
            code = _INVALID if error.message.startswith("invalid") else _OVERLOADED
            await self._close(code, error.message)

    async def _write(self, scope: anyio.CancelScope) -> None:
        with contextlib.suppress(WebSocketDisconnect):
            await self._write_all()
        scope.cancel()

    async def _write_all(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            while self._unread:
                packed = self._unread[0]
                data = packed.encode(is_v1=self._is_v1)
                try:
                    with anyio.fail_after(_SLOWEST_READER_S):
                        if isinstance(data, str):
                            await self._socket.send_text(data)
                        else:
                            await self._socket.send_bytes(data)
                except TimeoutError:
                    await self._close(_SLOW, "the client reads too slowly")
                    return
                was_full = self.is_full
                with self._lock:
                    self._unread.popleft()
                    self._size -= packed.size
                if was_full and not self.is_full:
                    self._kernel.rouse()
            if self._reason is not None:
                await self._close(_GONE, self._reason)
                return

    async def _close(self, code: int, reason: str) -> None:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            with anyio.move_on_after(_CLOSE_S):
                await self._socket.close(code, reason)
