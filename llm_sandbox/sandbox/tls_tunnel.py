"""Tunnels with TLS at their outer end, and a certificate for one sandbox."""

import contextlib
import select
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llm_sandbox.exceptions import MissingDependencyError, ValidationError

if TYPE_CHECKING:
    import ssl

__all__ = ["Certificate", "TlsCarrier", "TlsPort", "check_port"]

_LAST_PORT = 65535
_CHUNK = 1 << 16
_SHAKING_MS = 30_000


@dataclass(frozen=True)
class TlsPort:
    """Port inside that is reached over TLS; the server inside receives plain bytes.

    TLS ends at the tunnel, with a certificate for ``localhost`` and ``127.0.0.1`` that is made for
    this sandbox and signed by nobody else: `Tunnel.certificate` is what a client has to trust.

    Raises:
        ValidationError: The port is invalid.
    """

    port: int
    """Port inside, from 1 to 65535."""

    def __post_init__(self) -> None:
        check_port(self.port)


def check_port(port: object) -> int:
    """Return a validated port.

    Raises:
        ValidationError: The port is invalid.
    """
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port <= _LAST_PORT:
        raise ValidationError(
            f"invalid port: expected a number from 1 to {_LAST_PORT}, got {port!r}",
            parameter="ports",
        )
    return port


class Certificate:
    """Key and certificate for this computer's loopback, which live in this process.

    Raises:
        MissingDependencyError: The package that signs is not installed.
    """

    def __init__(self) -> None:
        try:
            from llm_sandbox.egress.interception.authority import sign_for_itself
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("cryptography"):
                raise
            raise MissingDependencyError(
                "a tunnel with TLS needs the package cryptography, which signs its certificate",
                extra="egress",
            ) from None
        self.context, self.pem = sign_for_itself("localhost", "127.0.0.1")
        """The TLS context of the server, and the certificate that clients have to trust."""


class TlsCarrier:
    """Relay between a TLS connection of a client and a plain socket.

    Args:
        near: Socket of the client; ownership is taken.
        far: Socket of the sandbox; ownership is taken.
        context: TLS context of the client's side.
    """

    def __init__(self, near: socket.socket, far: socket.socket, context: "ssl.SSLContext") -> None:
        from llm_sandbox.egress.interception.tls_endpoint import TlsEndpoint

        self._near, self._far = near, far
        near.setblocking(False)
        far.setblocking(False)
        self._tls = TlsEndpoint(near, context)
        self._to_far = memoryview(b"")
        self._near_reads = self._far_reads = True
        self._all_sent = True

    def run(self) -> None:
        """Relay until both ends have ended or one fails; close both."""
        try:
            with contextlib.suppress(OSError):  # which a failure of TLS is as well
                if self._shake_hands():
                    self._carry()
        finally:
            self._near.close()
            self._far.close()

    def stop(self) -> None:
        """Make `run` end, from any thread."""
        for end in (self._near, self._far):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _shake_hands(self) -> bool:
        waiting = select.poll()
        waiting.register(self._near, select.POLLIN)
        while not self._tls.shake_hands():
            if not waiting.poll(_SHAKING_MS):
                return False
        return True

    def _carry(self) -> None:
        while self._near_reads or self._far_reads or self._to_far or not self._all_sent:
            if not (self._inwards() | self._outwards()):
                self._wait()

    def _inwards(self) -> bool:
        """Relay the available bytes to the sandbox; return whether there were any."""
        moved = False
        if self._near_reads and not self._to_far:
            data = self._tls.read()
            if data is not None:
                moved = True
                self._to_far, self._near_reads = memoryview(data), bool(data)
                if not data:
                    self._far.shutdown(socket.SHUT_WR)
        if self._to_far:
            with contextlib.suppress(BlockingIOError):
                self._to_far = self._to_far[self._far.send(self._to_far) :]
                moved = True
        return moved

    def _outwards(self) -> bool:
        moved = False
        if self._far_reads and not self._tls.full:
            with contextlib.suppress(BlockingIOError):
                data = self._far.recv(_CHUNK)
                moved, self._far_reads = True, bool(data)
                if data:
                    self._tls.write(data)
                else:
                    self._tls.send_close()
        self._all_sent = self._tls.flush()
        if self._all_sent and not self._far_reads:
            with contextlib.suppress(OSError):  # done before, or the client has left
                self._near.shutdown(socket.SHUT_WR)
        return moved

    def _wait(self) -> None:
        waiting = select.poll()
        near = select.POLLIN if self._near_reads and not self._to_far else 0
        near |= 0 if self._all_sent else select.POLLOUT
        far = select.POLLIN if self._far_reads and not self._tls.full else 0
        far |= select.POLLOUT if self._to_far else 0
        for end, events in ((self._near, near), (self._far, far)):
            # A socket without events is left out: its hang-up would be reported again and again.
            if events:
                waiting.register(end, events)
        waiting.poll()
