"""A model whose answers are written down, behind a loopback server with Anthropic's protocol."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 100, "output_tokens": 10}


@dataclass
class ScriptedClaude:
    """What it will answer, and what it was sent.

    Attributes:
        codes: What it calls the tool with, one call an answer; then it says `words`.
        requests: The bodies that offered it tools, in order.
    """

    codes: list[str]
    tool: str
    words: str = "Done."
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the whole answer to a request."""
        content: dict[str, Any] = {"type": "text", "text": self.words}
        reason = "end_turn"
        if any(tool["name"] == self.tool for tool in body.get("tools", ())):
            self.requests.append(body)
            done = len(self.results(body))
            if done < len(self.codes):
                reason = "tool_use"
                content = {
                    "type": "tool_use",
                    "id": f"toolu_{done}",
                    "name": self.tool,
                    "input": {"code": self.codes[done]},
                }
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [content],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": USAGE,
        }

    @staticmethod
    def results(body: dict[str, Any]) -> list[dict[str, Any]]:
        """The answers of tools among the messages of a request."""
        return [
            part
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] == "tool_result"
        ]


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (block,) = whole["content"]
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        given = json.dumps(block["input"])
        begun, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
    yield {"type": "content_block_start", "index": 0, "content_block": begun}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": USAGE}
    yield {"type": "message_stop"}


@contextlib.contextmanager
def serve(*codes: str, tool: str) -> Iterator[ScriptedClaude]:
    """Serve a model on loopback."""
    model = ScriptedClaude(list(codes), tool)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.partition("?")[0].endswith("/messages"):
                self.send_error(404)
                return
            whole = model.answer(body)
            self.send_response(200)
            if not body.get("stream"):
                data = json.dumps(whole).encode()
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in _events(whole):
                text = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
