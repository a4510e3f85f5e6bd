"""Stands between a client and its engine, and fails as an engine, or the way to it, can fail."""

import contextlib
import os
import re
import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path

_CHUNK = 1 << 16


class EngineProxy:
    """A socket of its own; what comes to it goes to the real engine, request by request.

    Attributes:
        address: What ``DOCKER_HOST`` would be.
        seen: First lines of the requests, in order.
    """

    def __init__(self, target):
        self._target = target
        # The path of a socket is short by nature.
        self.folder = Path(tempfile.mkdtemp(prefix="engine-proxy-"))
        self.path = self.folder / "s"
        self.address = f"unix://{self.path}"
        self.seen = []
        self._rules = []
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()
        self._live = set()
        self._listener = None
        self._closed = False
        self.restore()

    def answer(self, pattern, status, words):
        """Requests whose first line matches are answered here."""
        body = f'{{"message": "{words}"}}'.encode()
        head = f"HTTP/1.1 {status} Proxied\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self._rules.append((re.compile(pattern), "answer", head.encode() + body))

    def delay(self, pattern, seconds):
        """Requests whose first line matches reach the engine later."""
        self._rules.append((re.compile(pattern), "delay", seconds))

    def clear(self):
        """Forget all rules."""
        self._rules.clear()

    def freeze(self):
        """Nothing passes, in either direction, and nothing is refused."""
        self._open.clear()

    def thaw(self):
        """Everything passes again."""
        self._open.set()

    def cut(self):
        """As if the engine had been killed: every connection ends, and none can be made."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.path.unlink(missing_ok=True)
        with self._lock:
            live = list(self._live)
        for one in live:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def restore(self):
        """As if the engine had been started again."""
        if self._listener is not None:
            return
        self._listener = listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen(64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self):
        """End it, with every connection."""
        self._closed = True
        self.thaw()
        self.cut()
        deadline = time.monotonic() + 5
        while self._live and time.monotonic() < deadline:
            time.sleep(0.02)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        with self._lock:
            self._live |= {client, server}
        back = threading.Thread(target=self._pump, args=(server.recv, client), daemon=True)
        try:
            server.connect(self._target)
            back.start()
            with client.makefile("rb") as reader:
                while self._pass_request(reader, client, server):
                    pass
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_WR)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
        finally:
            if back.ident is not None:
                back.join()
            with self._lock:
                self._live -= {client, server}
            client.close()
            server.close()

    def _pass_request(self, reader, client, server):
        """Pass one request on; False when there is no other."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = reader.readline()
            if not line:
                return False
            head += line
        first = head.split(b"\r\n", 1)[0].decode()
        self.seen.append(first)
        for pattern, what, value in list(self._rules):
            if pattern.search(first):
                if what == "answer":
                    # What is left of the request would be taken for another.
                    client.sendall(value)
                    return False
                time.sleep(value)
        self._open.wait()
        server.sendall(head)
        if re.search(rb"(?i)\r\nupgrade:", head):
            self._pump(reader.read1, server)
            return False
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length:
            self._pass(reader, server, int(length[1]))
        elif re.search(rb"(?i)\r\ntransfer-encoding: *chunked", head):
            size = -1
            while size:
                line = reader.readline()
                size = int(line, 16)
                server.sendall(line)
                self._pass(reader, server, size + 2)
        return True

    def _pass(self, reader, server, size):
        while size:
            data = reader.read1(min(size, _CHUNK))
            if not data:
                raise OSError("the client has gone")
            server.sendall(data)
            size -= len(data)

    def _pump(self, receive, target):
        with contextlib.suppress(OSError):
            while data := receive(_CHUNK):
                self._open.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def socket_of(client):
    """The path of the socket that a docker-py client uses."""
    adapter = client.api.get_adapter("http+docker://x")
    return os.fspath(adapter.socket_path)
