"""Connection to a server: requests, event streams, websockets, and errors as they were raised."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ConfigurationError,
    ErrorCode,
    MissingDependencyError,
    SandboxError,
    TransportError,
    ValidationError,
)

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

__all__ = ["ServerConnection"]

_CONNECT_S = 30.0
_MOST_IDLE = 4
_ATTEMPTS = 4
_PAUSE_S = 0.2
_PROBES = ((15, "TCP_KEEPIDLE"), (15, "TCP_KEEPINTVL"), (4, "TCP_KEEPCNT"))


class ServerConnection:
    """Connection to a server. Safe to use from several threads; each request has a socket.

    A request whose answer is lost is repeated with the same key, so that it is carried out once.

    Args:
        url: Address of the server, ``https://host`` or ``http://host:8000``.
        token: API key; None where the server has none.

    Raises:
        ValidationError: The address or the key is invalid.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(str(url))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValidationError(
                f"invalid server: expected an address like https://host, got {url!r:.80}",
                parameter="server",
            )
        if token is not None and not str(token).isascii():
            raise ValidationError("invalid token: expected an API key", parameter="token")
        self.url = url.rstrip("/")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._token = token
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request."""
        known = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {"User-Agent": f"llm-sandbox/{VERSION}", **known}

    # --- requests

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON of an answer; None for an answer without one.

        Raises:
            SandboxError: The server's error, of the class that it has there.
            TransportError: The server did not answer.
        """
        headers = {} if method == "GET" else {"Idempotency-Key": uuid.uuid4().hex}
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                connection, answer = self._send(method, path, body, headers)
                data = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._give_up(error, attempt)
                continue
            self._keep(connection)
            if answer.status >= 400:
                raise self._error(answer.status, data)
            return json.loads(data) if data else None
        raise AssertionError  # the last attempt raises

    @contextlib.contextmanager
    def events(self, path: str, body: Mapping[str, Any]) -> Iterator[Iterator[tuple[str, Any]]]:
        """Yield the events of an answer, by name and facts; a stream that breaks is resumed."""
        stream = _Stream(self, path, body)
        try:
            yield iter(stream)
        finally:
            stream.close()

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request; one on an idle connection that has broken is sent on a new one."""
        data = None if body is None else json.dumps(body).encode()
        given = {**self.headers, **headers}
        if data is not None:
            given["Content-Type"] = "application/json"
        while True:
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            connection = idle or self._connect()
            try:
                connection.request(method, self._prefix + path, data, given)
                return connection, connection.getresponse()
            except (OSError, http.client.HTTPException):
                connection.close()
                if idle is None:
                    raise

    def _connect(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=_CONNECT_S, context=self._tls
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_CONNECT_S)
        connection.connect()
        sock = connection.sock
        # Code may run for hours: a server that is gone is noticed by the system's probes.
        sock.settimeout(None)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for value, name in _PROBES:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        return connection

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if connection.sock is not None and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _give_up(self, error: Exception, attempt: int) -> None:
        """Wait before the next attempt; after the last one raise."""
        if attempt == _ATTEMPTS or isinstance(error, ConnectionRefusedError | socket.gaierror):
            raise self.lost(error) from error
        time.sleep(_PAUSE_S * 2**attempt)

    def lost(self, error: Exception) -> SandboxError:
        """Return the error for a server that does not answer."""
        words = f"the server at {self.url} does not answer: {str(error) or type(error).__name__}"
        if isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError):
            return BackendUnavailableError(words, hint="llm-sandbox serve starts one")
        return TransportError(words)

    def _error(self, status: int, data: bytes) -> SandboxError:
        # trust: what the server says becomes an exception, and nothing else.
        try:
            problem = json.loads(data)
            known = problem["error"]
            if known is not None:
                return SandboxError.from_dict(known)
            words, hint = str(problem["detail"]), problem.get("hint")
        except (ValueError, KeyError, TypeError):
            return TransportError(
                f"{self.url} answered with status {status}, and is no llm-sandbox"
            )
        if status in (401, 403):
            return ConfigurationError(
                f"the server refuses the request: {words}", hint="token= takes an API key"
            )
        return SandboxError(words, code=ErrorCode.SANDBOX, hint=None if hint is None else str(hint))

    # --- websockets

    def websocket(self, path: str, subprotocol: str) -> "ClientConnection":
        """Open a websocket.

        Raises:
            MissingDependencyError: The package websockets is not installed.
            SandboxError: The server refuses it.
            TransportError: The server did not answer.
        """
        try:
            from websockets.exceptions import InvalidHandshake, InvalidStatus
            from websockets.sync.client import connect
            from websockets.typing import Subprotocol
        except ModuleNotFoundError as error:
            raise MissingDependencyError("websockets is not installed", extra="remote") from error
        try:
            return connect(
                "ws" + self.url.removeprefix("http") + path,
                ssl=self._tls,
                subprotocols=[Subprotocol(subprotocol)],
                additional_headers=self.headers,
                user_agent_header=None,
                compression=None,
                max_size=None,
                open_timeout=_CONNECT_S,
            )
        except InvalidStatus as error:
            answer = error.response
            raise self._error(answer.status_code, bytes(answer.body or b"")) from error
        except (OSError, TimeoutError, InvalidHandshake) as error:
            raise self.lost(error) from error

    def close(self) -> None:
        """Close idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class _Stream:
    """Events of one request."""

    def __init__(self, server: ServerConnection, path: str, body: Mapping[str, Any]) -> None:
        self._server = server
        self._path = path
        self._body = body
        self._headers = {"Accept": "text/event-stream", "Idempotency-Key": uuid.uuid4().hex}
        self._connection: http.client.HTTPConnection | None = None

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        attempt = 0
        while True:
            try:
                for name, data in self._read():
                    attempt = 0
                    yield name, data
                    if name in ("result", "error"):
                        return
                raise ConnectionError("the stream ended before its last event")
            except (OSError, http.client.HTTPException) as error:
                attempt += 1
                self.close()
                self._server._give_up(error, attempt)

    def _read(self) -> Iterator[tuple[str, Any]]:
        self._connection, answer = self._server._send("POST", self._path, self._body, self._headers)
        if answer.status >= 400:
            raise self._server._error(answer.status, answer.read())
        fields: dict[str, str] = {}
        for line in answer:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name and name != ":":
                fields[name] = value
            elif fields:
                if "id" in fields:
                    self._headers["Last-Event-ID"] = fields["id"]
                yield fields["event"], json.loads(fields["data"])
                fields = {}

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
