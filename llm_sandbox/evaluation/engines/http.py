"""Engine of servers: `llm-sandbox serve` on any number of computers, by their addresses."""

import contextlib
import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.lane import Lane
from llm_sandbox.evaluation.engines.messages import decode, encode
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ConfigurationError,
    ErrorCode,
    SandboxError,
    ValidationError,
)
from llm_sandbox.remote.connection import ServerConnection

__all__ = ["HttpEngine"]

_SERVERS = "SANDBOX_SERVERS"
_TOKEN = "SANDBOX_TOKEN"  # noqa: S105 - the name of a variable
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 2.0, 60.0
_BUSY_S = 300.0
_BUSY_PAUSE_S = 1.0
_END_S = 5.0
_DNS = "dns://"
_RESOLVE_S = 5.0


class HttpEngine:
    """Engine of servers, each of which is a worker for all of its CPUs.

    A server that does not answer is asked again now and then; its samples go to others. One that
    is busy with another client's samples is waited for.

    Args:
        servers: Addresses of the servers; None for those that the variable ``SANDBOX_SERVERS``
            names, with spaces or commas between them. ``dns://workers:8000`` means
            ``http://ADDRESS:8000`` for each address of the host ``workers``, which is looked up
            every 5 seconds: a headless Service of Kubernetes, for example.
        token: API key, the same for all; None for the variable ``SANDBOX_TOKEN``, else none.

    Raises:
        ValidationError: An address is invalid, or there is none.
    """

    def __init__(self, servers: Sequence[str] | None = None, *, token: str | None = None) -> None:
        if servers is None:
            servers = os.environ.get(_SERVERS, "").replace(",", " ").split()
        if isinstance(servers, str) or not servers:
            raise ValidationError(
                "invalid servers: expected addresses, got none",
                parameter="servers",
                hint=f"HttpEngine(['http://host:8000']), or {_SERVERS}=http://host:8000",
            )
        token = os.environ.get(_TOKEN) if token is None else token
        urls = list(dict.fromkeys(servers))
        self._token = token
        self._names = [_HostName(url) for url in urls if url.startswith(_DNS)]
        self._fixed = [
            _Server(ServerConnection(url, token)) for url in urls if not url.startswith(_DNS)
        ]
        self._setup: dict[str, Any] = {}

    def start(self, setup: bytes) -> None:
        """Connect to the servers; see `Engine.start`."""
        message = decode(setup)
        options = message.pop("options")
        if options.pop("backend") is not None:
            raise ValidationError(
                "invalid backend: expected None, as each server has its own", parameter="backend"
            )
        self._setup = {**message, **options}
        for server in self._fixed:
            server.pause_s = 0.0
            server.open(self._ask)
        for name in self._names:
            name.forget()
        self._look_up()

    @property
    def _servers(self) -> list["_Server"]:
        return [*self._fixed, *(server for name in self._names for server in name.servers)]

    def workers(self) -> Sequence[str]:
        """Return the servers that answer, as far as is known."""
        self._look_up()
        for server in self._servers:
            if not server.is_open and time.monotonic() > server.next_try:
                server.open(self._ask)
        return [server.name for server in self._servers if server.is_open]

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to a server; see `Engine.submit`."""
        for server in self._servers:
            if server.name == worker and server.lane is not None:
                return server.lane.submit(batch)
        future: Future[bytes] = Future()
        future.set_exception(WorkerLostError(f"worker {worker} is gone"))
        return future

    def restart(self, worker: str) -> None:
        """Ask a server for nothing more that is under way; see `Engine.restart`."""
        for server in self._servers:
            if server.name == worker:
                server.close()

    def close(self) -> None:
        """Close the connections."""
        for server in [*self._fixed, *(one for name in self._names for one in name.known.values())]:
            server.close()
            if server.lane is not None:
                server.lane.join(_END_S)
            server.connection.close()

    def _look_up(self) -> None:
        """Take in servers whose addresses are new, and leave out those that are gone."""
        for name in self._names:
            found = name.resolve()
            if found is None:
                continue
            for url in found:
                if url not in name.known:
                    name.known[url] = _Server(ServerConnection(url, self._token))
                    name.known[url].open(self._ask)
            name.servers = [name.known[url] for url in found]
            for url, server in name.known.items():
                if url not in found:
                    # What is under way there may still be answered.
                    server.close()

    def _ask(self, server: ServerConnection, batch: bytes) -> bytes:
        """Return a server's answer to a batch; an exception means that it is lost."""
        message = decode(batch)
        samples = message.get("samples", [])
        needed = {sample.get("task") for sample in samples}
        tasks = {name: one for name, one in self._setup["tasks"].items() if name in needed}
        body = {**self._setup, **message, "tasks": tasks}
        limit = time.monotonic() + _BUSY_S
        while True:
            try:
                answer = server.ask("POST", "/v1/evaluate", body)
            except BackendUnavailableError:
                raise
            except ConfigurationError as error:
                # Of the samples, not of the server: it would be the same elsewhere.
                return encode({"error": error.to_dict()})
            except SandboxError as error:
                if error.code is not ErrorCode.POOL_EXHAUSTED or time.monotonic() > limit:
                    raise
                time.sleep(_BUSY_PAUSE_S)
                continue
            return encode(_in_order(answer, samples))


def _in_order(answer: dict[str, Any], samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return an answer with the results in the order of samples, not of their ends."""
    found = {result["id"]: result for result in answer.get("results", ())}
    return {**answer, "results": [found[one["id"]] for one in samples if one["id"] in found]}


class _HostName:
    """Name of a host each of whose addresses is a server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname or not parts.port or parts.path.strip("/"):
            raise ValidationError(
                f"invalid server: expected an address like dns://host:8000, got {url!r:.80}",
                parameter="servers",
            )
        self._host, self._port = parts.hostname, parts.port
        self._next = 0.0
        self.known: dict[str, _Server] = {}
        """Servers that it has had, by their addresses."""
        self.servers: list[_Server] = []
        """Those that it has now."""

    def forget(self) -> None:
        """Forget the servers, so that the name is looked up anew."""
        self._next = 0.0
        self.known, self.servers = {}, []

    def resolve(self) -> list[str] | None:
        """Return the addresses of the servers; None when they are not known now."""
        if time.monotonic() < self._next:
            return None
        self._next = time.monotonic() + _RESOLVE_S
        with contextlib.suppress(OSError):
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            return list(dict.fromkeys(map(_url, (address for *_, address in found))))
        return None


def _url(address: Sequence[Any]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server:
    """Server, and the lane to it while it answers."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        self.lane: Lane | None = None
        self.pause_s = 0.0
        self.next_try = 0.0
        self._opened = 0

    @property
    def name(self) -> str:
        """Its address; with a number when it was lost before, as it is tested again."""
        again = f" ({self._opened})" if self._opened > 1 else ""
        return self.connection.url + again

    @property
    def is_open(self) -> bool:
        """True while it answers, as far as is known."""
        return self.lane is not None and self.lane.is_open

    def open(self, ask: Any) -> None:
        """Take batches to it from now on."""
        self._opened += 1
        self.pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, 2 * self.pause_s))
        self.next_try = time.monotonic() + self.pause_s
        self.lane = Lane(self.name, lambda batch: bytes(ask(self.connection, batch)))

    def close(self) -> None:
        """Take no more batches to it."""
        if self.lane is not None:
            self.lane.close()
