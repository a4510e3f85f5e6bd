"""Service: the server as a process, from its first request to an orderly end."""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable

import uvicorn

from llm_sandbox.server.answers import in_thread
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.guard import Guard
from llm_sandbox.server.keys import KeyFile
from llm_sandbox.server.options import ServerOptions
from llm_sandbox.server.router import Router

__all__ = ["serve"]

_SWEEP_EVERY_S = 5.0
_CLOSE_S = 3
_MOST_CONNECTIONS = 20_000
_KEEP_ALIVE_S = 75
_PING_S = 30.0


def serve(
    options: ServerOptions,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: KeyFile | None = None,
    on_ready: Callable[[int], object] = lambda port: None,
) -> None:
    """Serve until a signal ends this process: SIGTERM or SIGINT in order, a second one at once.

    Args:
        options: What the operator allows.
        host: Address to listen on.
        port: Port to listen on; 0 for a free one.
        keys: Keys of clients; None admits everybody on this computer.
        on_ready: Called with the port once requests are accepted.

    Raises:
        ValidationError: Other computers reach the address, and there are no keys.
        OSError: The address is in use, or is none of this computer's.
    """
    guard = Guard(host, keys, options.domain)
    _raise_open_files()
    listener = _listen(host, port)
    fleet = Fleet(options)
    try:
        # A backend that does not work here is reported before the first client finds out.
        fleet.check()
        fleet.check_limits()
        fleet.recover()
        config = uvicorn.Config(
            Router(fleet, guard),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_CLOSE_S,
            limit_concurrency=_MOST_CONNECTIONS,
            ws_max_size=options.body_bytes,
            ws_ping_interval=_PING_S,
            ws_ping_timeout=_PING_S,
            h11_max_incomplete_event_size=1 << 16,
            http="h11",
            ws="websockets-sansio",
        )
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        asyncio.run(_Service(fleet, config, listener, on_ready).run())
    finally:
        listener.close()
        fleet.close()


def _raise_open_files() -> None:
    """Raise the limit of open files as far as it may be: each connection takes one."""
    try:
        import resource
    except ImportError:
        return  # systems without that module have no such limit
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off the delay of small packets only where the protocol is said to be TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except BaseException:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    """Server whose signals are handled by the service."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


class _Service:
    """Server, sweeping and signals in one event loop."""

    def __init__(
        self,
        fleet: Fleet,
        config: uvicorn.Config,
        listener: socket.socket,
        on_ready: Callable[[int], object],
    ) -> None:
        self._fleet = fleet
        self._server = _Server(config)
        self._listener = listener
        self._on_ready = on_ready
        self._hurry = threading.Event()
        self._signals = 0
        self._ending: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Serve until a signal, and then until running code has ended or had its time."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)
        async with _background(self._sweep()):
            self._on_ready(self._listener.getsockname()[1])
            await self._server.serve(sockets=[self._listener])

    def _on_signal(self) -> None:
        self._signals += 1
        if self._signals > 1:
            self._hurry.set()
            self._server.force_exit = True
        elif self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        drain_s = self._fleet.options.drain_s
        await in_thread(self._fleet.drain, drain_s, self._hurry.is_set)
        # Streams end with their sandboxes, so that no connection waits for ever.
        await in_thread(self._fleet.close)
        self._server.should_exit = True

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_EVERY_S)
            await in_thread(self._fleet.sweep)
            await in_thread(self._fleet.end_orphans)


@contextlib.asynccontextmanager
async def _background(work) -> AsyncIterator[None]:  # type: ignore[no-untyped-def]
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
