"""Network namespaces that stand for a sandbox, its host and the internet: no packet leaves them."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from llm_sandbox.guest import linux

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
_HOLDER = (
    "import sys; sys.path.insert(0, sys.argv[1]); from guest import linux; "
    "linux.unshare(linux.CLONE_NEWNET); linux.loopback_up(); print('ready', flush=True); "
    "sys.stdin.read()"
)
_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 20, 24
_REQUEST, _ACK, _CREATE = 0x1, 0x4, 0x400


class Namespace:
    """A network namespace with loopback, kept by a process that does nothing."""

    def __init__(self) -> None:
        self.holder = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _HOLDER, str(ROOT / "llm_sandbox")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.holder.stdout is not None
        assert self.holder.stdout.readline() == b"ready\n"
        self.fd = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def call(self, function: Callable[[], T]) -> T:
        """Call it in a thread that is in here: sockets and processes made there are of here."""
        result: list[T] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                linux.setns(self.fd, linux.CLONE_NEWNET)
                result.append(function())
            except BaseException as error:  # noqa: BLE001 - raised again by who called
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return result[0]

    def run(self, program: str, *arguments: object) -> Any:
        """Run Python in here; returns the JSON that it prints."""
        words = [sys.executable, "-I", "-S", "-c", program, *map(str, arguments)]
        done = self.call(
            lambda: subprocess.run(words, capture_output=True, text=True, timeout=60, cwd="/")
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    def close(self) -> None:
        """Give it up."""
        os.close(self.fd)
        self.holder.communicate()


def connect(near: Namespace, far: Namespace) -> None:
    """Make a cable between two: ``near`` reaches everything that is not its own over it."""
    body = _attribute(3, b"near\0") + _attribute(
        18 | 0x8000,
        _attribute(1, b"veth")
        + _attribute(
            2 | 0x8000,
            _attribute(1 | 0x8000, bytes(16) + _attribute(3, b"far\0") + _number(28, far.fd)),
        ),
    )
    near.call(lambda: _talk(_NEW_LINK, bytes(16) + body))
    for namespace, name in ((near, "near"), (far, "far")):
        namespace.call(lambda name=name: _up(name))  # type: ignore[misc]


def add_address(namespace: Namespace, interface: str, address: str) -> None:
    """Give a namespace an address."""
    parsed = ipaddress.ip_address(address)
    family = socket.AF_INET if parsed.version == 4 else socket.AF_INET6

    def add() -> None:
        index = socket.if_nametoindex(interface)
        no_duplicate_detection = 2
        header = struct.pack(
            "=BBBBI", family, parsed.max_prefixlen, no_duplicate_detection, 0, index
        )
        values = _attribute(1, parsed.packed) + _attribute(2, parsed.packed)
        _talk(_NEW_ADDRESS, header + values)

    namespace.call(add)


def add_default_route(namespace: Namespace, interface: str, family: int) -> None:
    """Have everything go over an interface."""

    def add() -> None:
        header = struct.pack("=BBBBBBBBI", family, 0, 0, 0, 254, 4, 253, 1, 0)
        _talk(_NEW_ROUTE, header + _number(4, socket.if_nametoindex(interface)))

    namespace.call(add)


def _up(name: str) -> None:
    up = 1
    header = struct.pack("=BBHiII", 0, 0, 0, socket.if_nametoindex(name), up, up)
    _talk(_NEW_LINK, header)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack("=I", value))


def _talk(kind: int, body: bytes) -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as line:
        line.send(
            struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | _ACK | _CREATE, 1, 0) + body
        )
        code = -struct.unpack_from("=i", line.recv(65536), 16)[0]
        if code:
            raise OSError(code, os.strerror(code))


class Upstream:
    """Servers in a namespace: each connection gets one line about itself, and then its echo."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._sockets: list[socket.socket] = []
        self.questions: list[str] = []
        self.answers: dict[str, list[str]] = {}
        """Name to the addresses that it has, taken off one by one until the last."""
        self.datagrams: list[bytes] = []

    def serve(self, address: str, port: int, handle: Callable[[socket.socket], None]) -> int:
        """Handle each connection in a thread; returns the port."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = self._namespace.call(
            lambda: socket.create_server((address, port), family=family, backlog=64)
        )
        self._sockets.append(listener)

        def accept() -> None:
            while True:
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=_handled, args=(sock, handle), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return int(listener.getsockname()[1])

    def serve_names(self, address: str) -> str:
        """Answer DNS questions from `answers`, and keep them; returns the server's place."""
        sock = self._receiver(address, 0)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    data, peer = sock.recvfrom(4096)
                    if peer is None:  # shut down
                        return
                    answer = self._answer(data)
                    if answer:
                        sock.sendto(answer, peer)

        threading.Thread(target=serve, daemon=True).start()
        host, port = sock.getsockname()
        return f"{host}:{port}"

    def serve_datagrams(self, address: str, port: int) -> None:
        """Keep what comes, and send it back."""
        sock = self._receiver(address, port)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    data, peer = sock.recvfrom(4096)
                    if peer is None:  # shut down
                        return
                    self.datagrams.append(data)
                    sock.sendto(data, peer)

        threading.Thread(target=serve, daemon=True).start()

    def _receiver(self, address: str, port: int) -> socket.socket:
        sock = self._namespace.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sock.bind((address, port))
        self._sockets.append(sock)
        return sock

    def _answer(self, data: bytes) -> bytes:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        question, kind = data[12 : at + 5], struct.unpack_from(">H", data, at + 1)[0]
        name = ".".join(labels)
        self.questions.append(name)
        known = self.answers.get(name)
        found = []
        if known and kind == (28 if ":" in known[0] else 1):
            packed = ipaddress.ip_address(known[0]).packed
            found = [struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(packed)) + packed]
            if len(known) > 1:
                known.pop(0)
        code = 0x8180 if known else 0x8183
        header = data[:2] + struct.pack(">HHHHH", code, 1, len(found), 0, 0)
        return header + question + b"".join(found)

    def close(self) -> None:
        """End every server."""
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()


def _handled(sock: socket.socket, handle: Callable[[socket.socket], None]) -> None:
    with sock, contextlib.suppress(OSError):
        handle(sock)


def greet_and_echo(sock: socket.socket) -> None:
    """Say which address was reached; then send back what comes."""
    sock.sendall(f"reached {sock.getsockname()[0]}\n".encode())
    while data := sock.recv(65536):
        sock.sendall(data)
