"""Plain HTTP request of a program to the proxy: one request, its response, and the end."""

import socket
from collections.abc import Callable
from dataclasses import replace

from llm_sandbox.egress.bindings import Bindings, HostBindings
from llm_sandbox.egress.interception.http_messages import (
    ChunkedBody,
    RequestHead,
    ResponseHead,
    SizedBody,
)
from llm_sandbox.egress.interception.http_proxy import HttpProxy
from llm_sandbox.egress.interception.refusal import Refusal

__all__ = ["ForwardedRequest"]

_CHUNK = 1 << 16
_MOST_WAITING = 1 << 18
_ROUNDS = 16
_KEPT_FROM_RESPONSES = 200
_OF_ONE_HOP = frozenset({"connection", "keep-alive", "proxy-connection"})


class _OneRequest(HttpProxy):
    """Messages of one request whose head was read before.

    Args:
        head: The head that the host gets.
        name: The host.
        port: The host's port.
        given: Bytes of the program after the head.
    """

    def __init__(self, head: RequestHead, name: str, port: int, given: bytes) -> None:
        super().__init__(name, port, HostBindings([]), Bindings([]))
        self.to_server += head.render()
        self._request = head
        self._keeps_open = False
        if head.chunked:
            self._upload = ChunkedBody()
        elif head.length:
            self._upload = SizedBody(head.length)
        if self._upload is not None:
            self.receive_from_client(given)

    @property
    def wants_client(self) -> bool:
        # What follows a request would be for whichever host it names.
        return self._upload is not None and super().wants_client

    def _begin_response(self, head: ResponseHead, request: RequestHead) -> None:
        if head.status >= _KEPT_FROM_RESPONSES:
            fields = [field for field in head.fields if field[0].lower() not in _OF_ONE_HOP]
            head = replace(head, fields=(*fields, ("Connection", "close")))
        super()._begin_response(head, request)


class ForwardedRequest:
    """Relay of one request between a program and a host; see `flow.Exchange`.

    Args:
        client: The program's socket.
        server: The host's socket.
        head: The head that the host gets.
        name: The host.
        port: The host's port.
        given: Bytes of the program after the head.
        note: Called with refusals that the program receives as a response.
    """

    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        head: RequestHead,
        *,
        name: str,
        port: int,
        given: bytes,
        note: Callable[[Refusal], object],
    ) -> None:
        self.done = False
        self.patience: float | None = None
        self.totals = [0, 0]
        self._client = client
        self._server = server
        self._note = note
        self._has_server = True
        self._http = _OneRequest(head, name, port, given)

    def pump(self) -> bool:
        """See `Direction.pump`.

        Raises:
            Refusal: A message is invalid, and part of a response was passed on.
            OSError: One of the sockets has failed.
        """
        moved = True
        for _ in range(_ROUNDS):
            if self.done or not moved:
                return False
            moved = self._step()
        return True

    def close(self) -> None:
        """Do nothing: the owner closes the sockets."""

    def _step(self) -> bool:
        http = self._http
        moved = False
        try:
            if not http.over and http.wants_client and len(http.to_server) < _MOST_WAITING:
                moved |= self._receive_from_client()
            if not http.over and len(http.to_client) < _MOST_WAITING:
                moved |= self._receive_from_server()
        except Refusal as refusal:
            if http.answering:
                raise
            self._note(refusal)
            http.to_server.clear()
            http.to_client[:] = refusal.answer()
            http.over = True
        moved |= self._send_to_server()
        moved |= self._send(self._client, http.to_client, 1)
        if http.over and not http.to_client:
            self.done = True
        return moved

    def _receive_from_client(self) -> bool:
        try:
            data = self._client.recv(_CHUNK)
        except BlockingIOError:
            return False
        if data:
            # trust: framed by the head, and not read otherwise.
            self._http.receive_from_client(data)
        else:
            self._http.end_of_client()
        return True

    def _receive_from_server(self) -> bool:
        try:
            data = self._server.recv(_CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._http.receive_from_server(data)
        else:
            self._http.end_of_server(clean=True)
        return True

    def _send_to_server(self) -> bool:
        http = self._http
        try:
            return self._send(self._server, http.to_server, 0)
        except (BrokenPipeError, ConnectionResetError):
            # The host may have responded before it closed the connection.
            http.to_server.clear()
            return False

    def _send(self, sock: socket.socket, data: bytearray, direction: int) -> bool:
        if not data:
            return False
        try:
            sent = sock.send(data)
        except BlockingIOError:
            return False
        del data[:sent]
        self.totals[direction] += sent
        return True
