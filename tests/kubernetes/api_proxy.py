"""Proxy between our client and the API server of the cluster, for faults of the way between them.

It speaks HTTP to the client and TLS to the server, with the rights of the test's kubeconfig, and so
sees each request and each frame of a websocket.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from llm_sandbox.backends.kubernetes.cluster import Cluster

_HEAD_END = b"\r\n\r\n"
_CHUNK = 1 << 16


class ApiProxy:
    """Proxy, which passes everything on until it is told otherwise.

    Attributes:
        frames: Number of frames of websockets that were seen, of both directions together.
        cut_at: The connection of a websocket is cut instead of passing on the frame of that number.
        refuse: Returns the answer for a request line instead of the server's; None passes it on.
        is_away: Whether connections are refused, and those there are were cut.
        is_frozen: Whether nothing is passed on, while connections stay open.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._server = urlsplit(cluster.address)
        pairs = cluster.headers().items()
        self._credentials = "".join(f"{name}: {value}\r\n" for name, value in pairs).encode()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.frames = 0
        self.cut_at: int | None = None
        self.cuts = 0
        self.refuse: Callable[[str], bytes | None] = lambda line: None
        self.is_away = False
        self.is_frozen = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop, and cut everything."""
        # Wakes the thread, which `close` alone does not.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()

    def cut_all(self) -> None:
        """Cut all connections."""
        with self._lock:
            for line in self._open:
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(line, socket.SHUT_RDWR)

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """The server cannot be reached for as long as the block."""
        self.is_away = True
        self.cut_all()
        try:
            yield
        finally:
            self.is_away = False

    def kubeconfig(self, folder: Path, namespace: str) -> str:
        """Write a kubeconfig that leads to the proxy, and return its path."""
        cluster = {"name": "proxy", "cluster": {"server": self.address}}
        context = {"cluster": "proxy", "user": "nobody", "namespace": namespace}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [cluster],
            "users": [{"name": "nobody", "user": {}}],
            "contexts": [{"name": "proxy", "context": context}],
            "current-context": "proxy",
        }
        path = folder / "proxy.json"
        path.write_text(json.dumps(config))
        return str(path)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_away:
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server: ssl.SSLSocket | None = None
        try:
            head = b""
            while _HEAD_END not in head:
                data = client.recv(_CHUNK)
                if not data:
                    return
                head += data
            line = head.partition(b"\r\n")[0].decode()
            answer = self.refuse(line)
            if answer is not None:
                client.sendall(answer)
                return
            head = head.replace(b"\r\n", b"\r\n" + self._credentials, 1)
            is_websocket = b"upgrade: websocket" in head.lower()
            if not is_websocket:  # so that each request is seen
                head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
            server = self._connect()
            with self._lock:
                self._open |= {client, server}
            server.sendall(head)
            self._relay(client, server, by_frame=is_websocket)
        except OSError:
            pass
        finally:
            with self._lock:
                self._open -= {client} | ({server} if server is not None else set())
            client.close()
            if server is not None:
                server.close()

    def _connect(self) -> ssl.SSLSocket:
        plain = socket.create_connection((self._server.hostname, self._server.port))
        assert self._cluster.tls is not None
        # Two threads share the connection, one for each direction.
        return self._cluster.tls.wrap_socket(plain, server_hostname=self._cluster.server_name)

    def _relay(self, client: socket.socket, server: ssl.SSLSocket, *, by_frame: bool) -> None:
        """Relay in one thread, as two cannot share a TLS connection."""
        inbox = {client: b"", server: b""}
        # The answer to the handshake is no frame.
        passes_head = by_frame
        while True:
            ready = [server] if server.pending() else select.select([client, server], [], [])[0]
            for source in ready:
                target = client if source is server else server
                data = source.recv(_CHUNK)
                if not data:
                    return
                self._hold()
                if not by_frame:
                    target.sendall(data)
                    continue
                inbox[source] += data
                if source is server and passes_head:
                    if _HEAD_END not in inbox[source]:
                        continue
                    head, _, inbox[source] = inbox[source].partition(_HEAD_END)
                    target.sendall(head + _HEAD_END)
                    passes_head = False
                while (size := _frame_size(inbox[source])) is not None:
                    if self._is_cut():
                        return
                    target.sendall(inbox[source][:size])
                    inbox[source] = inbox[source][size:]

    def _is_cut(self) -> bool:
        with self._lock:
            self.frames += 1
            is_cut = self.frames == self.cut_at
            self.cuts += is_cut
        return is_cut

    def _hold(self) -> None:
        while self.is_frozen:
            time.sleep(0.05)


def _frame_size(data: bytes) -> int | None:
    """Return the size of the first frame of a websocket; None if it is not whole."""
    if len(data) < 2:
        return None
    size, start = data[1] & 127, 2
    if size > 125:
        width = 2 if size == 126 else 8
        size, start = int.from_bytes(data[2 : 2 + width]), 2 + width
    start += 4 if data[1] & 128 else 0
    return start + size if len(data) >= start + size else None


def answer(status: int, reason: str, message: str = "", headers: str = "") -> bytes:
    """Return an answer of a server, with a ``Status`` object."""
    body = json.dumps({"kind": "Status", "status": "Failure", "message": message}).encode()
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    return f"{head}{headers}Content-Type: application/json\r\n\r\n".encode() + body
