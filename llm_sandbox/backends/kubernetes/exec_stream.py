"""Program executed in a pod, with its standard streams over a websocket."""

import contextlib
import json
import select
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode, urlsplit

from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from websockets.client import ClientProtocol

__all__ = ["ExecStream", "Log"]


class Log(Protocol):
    """Writer of bytes for people, such as a file."""

    def write(self, data: bytes, /) -> object:
        """Take bytes."""

    def flush(self) -> object:
        """Pass them on."""


_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
"""Both carry one channel for each stream; the first can also close one of them."""
_STDIN, _STDOUT, _STDERR, _STATUS = range(4)
_CONNECT_S = 10.0
_CHUNK = 1 << 16
_MOST_AT_ONCE = 1 << 20
_MOST_STATUS = 64 << 10


class ExecStream:
    """Running program of a pod, as a connection of `guest.resumable`; or any other program.

    Args:
        cluster: The cluster.
        namespace: Namespace of the pod.
        pod: Name of the pod.
        container: Name of its container.
        command: Command line of the program.
        log: Receives its standard error; None to drop it.

    Raises:
        ApiError: The server, or the kubelet, refused; its words say why.
        OSError: The server cannot be reached.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        pod: str,
        container: str,
        command: "Sequence[str]",
        log: Log | None = None,
    ) -> None:
        parameters = [("container", container), *(("command", word) for word in command)]
        parameters += [("stdin", "true"), ("stdout", "true"), ("stderr", "true")]
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec?{urlencode(parameters)}"
        self._cluster = cluster
        self._log = log
        self._queue = bytearray()
        self._status = bytearray()
        self._ended = False
        self._socket = _connect(cluster)
        try:
            self._protocol = self._open(path)
        except BaseException:
            self._socket.close()
            raise

    def _open(self, path: str) -> "ClientProtocol":
        from websockets.client import ClientProtocol
        from websockets.typing import Subprotocol
        from websockets.uri import parse_uri

        address = self._cluster.address.replace("http", "ws", 1) + path
        protocol = ClientProtocol(
            parse_uri(address),
            subprotocols=[Subprotocol(name) for name in _PROTOCOLS],
            max_size=_MOST_AT_ONCE,
        )
        request = protocol.connect()
        for name, value in self._cluster.headers().items():
            request.headers[name] = value
        protocol.send_request(request)
        self._protocol = protocol
        self._fetch()
        deadline = time.monotonic() + _CONNECT_S
        while protocol.handshake_exc is None and protocol.state.name == "CONNECTING":
            self.flush()
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("the API server does not answer")
            writes = [self._socket] if self._queue else []
            if select.select([self._socket], writes, [], left)[0]:
                self._read_once()
        if protocol.handshake_exc is not None:
            self._refuse(protocol.handshake_exc)
        return protocol

    def _refuse(self, error: Exception) -> None:
        """Raise the error for a handshake that was not accepted."""
        response = getattr(error, "response", None)
        if response is None:
            raise ConnectionError(str(error))
        raise self._cluster.refusal(
            "exec in the pod", int(response.status_code), bytes(response.body or b"")
        )

    def fileno(self) -> int:
        """See `guest.resumable.Connection`."""
        return self._socket.fileno()

    def receive(self) -> bytes | None:
        """See `guest.resumable.Connection`: what the program writes to its standard output.

        Raises:
            ApiError: The program could not be started.
        """
        found = bytearray()
        while not self._ended:
            got = self._read_once()
            found += self._take()
            self.flush()
            # What TLS has decrypted is not seen by `select`.
            is_buffered = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()
            if not got or (len(found) >= _MOST_AT_ONCE and not is_buffered):
                break
        if not found and self._ended:
            self._check_status()
            return None
        return bytes(found)

    def send(self, data: bytes) -> None:
        """See `guest.resumable.Connection`: bytes for the program's standard input."""
        if self._protocol.state.name != "OPEN":
            raise ConnectionError("the connection to the pod has ended")
        self._protocol.send_binary(bytes([_STDIN]) + data)
        self._fetch()
        self.flush()

    def flush(self) -> None:
        """See `guest.resumable.Connection`."""
        while self._queue:
            try:
                sent = self._socket.send(self._queue[:_CHUNK])
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return
            del self._queue[:sent]

    @property
    def waiting(self) -> int:
        """See `guest.resumable.Connection`."""
        return len(self._queue)

    def close(self) -> None:
        """End the connection; the program sees the end of its input."""
        with contextlib.suppress(OSError):
            if self._protocol.state.name == "OPEN":
                self._protocol.send_close()
                self._fetch()
            self.flush()
        self._socket.close()

    def _fetch(self) -> None:
        for data in self._protocol.data_to_send():
            self._queue += data

    def _read_once(self) -> bool:
        """Read what has arrived; return whether there may be more."""
        try:
            data = self._socket.recv(_CHUNK)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            data = b""
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
            self._ended = True
        self._fetch()
        return bool(data)

    def _take(self) -> bytes:
        """Return the output among the messages that have arrived."""
        found = bytearray()
        # trust: what the program writes is hostile; its channel is the server's word.
        for event in self._protocol.events_received():
            data = getattr(event, "data", b"")
            opcode = getattr(event, "opcode", None)
            if opcode is not None and (opcode.name == "CLOSE" or not getattr(event, "fin", True)):
                # No server sends a message in pieces, of which only the first names its channel.
                self._ended = True
            elif opcode is None or opcode.name != "BINARY" or not data:
                continue
            elif data[0] == _STDOUT:
                found += memoryview(data)[1:]
            elif data[0] == _STDERR and self._log is not None:
                with contextlib.suppress(ValueError):  # the log is closed
                    self._log.write(data[1:])
                    self._log.flush()
            elif data[0] == _STATUS and len(self._status) < _MOST_STATUS:
                self._status += data[1:]
                self._ended = True
        return bytes(found)

    def _check_status(self) -> None:
        status = self.status
        causes = status.get("details", {}).get("causes") or []
        is_exit = any(cause.get("reason") == "ExitCode" for cause in causes)
        if status.get("status") == "Failure" and not is_exit:
            code = int(status.get("code") or 500)
            raise ApiError("exec in the pod", code, str(status.get("message")))

    @property
    def status(self) -> dict[str, Any]:
        """End of the program, as the server's ``Status`` object; empty if that is not known."""
        try:
            found = json.loads(self._status)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def _connect(cluster: Cluster) -> socket.socket:
    parts = urlsplit(cluster.address)
    port = parts.port or (443 if cluster.tls is not None else 80)
    plain = socket.create_connection((parts.hostname or "", port), _CONNECT_S)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made: socket.socket = plain
        if cluster.tls is not None:
            made = cluster.tls.wrap_socket(plain, server_hostname=cluster.server_name)
        made.setblocking(False)
    except BaseException:
        plain.close()
        raise
    return made
