"""Sockets of a Jupyter kernel, bound on the host."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import zmq
from jupyter_client.session import Session

from llm_sandbox.jupyter.relay import Request

__all__ = ["KernelSockets"]

_LINGER_MS = 1000


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
            self.named = {
                name: self._bind(zmq.ROUTER, connection, name)
                for name in ("shell", "control", "stdin")
            }
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

    def receive(self, channel: str) -> Request | None:
        """Receive a message of a channel; None for an invalid message or signature."""
        parts = self.named[channel].recv_multipart()
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
        return Request(identities, channel, message, signed[5:])

    def reply(
        self, request: Request, channel: str, message: dict[str, Any], buffers: Sequence[memoryview]
    ) -> None:
        """Send a message to the front end that a request came from; see `Outlet`."""
        self._send(self.named[channel], message, list(request.origin), buffers)

    def publish(self, message: dict[str, Any], buffers: Sequence[memoryview]) -> None:
        """Send a message to all front ends; see `Outlet`."""
        topic = f"kernel.{message['header']['msg_type']}".encode()
        self._send(self.iopub, message, topic, buffers)

    def _send(
        self,
        socket: Any,
        message: Mapping[str, Any],
        identities: Sequence[bytes] | bytes,
        buffers: Sequence[memoryview],
    ) -> None:
        self.session.send(
            socket,
            message["header"]["msg_type"],
            message["content"],
            parent=message["parent_header"],
            ident=identities,
            buffers=list(buffers),
            header=message["header"],
            metadata=message["metadata"],
        )

    def close(self) -> None:
        """Close the sockets after pending messages are sent."""
        self._context.destroy(_LINGER_MS)
