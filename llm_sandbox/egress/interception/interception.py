"""Interception: TLS with the program, TLS with the host, and the HTTP proxy between."""

import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llm_sandbox.egress import client_hello
from llm_sandbox.egress.bindings import Bindings, HostBindings
from llm_sandbox.egress.interception.authority import Authority
from llm_sandbox.egress.interception.http_proxy import HttpProxy
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.interception.tls_endpoint import TlsEndpoint
from llm_sandbox.secrets.plan import Binding

__all__ = ["InterceptedConnection", "Interception"]

_FIRST_LINE = re.compile(rb"[A-Z]{1,16}(?: [!-~]*(?: (?:HTTP/?[0-9.]*)?)?)?\r?", re.ASCII)
_REQUEST = re.compile(rb"[A-Z]{1,16} [!-~]+ HTTP/[0-9.]+\r?\n", re.ASCII)
_LARGEST_HEAD = 32 << 10
_CHUNK = 1 << 16
_ROUNDS = 16
_HANDSHAKE_S = 30.0
_LINGER_S = 5.0
_MOST_DISCARDED = 4 << 20


class Interception:
    """Interception of one sandbox: its bindings, its authority and its TLS context.

    Args:
        bindings: Fields of each `Binding`.
        trusted: Certificates of the authorities that may sign for hosts, as PEM.
    """

    def __init__(self, bindings: Iterable[Mapping[str, Any]], trusted: str) -> None:
        self.bindings = Bindings(
            [
                Binding(
                    name=str(one["name"]),
                    hosts=tuple(one["hosts"]),
                    query=tuple(one["query"]),
                    placeholder=str(one["placeholder"]),
                    value=str(one["value"]),
                )
                for one in bindings
            ]
        )
        self.authority = Authority(self.bindings.names())
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        """TLS context of connections to hosts."""
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.load_verify_locations(cadata=trusted)

    def connection(
        self,
        client: socket.socket,
        server: socket.socket,
        name: str | None,
        port: int,
        given: bytes = b"",
    ) -> "InterceptedConnection | None":
        """Return the interception of a connection; None if no secret is bound to its host.

        Args:
            client: As for `InterceptedConnection`.
            server: As there.
            name: The destination's name; None for an address.
            port: The destination's port.
            given: As there.
        """
        bound = self.bindings.bound(name, port)
        if bound is None or name is None:
            return None
        return InterceptedConnection(self, client, server, name, port, bound, given)

    def check_plain(self, data: bytes, name: str | None, *, ended: bool) -> bool:
        """Check the first bytes of a connection that is not intercepted.

        Args:
            data: The bytes that the program has sent.
            name: The destination's name; None for an address.
            ended: Whether no more bytes follow.

        Returns:
            Whether the connection may go on; False to be called again with more bytes.

        Raises:
            Refusal: It is HTTP, and would send a placeholder to a host without that secret.
        """
        # trust: comes from inside. A miss sends out a placeholder, which is worth nothing there.
        if _REQUEST.match(data) is None:
            begins = b"\n" not in data and _FIRST_LINE.fullmatch(data) is not None
            return ended or not begins or len(data) >= _LARGEST_HEAD
        if self.bindings.names_host(name):
            raise Refusal("secret_in_clear")
        head, end, _ = data.replace(b"\r\n", b"\n").partition(b"\n\n")
        found = self.bindings.sent(head.decode("latin-1"))
        if found is not None:
            raise Refusal("secret_elsewhere", found)
        return bool(end) or ended or len(data) >= _LARGEST_HEAD


class InterceptedConnection:
    """Relay of one intercepted connection, in stages.

    Args:
        interception: The interception of the sandbox.
        client: The program's socket.
        server: The host's socket.
        name: The host.
        port: The host's port.
        bound: The secrets that are bound to the host.
        given: Bytes that were read from the program's socket before.
    """

    def __init__(
        self,
        interception: "Interception",
        client: socket.socket,
        server: socket.socket,
        name: str,
        port: int,
        bound: HostBindings,
        given: bytes = b"",
    ) -> None:
        self.done = False
        self.patience: float | None = _HANDSHAKE_S
        """Seconds without progress until it is closed; None for the default of connections."""
        self.totals = [0, 0]
        self.strict = False
        """Whether the program has to request the name, and no encrypted one besides."""
        self.note: Callable[[Refusal], None] = lambda refusal: None
        """Called with refusals that the program receives as a response."""
        self._interception = interception
        self._client_socket = client
        self._name = name
        self._given = given
        self._hello = b""
        self._client: TlsEndpoint | None = None
        self._server = TlsEndpoint(server, interception.context, name)
        self._http = HttpProxy(name, port, bound, interception.bindings)
        self._stage: Callable[[], bool] = self._read_hello
        self._discarded = 0

    def pump(self) -> bool:
        """Relay as much as is possible without waiting.

        Returns:
            Whether more may be possible at once.

        Raises:
            Refusal: The connection is refused.
            OSError: One of the sockets has failed.
        """
        return all(not self.done and self._stage() for _ in range(_ROUNDS))

    # --- handshakes

    def _read_hello(self) -> bool:
        data, self._given = self._given, b""
        try:
            data = data or self._client_socket.recv(_CHUNK)
        except BlockingIOError:
            return False
        self._hello += data
        hello = client_hello.examine(self._hello)
        if hello == "more" and data:
            return True
        if not isinstance(hello, client_hello.Hello):
            if not self._hello:
                raise ConnectionResetError  # it was closed without a byte
            raise Refusal("secret_in_clear" if hello == "other" else "tls_malformed")
        reason = client_hello.objection(hello, self._name, strict=self.strict)
        if reason is not None:
            raise Refusal(reason, hello.name or "", protocol="tls")
        self._stage = self._verify_host
        return True

    def _verify_host(self) -> bool:
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
        self._stage = self._accept_client
        return True

    def _accept_client(self) -> bool:
        assert self._client is not None  # noqa: S101 - by the stage before
        try:
            if not self._client.shake_hands():
                return False
        except ssl.SSLError as error:
            raise _certificate_rejected(error) from None
        self.patience = None
        self._stage = self._relay
        return True

    # --- relaying

    def _relay(self) -> bool:
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
            # The host may have responded before it closed the connection.
            self._server.flush()
        all_sent = client.flush()
        if http.over and all_sent:
            client.send_close()
            self.patience = _LINGER_S
            self._stage = self._linger
            return True
        return moved

    def _take_from_client(self, client: TlsEndpoint) -> bool:
        try:
            data = client.read()
        except ssl.SSLError as error:
            if self._http.requests == 0:
                raise _certificate_rejected(error) from None
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

    # --- closing

    def _linger(self) -> bool:
        """Wait until the program closes: it may still be reading the response."""
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
        """Do nothing: the owner closes the sockets."""


def _certificate_rejected(error: ssl.SSLError) -> Refusal:
    """Return the refusal for a program that rejects the authority's certificate."""
    detail = str(error.reason or "ended the handshake")
    return Refusal("authority_refused", detail, protocol="tls", verdict="failed")
