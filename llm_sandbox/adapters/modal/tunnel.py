"""Tunnels to ports of a sandbox."""

from dataclasses import dataclass

from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError
from llm_sandbox.sandbox.tunnels import Tunnel as MachineTunnel

__all__ = ["Tunnel", "tunnel_of"]


@dataclass(frozen=True)
class Tunnel:
    """Address of a port of a sandbox, on this machine's loopback interface."""

    host: str
    """Address of this machine."""
    port: int
    """Port of this machine."""
    unencrypted_host: str = ""
    """Address of this machine for an unencrypted port; otherwise empty."""
    unencrypted_port: int = 0
    """Port of this machine for an unencrypted port; otherwise 0."""
    certificate: str | None = None
    """Certificate that clients of an encrypted port must trust, as PEM; None for others."""

    @property
    def url(self) -> str:
        """URL of the tunnel; ``https:`` for an encrypted port."""
        scheme = "http" if self.certificate is None else "https"
        return f"{scheme}://{self.host}:{self.port}"

    @property
    def tcp_socket(self) -> tuple[str, int]:
        """Host and port, as for `socket.create_connection`.

        Raises:
            InvalidError: The port is not in ``unencrypted_ports``.
        """
        if not self.unencrypted_host:
            raise InvalidError(
                "the tunnel was not asked for without encryption",
                hint="Sandbox.create(unencrypted_ports=[...])",
            )
        return self.unencrypted_host, self.unencrypted_port

    @property
    def tls_socket(self) -> tuple[str, int]:
        """Host and port of a TLS endpoint.

        Raises:
            UnimplementedError: The port is not encrypted.
        """
        if self.certificate is not None:
            return self.host, self.port
        raise UnimplementedError(
            "Tunnel.tls_socket",
            None,
            "a tunnel ends on this machine's loopback, for which nobody signs certificates",
            hint="use tcp_socket or url, as the bytes do not leave this machine; or "
            "modal.configure(tls='self-signed') and encrypted_ports=[...]",
        )


def tunnel_of(tunnel: MachineTunnel) -> Tunnel:
    """Return a tunnel of the library as one of Modal's."""
    if tunnel.certificate is None:
        return Tunnel(tunnel.host, tunnel.port, tunnel.host, tunnel.port)
    return Tunnel(tunnel.host, tunnel.port, certificate=tunnel.certificate)
