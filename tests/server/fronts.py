"""Front ends of kernels, which speak Jupyter's protocol in Jupyter's own words."""

import contextlib
import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_server.services.kernels.connection import base as jupyter
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

V1 = Subprotocol("v1.kernel.websocket.jupyter.org")
PATIENCE_S = 60.0
Message = dict[str, Any]


class Front:
    """One client of a kernel."""

    def __init__(self, line: ClientConnection) -> None:
        self._line = line
        self._is_v1 = line.subprotocol == V1
        self.session = uuid.uuid4().hex

    def send(self, kind: str, content: Message, channel: str | None = "shell", **own: Any) -> str:
        """Send a message, and return its id."""
        name = uuid.uuid4().hex
        header = {"msg_id": name, "msg_type": kind, "session": self.session, "username": "t"}
        message: Message = {
            "header": {**header, "version": "5.3", "date": "2026-01-01T00:00:00Z"},
            "parent_header": {},
            "metadata": {},
            "content": content,
        }
        buffers = own.get("buffers", [])
        if self._is_v1:
            parts = [json.dumps(part).encode() for part in message.values()]
            data = jupyter.serialize_msg_to_ws_v1([*parts, *buffers], channel)
        elif buffers:
            whole = {**message, "channel": channel, "buffers": buffers}
            data = jupyter.serialize_binary_message(whole)
        else:
            data = json.dumps(message if channel is None else {**message, "channel": channel})
        self._line.send(data)
        return name

    def ask(self, code: str, **more: Any) -> str:
        """Ask for code to be run."""
        return self.send("execute_request", {"code": code, "silent": False, **more})

    def receive(self, timeout: float = PATIENCE_S) -> Message:
        """Return the next message."""
        data = self._line.recv(timeout)
        if isinstance(data, str):
            return dict(json.loads(data))
        if not self._is_v1:
            return dict(jupyter.deserialize_binary_message(data))
        channel, parts = jupyter.deserialize_msg_from_ws_v1(data)
        names = ("header", "parent_header", "metadata", "content")
        message = dict(zip(names, map(json.loads, parts[:4]), strict=True))
        kind = message["header"]["msg_type"]
        return {**message, "channel": channel, "msg_type": kind, "buffers": parts[4:]}

    def until(self, found: Callable[[Message], bool]) -> list[Message]:
        """Return all messages up to one, which is the last."""
        end = time.monotonic() + PATIENCE_S
        messages: list[Message] = []
        while True:
            messages.append(self.receive(end - time.monotonic()))
            if found(messages[-1]):
                return messages

    def answers(self, name: str) -> list[Message]:
        """Return everything that answers a message: to the reply and the end of its work."""
        seen = set()

        def is_last(message: Message) -> bool:
            if message["parent_header"].get("msg_id") == name:
                state = message["content"].get("execution_state")
                seen.add(state if message["msg_type"] == "status" else message["channel"])
            return {"idle"} <= seen and bool(seen & {"shell", "control"})

        return [one for one in self.until(is_last) if one["parent_header"].get("msg_id") == name]

    def run(self, code: str, **more: Any) -> list[Message]:
        """Run code, and return everything that answers it."""
        return self.answers(self.ask(code, **more))

    def is_busy(self, name: str) -> None:
        """Wait until a request is being worked on."""
        self.until(lambda one: one["parent_header"].get("msg_id") == name and state(one) == "busy")

    def closing(self) -> int:
        """Return the code with which the server closes."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                self._line.recv(PATIENCE_S)
        return self._line.close_code or 0


def state(message: Message) -> str:
    """The state that a message tells of; empty for others."""
    return str(message["content"].get("execution_state", ""))


def text(messages: list[Message]) -> str:
    """What was printed, and what a cell shows."""
    found = []
    for one in messages:
        content = one["content"]
        if one["msg_type"] == "stream":
            found.append(content["text"])
        elif "data" in content:
            found.append(content["data"].get("text/plain", ""))
        elif one["msg_type"] == "error":
            found.append(f"{content['ename']}: {content['evalue']}")
    return "".join(found)


@contextmanager
def front(
    port: int,
    kernel_id: str,
    *,
    prefix: str = "",
    query: str = "",
    headers: dict[str, str] | None = None,
    v1: bool = False,
    **more: Any,
) -> Iterator[Front]:
    """A client of a kernel, until the body ends."""
    url = f"ws://127.0.0.1:{port}{prefix}/api/kernels/{kernel_id}/channels{query}"
    offered = [V1] if v1 else None
    with connect(
        url, additional_headers=headers, subprotocols=offered, max_size=None, **more
    ) as line:
        yield Front(line)
