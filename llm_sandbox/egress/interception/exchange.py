"""One connection that is intercepted: TLS with the program, TLS with the host, and HTTP between."""

import contextlib
import socket
import ssl
from typing import TYPE_CHECKING

from llm_sandbox.egress import client_hello
from llm_sandbox.egress.bindings import HostBindings
from llm_sandbox.egress.interception.conversation import Conversation
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.interception.tls_endpoint import TlsEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.egress.interception.interception import Interception

__all__ = ["Exchange"]

_CHUNK = 1 << 16
_ROUNDS = 16
_SHAKING_S = 30.0
_PARTING_S = 5.0
_MOST_DISCARDED = 4 << 20


class Exchange:
    """Carries requests and answers until one side ends.

    Args:
        interception: What it has in common with others.
        client: The program's socket.
        server: The host's.
        name: The host.
        port: Its port.
        bound: The secrets that are bound to it.
    """

    def __init__(
        self,
        interception: "Interception",
        client: socket.socket,
        server: socket.socket,
        name: str,
        port: int,
        bound: HostBindings,
    ) -> None:
        self.done = False
        self.patience: float | None = _SHAKING_S
        """Seconds without anything after which it is given up; None for the usual ones."""
        self.totals = [0, 0]
        self.strict = False
        """Whether the program has to ask for the name, and for nothing encrypted besides."""
        self.note: Callable[[Refusal], None] = lambda refusal: None
        """Told of refusals that the program gets an answer for."""
        self._interception = interception
        self._client_socket = client
        self._name = name
        self._hello = b""
        self._client: TlsEndpoint | None = None
        self._server = TlsEndpoint(server, interception.context, name)
        self._http = Conversation(name, port, bound, interception.bindings)
        self._stage: Callable[[], bool] = self._read_hello
        self._discarded = 0

    def pump(self) -> bool:
        """Carry what can be carried now.

        Returns:
            Whether there may be more at once.

        Raises:
            Refusal: It does not go on.
            OSError: One of the sockets has failed.
        """
        return all(not self.done and self._stage() for _ in range(_ROUNDS))

    # --- before

    def _read_hello(self) -> bool:
        try:
            data = self._client_socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        self._hello += data
        hello = client_hello.examine(self._hello)
        if hello == "more" and data:
            return True
        if not isinstance(hello, client_hello.Hello):
            if not self._hello:
                raise ConnectionResetError  # it has changed its mind
            raise Refusal("secret_in_clear" if hello == "other" else "tls_malformed")
        reason = client_hello.objection(hello, self._name, strict=self.strict)
        if reason is not None:
            raise Refusal(reason, hello.name or "", protocol="tls")
        self._stage = self._prove_host
        return True

    def _prove_host(self) -> bool:
        try:
            if not self._server.shake_hands():
                return False
        except ssl.SSLCertVerificationError as error:
            raise Refusal("host_certificate", error.verify_message, protocol="tls") from None
        except ssl.SSLError as error:
            detail = str(error.reason or "no TLS")
            raise Refusal("host_tls", detail, protocol="tls", verdict="failed") from None
        self._client = TlsEndpoint(
            self._client_socket, self._interception.authority.context(self._name)
        )
        self._client.begin_with(self._hello)
        self._stage = self._meet_client
        return True

    def _meet_client(self) -> bool:
        assert self._client is not None  # noqa: S101 - by the stage before
        try:
            if not self._client.shake_hands():
                return False
        except ssl.SSLError as error:
            raise _not_believed(error) from None
        self.patience = None
        self._stage = self._carry
        return True

    # --- while

    def _carry(self) -> bool:
        client, http = self._client, self._http
        assert client is not None  # noqa: S101 - by the stage before
        moved = False
        try:
            if not self._server.full and http.wants_client and not http.over:
                moved |= self._take_from_client(client)
            if not client.full and not http.over:
                moved |= self._take_from_server()
        except Refusal as refusal:
            if http.answering:
                raise
            self.note(refusal)
            http.to_server.clear()
            http.to_client[:] = refusal.answer()
            http.over = True
        self.totals[0] += len(http.to_server)
        self.totals[1] += len(http.to_client)
        moved |= bool(http.to_server or http.to_client)
        self._server.write(bytes(http.to_server))
        client.write(bytes(http.to_client))
        http.to_server.clear()
        http.to_client.clear()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # It may have answered before it hung up.
            self._server.flush()
        all_sent = client.flush()
        if http.over and all_sent:
            client.say_end()
            self.patience = _PARTING_S
            self._stage = self._part
            return True
        return moved

    def _take_from_client(self, client: TlsEndpoint) -> bool:
        try:
            data = client.read()
        except ssl.SSLError as error:
            if self._http.requests == 0:
                raise _not_believed(error) from None
            raise ConnectionResetError from None
        if data is None:
            return False
        if data:
            self._http.receive_from_client(data)
            return True
        self._http.end_of_client()
        return self._http.over

    def _take_from_server(self) -> bool:
        try:
            data = self._server.read()
        except ssl.SSLError:
            data = b""
        if data is None:
            return False
        if data:
            self._http.receive_from_server(data)
        else:
            self._http.end_of_server(clean=self._server.clean)
        return True

    # --- after

    def _part(self) -> bool:
        """Wait for the program to hang up: it may be reading still what it was answered."""
        assert self._client is not None  # noqa: S101 - by the stage before
        if not self._client.flush():
            return False
        with contextlib.suppress(OSError):
            self._client_socket.shutdown(socket.SHUT_WR)
        try:
            data = self._client_socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        self._discarded += len(data)
        self.done = not data or self._discarded > _MOST_DISCARDED
        return True

    def close(self) -> None:
        """The sockets are their owner's."""


def _not_believed(error: ssl.SSLError) -> Refusal:
    """What is said of a program that ends the handshake."""
    detail = str(error.reason or "ended the handshake")
    return Refusal("authority_refused", detail, protocol="tls", verdict="failed")
