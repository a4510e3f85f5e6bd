"""The way to a port of a sandbox."""

from dataclasses import dataclass

from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError

__all__ = ["Tunnel"]


@dataclass(frozen=True)
class Tunnel:
    """Where a port of a sandbox is reached: on this machine's loopback address alone."""

    host: str
    """Address of this machine."""
    port: int
    """Port of this machine."""
    unencrypted_host: str = ""
    """As `host`, for a port that was asked for without encryption; else empty."""
    unencrypted_port: int = 0
    """As `port`; else 0."""

    @property
    def url(self) -> str:
        """Its address for HTTP. It begins with ``http:``: no certificate is there."""
        return f"http://{self.host}:{self.port}"

    @property
    def tcp_socket(self) -> tuple[str, int]:
        """Host and port, as `socket.create_connection` takes them.

        Raises:
            InvalidError: The port is not one of ``unencrypted_ports``.
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
            UnimplementedError: Always: nobody signs certificates for an address of this machine.
        """
        raise UnimplementedError(
            "Tunnel.tls_socket",
            None,
            "a tunnel ends on this machine's loopback, for which nobody signs certificates",
            hint="use tcp_socket or url: the bytes do not leave this machine",
        )
