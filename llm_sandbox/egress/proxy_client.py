"""Connection of a program to the proxy of its sandbox: its request, its answer and its flow."""

import contextlib
import socket
import time
from typing import Any, Protocol

from llm_sandbox.egress.flow import Flow, FlowContext
from llm_sandbox.egress.forwarded_request import ForwardedRequest
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.loop import EVENTS_BOTH, FAILED
from llm_sandbox.egress.proxy_request import ProxyRequest, read_destination
from llm_sandbox.network import NetworkEvent

__all__ = ["ProxyClient", "ProxyContext", "ProxyFlow"]

_REQUEST_S = 60.0
_CHUNK = 1 << 16
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_STATUS = {
    "not_resolved": "502 Bad Gateway",
    "not_reached": "502 Bad Gateway",
    "proxy_malformed": "400 Bad Request",
    "too_many": "503 Service Unavailable",
}


class ProxyContext(FlowContext, Protocol):
    """The parts of a gate that programs of its proxy use."""

    def objection(self, request: ProxyRequest) -> str | None:
        """Return the reason why a request is refused; None if it is allowed."""

    def begin(self, flow: "ProxyFlow") -> None:
        """Take over the connection of a request that is allowed."""

    def left(self, number: int) -> None:
        """Forget a connection that has been closed."""

    def mark_failed(self, number: int) -> None:
        """Have a program get an error when its connection is closed next."""


def _answer(record: dict[str, Any]) -> bytes:
    """Return the response to a program whose attempt was recorded."""
    event = NetworkEvent.from_dict(record)
    text = f"llm-sandbox: {event.hint}\n".encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {_STATUS.get(event.reason, '403 Forbidden')}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    )
    return head.encode("ascii") + text


def _send_last(sock: socket.socket, data: bytes) -> None:
    """Send a response into an empty buffer that has room for it."""
    with contextlib.suppress(OSError):  # the program is gone
        sock.send(data)


class ProxyClient:
    """Connection of a program until its request is whole.

    Args:
        gate: The gate.
        number: Number of the connection.
        sock: The connection; owned from now on.
    """

    def __init__(self, gate: ProxyContext, number: int, sock: socket.socket) -> None:
        self._gate = gate
        self._number = number
        self._sock = sock
        self._buffer = bytearray()
        self._began = time.monotonic()
        self._is_closed = False
        sock.setblocking(False)
        gate.loop.watch(sock.fileno(), EVENTS_BOTH, self._ready)

    def _ready(self, events: int) -> None:
        while not self._is_closed:
            try:
                data = self._sock.recv(_CHUNK)
            except BlockingIOError:
                if events & FAILED:
                    self.close()
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                return
            self._buffer += data
            try:
                request = read_destination(self._buffer)
            except Refusal as refusal:
                self._refuse("http", refusal.reason, detail=refusal.detail)
                return
            if request is not None:
                self._take(request)

    def _take(self, request: ProxyRequest) -> None:
        reason = self._gate.objection(request)
        if reason is not None:
            shown = None if request.name is not None else request.address
            self._refuse("tcp", reason, name=request.name, address=shown, port=request.port)
            return
        self._leave()
        given = bytes(self._buffer)
        self._gate.begin(ProxyFlow(self._gate, self._number, self._sock, request, given))

    def _refuse(self, protocol: str, reason: str, **more: Any) -> None:
        record = self._gate.event_log.add(protocol, reason, **more)
        _send_last(self._sock, _answer(record))
        self.close()

    def sweep(self, now: float) -> None:
        """Close a connection whose request takes too long."""
        if now - self._began > _REQUEST_S:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        if not self._is_closed:
            self._leave()
            self._sock.close()
            self._gate.left(self._number)

    def _leave(self) -> None:
        self._is_closed = True
        self._gate.loop.forget(self._sock.fileno())


class ProxyFlow(Flow):
    """Relay of a connection to the proxy; see `Flow`.

    A tunnel is a connection as any other once it is made. Until then what goes wrong is said in a
    response.

    Args:
        gate: The gate of the connection.
        number: Number of the connection.
        client: The connection from inside.
        request: The request.
        given: Bytes of the program after the request's head.
    """

    def __init__(
        self,
        gate: ProxyContext,
        number: int,
        client: socket.socket,
        request: ProxyRequest,
        given: bytes,
    ) -> None:
        self.number = number
        self._proxy = gate
        self._request = request
        super().__init__(gate, client, request.name, request.address, request.port, given)

    def _begin(self, server: socket.socket) -> None:
        head = self._request.head
        if head is None:
            _send_last(self._client, _ESTABLISHED)
            super()._begin(server)
            return
        interception = self._gate.interception
        if interception is not None:
            try:
                interception.check_plain(head.render(), self.name, ended=True)
            except Refusal as refusal:
                self._note(refusal)
                _send_last(self._client, refusal.answer())
                self.close(reset_peers=False)
                return
        self._directions = (
            ForwardedRequest(
                self._client,
                server,
                head,
                name=self.name or str(self.address),
                port=self.port,
                given=self._given,
                note=self._note,
            ),
        )
        self._gate.opened(self)
        self._relay()

    def _end_with(self, record: dict[str, Any]) -> None:
        if self._directions is not None:
            self.close()
            return
        _send_last(self._client, _answer(record))
        self.close(reset_peers=False)

    def close(self, *, reset_peers: bool = True) -> None:
        """See `Flow`."""
        if self._closed:
            return
        if reset_peers:
            self._proxy.mark_failed(self.number)
        super().close(reset_peers=reset_peers)
        self._proxy.left(self.number)
