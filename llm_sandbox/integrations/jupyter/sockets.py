"""Sockets of a Jupyter kernel, bound on the host."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zmq
from jupyter_client.session import Session, utcnow

__all__ = ["KernelSockets", "Request"]

_LINGER_MS = 1000


@dataclass(frozen=True)
class Request:
    """Message of a front end."""

    identities: Sequence[bytes]
    """ZeroMQ identities of the sender."""
    message: Mapping[str, Any]
    """Header, parent header, metadata and content."""
    buffers: Sequence[bytes]
    """Binary buffers of the message."""
    socket: Any
    """Socket of the message and its reply."""

    @property
    def kind(self) -> str:
        """Message type."""
        return str(self.message["header"]["msg_type"])

    @property
    def header(self) -> Mapping[str, Any]:
        """Message header."""
        return dict(self.message["header"])

    @property
    def content(self) -> Mapping[str, Any]:
        """Message content."""
        return dict(self.message["content"])


class KernelSockets:
    """Kernel side of the connection to a front end; see Jupyter's messaging protocol.

    Args:
        connection: Content of the connection file.
    """

    def __init__(self, connection: Mapping[str, Any]) -> None:
        self._context = zmq.Context()
        key = connection["key"]
        self.session = Session(
            key=key if isinstance(key, bytes) else str(key).encode(),
            signature_scheme=connection.get("signature_scheme", "hmac-sha256"),
        )
        try:
            self.shell = self._bind(zmq.ROUTER, connection, "shell")
            self.control = self._bind(zmq.ROUTER, connection, "control")
            self.stdin = self._bind(zmq.ROUTER, connection, "stdin")
            self.iopub = self._bind(zmq.PUB, connection, "iopub")
            self.heartbeat = self._bind(zmq.REP, connection, "hb")
        except BaseException:
            self._context.destroy(0)
            raise

    def _bind(self, kind: int, connection: Mapping[str, Any], name: str) -> Any:
        socket = self._context.socket(kind)
        socket.linger = _LINGER_MS
        if kind == zmq.ROUTER:
            # A front end that connects anew under its old name takes the place of the old one.
            socket.router_handover = 1
        transport, ip = connection["transport"], connection["ip"]
        place = "-" if transport == "ipc" else ":"
        socket.bind(f"{transport}://{ip}{place}{connection[f'{name}_port']}")
        return socket

    def receive(self, socket: Any) -> Request | None:
        """Receive a message; None for an invalid message or signature."""
        parts = socket.recv_multipart()
        try:
            identities, signed = self.session.feed_identities(parts)
            self.session.deserialize(signed, content=False)
            header, parent, metadata, content = (json.loads(part) for part in signed[1:5])
        except (ValueError, TypeError, IndexError):
            return None
        message = {
            "header": header,
            "parent_header": parent,
            "metadata": metadata,
            "content": content,
        }
        return Request(identities, message, signed[5:], socket)

    def send(
        self,
        socket: Any,
        message: Mapping[str, Any],
        identities: Sequence[bytes] | bytes,
        buffers: Sequence[bytes | memoryview] = (),
    ) -> None:
        """Send a message unchanged."""
        # Not every kernel dates what it sends.
        header = {"date": utcnow(), **message["header"]}
        self.session.send(
            socket,
            header["msg_type"],
            message["content"],
            parent=message["parent_header"],
            ident=identities,
            buffers=list(buffers),
            header=header,
            metadata=message["metadata"],
        )

    def answer(self, request: Request, kind: str, content: Mapping[str, Any]) -> None:
        """Reply to a request."""
        self.session.send(
            request.socket,
            kind,
            dict(content),
            parent=dict(request.header),
            ident=list(request.identities),
        )

    def publish(self, kind: str, content: Mapping[str, Any], parent: Mapping[str, Any]) -> None:
        """Publish a message."""
        topic = f"kernel.{kind}".encode()
        self.session.send(self.iopub, kind, dict(content), parent=dict(parent), ident=topic)

    def close(self) -> None:
        """Close the sockets after pending messages are sent."""
        self._context.destroy(_LINGER_MS)
