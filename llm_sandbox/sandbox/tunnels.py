"""Tunnels: ports of this computer that lead to ports of a sandbox.

A sandbox needs no network for it. The host listens on the loopback address; each accepted
connection is relayed to a connection inside the sandbox, to its own loopback. The sandbox cannot
open tunnels itself.
"""

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from llm_sandbox.backends.base import Machine
from llm_sandbox.exceptions import SandboxError, UnsupportedError, ValidationError
from llm_sandbox.guest.relay import Relay
from llm_sandbox.host.wake import Wake
from llm_sandbox.sandbox.tls_tunnel import Certificate, TlsCarrier, TlsPort, check_port

__all__ = ["Tunnel", "Tunnels", "check_ports"]

_HOST = "127.0.0.1"
_BACKLOG = 64
_MOST_CONNECTIONS = 128
_MOST_PORTS = 64
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Tunnel from a port of this computer to one of a sandbox."""

    host: str
    """Address of this computer: ``127.0.0.1``."""
    port: int
    """Port of this computer."""
    certificate: str | None = None
    """Certificate as PEM, which clients have to trust; None without TLS, which is for a
    `TlsPort`.
    """

    @property
    def url(self) -> str:
        """URL for HTTP, such as ``http://127.0.0.1:40123``; ``https:`` with TLS."""
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://{self.host}:{self.port}"

    @property
    def tcp_socket(self) -> tuple[str, int]:
        """Host and port, as `socket.create_connection` takes them."""
        return self.host, self.port

    @property
    def tls_socket(self) -> tuple[str, int]:
        """Host and port of a TLS endpoint.

        Raises:
            UnsupportedError: The tunnel has no TLS: clients trust no certificate for a loopback
                address unless configured to.
        """
        if self.certificate is not None:
            return self.host, self.port
        raise UnsupportedError(
            "tls_socket",
            reason="a tunnel ends on this machine's loopback, for which nobody signs certificates",
            hint="use tcp_socket or url, as the bytes do not leave this machine; or "
            "ports=(TlsPort(...),) and trust tunnel.certificate",
        )


def check_ports(ports: object, isolation_level: str, backend: str) -> tuple[int | TlsPort, ...]:
    """Return the validated ports to tunnel, without duplicates.

    Args:
        ports: Ports inside, as numbers or `TlsPort`.
        isolation_level: See `Isolation.level`.
        backend: Name for the error.

    Raises:
        ValidationError: A port is invalid, or given both with and without TLS, or there are more
            than 64.
        UnsupportedError: The sandbox shares the loopback of this computer.
    """
    if isinstance(ports, (str, bytes)) or not isinstance(ports, Iterable):
        raise ValidationError(
            "invalid ports: expected a sequence of port numbers",
            parameter="ports",
            hint="ports=(8000,)",
        )
    checked: tuple[Any, ...] = tuple(dict.fromkeys(ports))
    numbers = [one.port if isinstance(one, TlsPort) else check_port(one) for one in checked]
    if len(set(numbers)) < len(numbers):
        raise ValidationError(
            "invalid ports: a port is given both with TLS and without", parameter="ports"
        )
    if len(checked) > _MOST_PORTS:
        raise ValidationError(f"invalid ports: expected at most {_MOST_PORTS}", parameter="ports")
    if checked and isolation_level == "none":
        raise UnsupportedError(
            "ports=",
            backend,
            "its programs listen on this machine itself",
            hint=f"connect to {_HOST}:{numbers[0]}",
        )
    return checked


class Tunnels:
    """Tunnels of one sandbox.

    Args:
        machine: The sandbox's machine.
        ports: Ports inside, as `check_ports` returns them.

    Raises:
        MissingDependencyError: A tunnel needs TLS, and the package for it is not installed.
    """

    def __init__(self, machine: Machine, ports: Iterable[int | TlsPort]) -> None:
        ports = tuple(ports)
        encrypted = {one.port for one in ports if isinstance(one, TlsPort)}
        certificate = Certificate() if encrypted else None
        self._contexts = (
            {} if certificate is None else dict.fromkeys(encrypted, certificate.context)
        )
        self._carriers: set[TlsCarrier] = set()
        self._machine = machine
        self._lock = threading.Lock()
        self._open = 0
        self._accepted = 0
        self._closed = False
        self._selector = selectors.DefaultSelector()
        self._wake = Wake()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._listeners: dict[int, socket.socket] = {}
        try:
            for one in ports:
                port = one.port if isinstance(one, TlsPort) else one
                self._listeners[port] = listener = socket.create_server((_HOST, 0))
                listener.listen(_BACKLOG)
                listener.setblocking(False)
                self._selector.register(listener, selectors.EVENT_READ, port)
        except BaseException:
            self._release()
            raise
        self.by_port: Mapping[int, Tunnel] = MappingProxyType(
            {
                port: Tunnel(
                    _HOST,
                    listener.getsockname()[1],
                    certificate.pem if certificate is not None and port in encrypted else None,
                )
                for port, listener in self._listeners.items()
            }
        )
        """Tunnels by the port inside."""
        self._relay = Relay()
        self._threads = [
            threading.Thread(target=work, name="llm-sandbox-tunnels", daemon=True)
            for work in (self._accept, self._relay.run)
        ]
        for thread in self._threads:
            thread.start()
        machine.on_end(self.close)

    @property
    def open_connections(self) -> int:
        """Number of open connections."""
        with self._lock:
            return self._open

    @property
    def accepted(self) -> int:
        """Number of connections accepted so far."""
        with self._lock:
            return self._accepted

    def close(self) -> None:
        """Close every tunnel with its connections; may be called again."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._wake.set()
            carriers = set(self._carriers)
        for carrier in carriers:
            carrier.stop()
        self._relay.close()

    # --- in the accepting thread

    def _accept(self) -> None:
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.fileobj is self._wake:
                        if self._closed:
                            return
                        self._wake.clear()
                        self._listen(wanted=True)
                    else:
                        self._accept_one(key.data)
        finally:
            self._release()

    def _accept_one(self, port: int) -> None:
        try:
            near, _ = self._listeners[port].accept()
        except OSError:
            return  # whoever connected has left, or this process has no descriptor to spare
        with self._lock:
            self._open += 1
            self._accepted += 1
            full = self._open >= _MOST_CONNECTIONS
        if full:
            self._listen(wanted=False)
        threading.Thread(
            target=self._join, args=(near, port), name="llm-sandbox-tunnel", daemon=True
        ).start()

    def _listen(self, *, wanted: bool) -> None:
        for port, listener in self._listeners.items():
            with contextlib.suppress(KeyError):
                self._selector.unregister(listener)
            if wanted:
                self._selector.register(listener, selectors.EVENT_READ, port)

    def _join(self, near: socket.socket, port: int) -> None:
        try:
            far = self._machine.connect(port)
        except (OSError, SandboxError):
            # As if it had reached the port itself, where nothing listens.
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            near.close()
            self._ended()
            return
        for end in (near, far):
            if end.family in (socket.AF_INET, socket.AF_INET6):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = self._contexts.get(port)
        if context is None:
            self._relay.add(near, far, self._ended)
        else:
            self._carry_tls(TlsCarrier(near, far, context))

    def _carry_tls(self, carrier: TlsCarrier) -> None:
        with self._lock:
            self._carriers.add(carrier)
            closed = self._closed
        if closed:
            carrier.stop()
        carrier.run()
        with self._lock:
            self._carriers.discard(carrier)
        self._ended()

    def _ended(self) -> None:
        with self._lock:
            self._open -= 1
            if not self._closed and self._open == _MOST_CONNECTIONS - 1:
                self._wake.set()

    def _release(self) -> None:
        with self._lock:
            self._closed = True
            self._selector.close()
            for listener in self._listeners.values():
                listener.close()
            self._wake.close()
