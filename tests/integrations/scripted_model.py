"""A model whose answers are written down, behind a loopback server that speaks OpenAI's protocols.

It checks what it is sent the way the real one does, as far as these tests touch it: each call has
to be answered once, images are data URLs, chat's tool messages hold text only.
"""

import contextlib
import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True)
class Say:
    """The model says something; the provider may cut it off there."""

    text: str
    is_cut: bool = False


@dataclass(frozen=True)
class Call:
    """The model calls the tool: with code as it is, or with a function's arguments; or another one
    that it has made up.
    """

    code: str
    arguments: str | None = None
    name: str | None = None


@dataclass
class ScriptedModel:
    """What it will answer, and what it was sent.

    Attributes:
        turns: The items of each answer.
        requests: The bodies that came, in order.
        problems: What was wrong with them.
    """

    turns: list[Sequence[Say | Call]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    url: str = ""
    delay_s: float = 0.0
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the whole answer to a request."""
        self.requests.append(body)
        turn = self.turns[min(len(self.requests), len(self.turns)) - 1]
        if path.endswith("/responses"):
            self._check_items(body["input"])
            return self._response(turn, body)
        self._check_messages(body["messages"])
        return self._completion(turn, body)

    # --- Responses

    def _response(self, turn: Sequence[Say | Call], body: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        tools = body.get("tools") or [{}]
        output = []
        for part in turn:
            key = next(self._ids)
            named = part.name if isinstance(part, Call) else None
            tool = next((tool for tool in tools if tool.get("name") == named), tools[0])
            if isinstance(part, Say):
                text = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
                output.append(
                    {
                        "type": "message",
                        "id": f"msg_{key}",
                        "role": "assistant",
                        "status": "completed",
                        "content": [text],
                    }
                )
            elif tool.get("type") == "custom":
                output.append(
                    {
                        "type": "custom_tool_call",
                        "id": f"ctc_{key}",
                        "call_id": f"call_{key}",
                        "name": part.name or tool["name"],
                        "input": part.code,
                    }
                )
            else:
                output.append(
                    {
                        "type": "function_call",
                        "id": f"fc_{key}",
                        "call_id": f"call_{key}",
                        "name": part.name or tool["name"],
                        "arguments": _arguments(part),
                        "status": "completed",
                    }
                )
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1.0,
            "status": "incomplete" if _is_cut(turn) else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if _is_cut(turn) else None,
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "usage": {
                **USAGE,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def _check_items(self, items: list[dict[str, Any]]) -> None:
        asked = [item for item in items if item.get("type", "").endswith("_call")]
        answered = [item for item in items if item.get("type", "").endswith("_call_output")]
        if sorted(i["call_id"] for i in asked) != sorted(i["call_id"] for i in answered):
            self.problems.append("a call without its answer, or the other way round")
        for item in answered:
            for part in [] if isinstance(item["output"], str) else item["output"]:
                if part["type"] == "input_image" and not part["image_url"].startswith(
                    "data:image/"
                ):
                    self.problems.append("an image that is no data URL")
                if part["type"] not in ("input_text", "input_image"):
                    self.problems.append(f"a part of type {part['type']}")

    # --- Chat Completions

    def _completion(self, turn: Sequence[Say | Call], body: dict[str, Any]) -> dict[str, Any]:
        texts = [part.text for part in turn if isinstance(part, Say)]
        name = body["tools"][0]["function"]["name"] if body.get("tools") else ""
        calls = [
            {
                "id": f"call_{next(self._ids)}",
                "type": "function",
                "function": {"name": part.name or name, "arguments": _arguments(part)},
            }
            for part in turn
            if isinstance(part, Call)
        ]
        message = {"role": "assistant", "content": " ".join(texts) or None, "refusal": None}
        if calls:
            message["tool_calls"] = calls
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "length" if _is_cut(turn) else "tool_calls" if calls else "stop",
            "logprobs": None,
        }
        return {
            "id": f"chatcmpl-{next(self._ids)}",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }

    def _check_messages(self, messages: list[dict[str, Any]]) -> None:
        open_calls: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                if message["tool_call_id"] not in open_calls:
                    self.problems.append("an answer to a call that was not made")
                    continue
                open_calls.remove(message["tool_call_id"])
                content = message["content"]
                if not isinstance(content, str) and any(p["type"] != "text" for p in content):
                    self.problems.append("a tool message with more than text")
            elif open_calls:
                self.problems.append(f"a {message['role']} message before the calls are answered")
            open_calls += [call["id"] for call in message.get("tool_calls") or ()]


def _is_cut(turn: Sequence[Say | Call]) -> bool:
    return any(isinstance(part, Say) and part.is_cut for part in turn)


def _arguments(call: Call) -> str:
    if call.arguments is not None:
        return call.arguments
    return json.dumps({"code": call.code, "libraries": None})


def _response_events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    bare = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": bare}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "content": []} if item["type"] == "message" else {**item}
        for key in ("input", "arguments"):
            if key in begun:
                begun[key] = ""
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        if item["type"] == "message":
            part = item["content"][0]
            place["content_index"] = 0
            empty = {**part, "text": ""}
            yield {"type": "response.content_part.added", **place, "part": empty}
            for word in part["text"].split(" "):
                delta = {"delta": word + " ", "logprobs": []}
                yield {"type": "response.output_text.delta", **place, **delta}
            done = {"text": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **place, **done}
            yield {"type": "response.content_part.done", **place, "part": part}
        elif item["type"] == "function_call":
            text = item["arguments"]
            yield {"type": "response.function_call_arguments.delta", **place, "delta": text}
            done = {"arguments": text, "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **place, **done}
        else:
            text = item["input"]
            yield {"type": "response.custom_tool_call_input.delta", **place, "delta": text}
            yield {"type": "response.custom_tool_call_input.done", **place, "input": text}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def _chat_chunks(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    common = {key: whole[key] for key in ("id", "created", "model")}
    common["object"] = "chat.completion.chunk"

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return {**common, "choices": [choice]}

    choice = whole["choices"][0]
    message = choice["message"]
    yield chunk({"role": "assistant", "content": ""})
    for word in (message["content"] or "").split(" "):
        if word:
            yield chunk({"content": word + " "})
    for index, call in enumerate(message.get("tool_calls", ())):
        head = {"name": call["function"]["name"], "arguments": ""}
        yield chunk(
            {
                "tool_calls": [
                    {"index": index, "id": call["id"], "type": "function", "function": head}
                ]
            }
        )
        arguments = {"arguments": call["function"]["arguments"]}
        yield chunk({"tool_calls": [{"index": index, "function": arguments}]})
    yield chunk({}, choice["finish_reason"])
    yield {**common, "choices": [], "usage": whole["usage"]}


@contextlib.contextmanager
def serve(*turns: Sequence[Say | Call], delay_s: float = 0.0) -> Iterator[ScriptedModel]:
    """Serve a model on loopback; what was wrong with the requests fails the test at the end."""
    model = ScriptedModel(list(turns), delay_s=delay_s)
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stopped.wait(model.delay_s)
            whole = model.answer(self.path, body)
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
            chat = whole["object"] == "chat.completion"
            for number, event in enumerate(
                _chat_chunks(whole) if chat else _response_events(whole)
            ):
                if not chat:
                    event["sequence_number"] = number
                    self.wfile.write(f"event: {event['type']}\n".encode())
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            if chat:
                self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert model.problems == []
