"""Wrapper kernel: a Jupyter kernel around the interpreter of another language.

For the host it is like `kernel`: one stream of frames. It starts the language's interpreter with a
program in that language, the shim, which runs each cell and reports its results (see `fields` for
the messages):

    to the shim      run      ``code``, ``number``
                     set      an environment variable: ``name, value``; unset without a value
                     ack      a display was received, in order with the output before it
    from the shim    ready    it can run code
                     display  ``data:MIME`` for each form, ``metadata`` (JSON), ``id``; is acked
                     result   the same, for the value of the code; is acked
                     update   the same, for a display with that ``id``; is acked
                     error    ``name, value, traceback, line, type, frames`` (JSON); is acked
                     done     the end of a run: ``status`` (``ok`` or ``error``), ``code`` (the
                              exit code where it is an error but no exit), ``exit``

Between ``done`` and the next ``run`` a shim sends nothing: displays of threads are dropped, as they
would not be acked. Output of that time is sent as it arrives.

Started as ``python -I -S -c 'from guest import wrapper; wrapper.main(ARGV)'`` with the stream as
standard input. It exits as the interpreter exits.
"""

from __future__ import annotations

import binascii
import json
import os
import select
import signal
import socket
import sys
import time

from . import fields, frames, linux
from .confinement import raise_data_limit
from .descriptors import writers
from .interpreter import Interpreter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

_READ = 1 << 18
_MOST_WAITING = 1 << 15
_TICK_MS = 10
_INTERRUPT_EVERY_S = 0.3
_END_S = 1.0
_DISPLAYS = {"display": "display_data", "result": "execute_result", "update": "update_display_data"}


_TEXT = ("text/", "application/json", "application/javascript", "application/vnd.", "image/svg")
_DATA = "data:"
_KINDS = ("exception", "syntax", "exit", "compile", "input")


def display_content(message: fields.Fields) -> dict[str, Any]:
    """Return the content of a display message: text as text, JSON as data, the rest in base64."""
    data: dict[str, Any] = {}
    for name, value in message.items():
        if not name.startswith(_DATA):
            continue
        mime = name.removeprefix(_DATA)
        if not mime.startswith(_TEXT) and not mime.endswith(("+json", "+xml")):
            data[mime] = binascii.b2a_base64(value, newline=False).decode()
        elif mime.endswith("json"):
            data[mime] = _read_json(value, value.decode("utf-8", "replace"))
        else:
            data[mime] = value.decode("utf-8", "replace")
    metadata = _read_json(message.get("metadata", b"{}"), {})
    content = {"data": data, "metadata": metadata if isinstance(metadata, dict) else {}}
    identity = message.get("id")
    content["transient"] = {"display_id": identity.decode("utf-8", "replace")} if identity else {}
    return content


def error_content(message: fields.Fields) -> dict[str, Any]:
    """Return the content of an error message."""

    def text(name: str) -> str:
        return message.get(name, b"").decode("utf-8", "backslashreplace")

    detail: dict[str, Any] = {"frames": []}
    if text("line").isdigit():
        detail["line"] = int(text("line"))
    if text("column").isdigit():
        detail["column"] = int(text("column"))
    if text("type") in _KINDS:
        detail["kind"] = text("type")
    listed = _read_json(message.get("frames", b"[]"), [])
    if isinstance(listed, list):
        detail["frames"] = [frame for frame in listed if isinstance(frame, dict)]
    return {
        "ename": text("name") or "Error",
        "evalue": text("value"),
        "traceback": text("traceback").splitlines(),
        "llm_sandbox": detail,
    }


def _read_json(text: bytes, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return otherwise


class WrapperKernel:
    """One session's kernel.

    Args:
        stream: The connection to the host.
        interpreter: The interpreter.
        environment: The interpreter's variables.
    """

    def __init__(
        self, stream: socket.socket, interpreter: Interpreter, environment: Mapping[str, str]
    ) -> None:
        self._stream = stream
        self._interpreter = interpreter
        self._environment = dict(environment)
        self._frames = frames.FrameReader()
        self._numbers = 0
        self._session = os.urandom(16).hex()
        self._request: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._count = 0
        self._limit = 10 << 20
        self._room = {"stdout": 0, "stderr": 0}
        self._display_bytes = 32 << 20
        self._dropped = {"stdout": 0, "stderr": 0}
        self._error: dict[str, Any] | None = None
        self._interrupted = 0.0
        self._input_requested = False
        self._wake, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, lambda *_: None)
        self._outbox: list[frames.Buffer] = []
        self._outbox_size = 0
        self._poll = select.poll()
        for fd in (stream.fileno(), self._wake, interpreter.answers):
            self._poll.register(fd, select.POLLIN)
        if interpreter.exit is not None:
            self._poll.register(interpreter.exit, select.POLLIN)
        else:
            signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> NoReturn:
        """Answer until the host hangs up or the interpreter ends."""
        while True:
            running = self._request is not None
            if running and self._interpreter.input.is_exhausted and not self._input_requested:
                self._request_input()
            tick = running and self._interpreter.input.is_open
            ready = dict(self._poll.poll(_TICK_MS if tick else None))
            # A signal that arrives with a request was sent before it, and is not for it.
            if signal.SIGINT in self._signals():
                self._interrupt()
            for fd, name in list(self._interpreter.outputs.items()):
                if fd in ready:
                    self._read_output(fd, name)
            if self._interpreter.answers in ready:
                self._receive_from_shim()
            exited = self._interpreter.exit
            if exited in ready or (exited is None and self._interpreter.has_ended):
                self._exit_with_interpreter()
            if self._stream.fileno() in ready:
                self._receive_from_host()
            self._push()
            self._flush()

    # --- from the host

    def _receive_from_host(self) -> None:
        try:
            data = self._stream.recv(_READ)
        except ConnectionError:
            data = b""
        if not data:
            self._abort()
        self._frames.feed(data)
        try:
            for frame in self._frames:
                self._handle(frame.message)
        except frames.FrameError:
            self._abort()

    def _abort(self) -> NoReturn:
        os.killpg(self._interpreter.pid, signal.SIGKILL)
        os._exit(0)

    def _handle(self, message: dict[str, Any]) -> None:
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "execute_request":
            self._begin(message)
        elif kind == "llm_sandbox_configure":
            self._configure(content)
        elif kind == "input_reply":
            self._input_requested = False
            if self._request is None:
                return  # for an earlier run
            if content["value"] == "\x04":
                self._interpreter.input.close()
            else:
                self._interpreter.input.write(content["value"])
        elif kind == "llm_sandbox_call":
            error = {"name": "LookupError", "value": "this kernel does nothing besides running"}
            self._send(frames.SHELL, "llm_sandbox_reply", {"error": error}, message)
            self._send(frames.IOPUB, "status", {"execution_state": "idle"}, message)

    def _configure(self, settings: dict[str, Any]) -> None:
        self._limit = settings.get("output_bytes", self._limit)
        self._display_bytes = settings.get("display_bytes", self._display_bytes)
        if "more_memory" in settings:
            raise_data_limit(settings["more_memory"], self._interpreter.pid)
        environment = settings.get("environment")
        if environment is None or environment == self._environment:
            return
        before, self._environment = self._environment, dict(environment)
        for name, value in environment.items():
            if before.get(name) != value:
                self._interpreter.send("set", ("name", name), ("value", value))
        for name in before.keys() - environment.keys():
            self._interpreter.send("set", ("name", name))

    def _begin(self, message: dict[str, Any]) -> None:
        self._request = self._last = message
        self._error, self._input_requested = None, False
        self._room = {"stdout": self._limit, "stderr": self._limit}
        self._dropped = {"stdout": 0, "stderr": 0}
        self._status("busy")
        content = message["content"]
        if content.get("store_history", True):
            self._count += 1
        if writers(self._interpreter.pid):
            self._send(frames.IOPUB, "llm_sandbox_pipes", {"writers": "workers"}, message)
        self._interpreter.usage.begin()
        if content.get("allow_stdin"):
            self._interpreter.input.open()
        for fd in self._interpreter.outputs:
            self._poll.register(fd, select.POLLIN)
        self._interpreter.send("run", ("code", content["code"]), ("number", str(self._count)))

    def _signals(self) -> bytes:
        try:
            return os.read(self._wake, 4096)
        except BlockingIOError:
            return b""

    def _interrupt(self) -> None:
        now = time.monotonic()
        # The host repeats interrupts; the interpreter gets time to handle each.
        if self._request is not None and now - self._interrupted >= _INTERRUPT_EVERY_S:
            self._interrupted = now
            self._interpreter.interrupt()

    # --- from the interpreter

    def _read_output(self, fd: int, name: str) -> bool:
        if self._request is None and not self._host_reads():
            # It stays in the pipe until the next run; a full pipe blocks its writer.
            self._unregister(fd)
            return False
        try:
            data = os.read(fd, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._unregister(fd)
            del self._interpreter.outputs[fd]
            return False
        kept = data[: self._room[name]]
        self._room[name] -= len(kept)
        self._dropped[name] += len(data) - len(kept)
        if kept:
            message = self._message("stream", {"name": name, "text": ""}, self._last)
            if self._request is None and self._count > 1:
                # It may belong to any earlier run.
                message["metadata"] = {"llm_sandbox": {"run": None}}
            message["bulk"] = [["text"]]
            self._write(frames.encode(frames.IOPUB, message, [kept]))
        return True

    def _read_outputs(self) -> None:
        """Read the output so far, so that it precedes the next message."""
        for fd, name in list(self._interpreter.outputs.items()):
            # No more than a pipe holds: later output belongs to later messages.
            for _ in range(4):
                if not self._read_output(fd, name):
                    break

    def _host_reads(self) -> bool:
        return bool(select.select((), (self._stream,), (), 0)[1])

    def _unregister(self, fd: int) -> None:
        try:
            self._poll.unregister(fd)
        except KeyError:
            pass

    def _receive_from_shim(self) -> None:
        try:
            messages = self._interpreter.receive()
        except fields.FieldError as error:
            self._read_outputs()
            self._flush()
            sys.stderr.write(f"the interpreter broke the protocol: {error}\n")
            self._abort()
        if messages is None:
            self._unregister(self._interpreter.answers)
            return
        for message in messages:
            # trust: written by the shim, or by code that runs in the same process.
            self._handle_message(message.pop("kind").decode("utf-8", "replace"), message)

    def _handle_message(self, kind: str, message: fields.Fields) -> None:
        if self._request is None:
            return
        if kind in _DISPLAYS or kind == "error":
            self._read_outputs()
            if kind == "error":
                self._error = error_content(message)
                self._send(frames.IOPUB, "error", self._error, self._request)
            else:
                self._send_display(kind, message)
            self._interpreter.send("ack")
        elif kind == "done":
            self._read_outputs()
            self._finish(message)

    def _send_display(self, kind: str, message: fields.Fields) -> None:
        content = display_content(message)
        if kind == "result":
            content["execution_count"] = self._count
        record = self._message(_DISPLAYS[kind], content, self._request)
        self._write(frames.encode_display(frames.IOPUB, record, (), self._display_bytes))

    def _finish(self, message: fields.Fields) -> None:
        request = self._request
        self._interpreter.input.drain()
        failed = message.get("status", b"ok") != b"ok" or self._error is not None
        reply: dict[str, Any] = {
            "status": "error" if failed else "ok",
            "execution_count": self._count,
            "user_expressions": {},
            "payload": [],
        }
        if self._error is not None:
            reply.update({key: self._error[key] for key in ("ename", "evalue", "traceback")})
        reply["llm_sandbox"] = {
            "dropped": self._dropped,
            "exit": _exit_code(message.get("exit", b"")),
            "code": _exit_code(message.get("code", b"")),
            "cpu_s": self._interpreter.usage.cpu_s(),
            "peak_rss": self._interpreter.usage.peak_rss(),
        }
        self._send(frames.SHELL, "execute_reply", reply, request)
        self._status("idle")
        self._request = None

    def _exit_with_interpreter(self) -> None:
        """Exit as the interpreter did, once its output is sent."""
        self._read_outputs()
        self._receive_last()
        self._flush()
        self._interpreter.exit_alike()

    def _receive_last(self) -> None:
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline:
            messages = self._interpreter.receive()
            if not messages:
                return
            for message in messages:
                kind = message.pop("kind").decode("utf-8", "replace")
                if kind != "done":
                    self._handle_message(kind, message)

    # --- to the host

    def _request_input(self) -> None:
        self._input_requested = True
        self._send(frames.STDIN, "input_request", {"prompt": "", "password": False}, self._request)

    def _status(self, state: str) -> None:
        self._send(frames.IOPUB, "status", {"execution_state": state}, self._request)

    def _send(
        self, channel: int, kind: str, content: dict[str, Any], parent: dict[str, Any] | None
    ) -> None:
        self._write(frames.encode_light(channel, self._message(kind, content, parent)))

    def _message(
        self, kind: str, content: dict[str, Any], parent: dict[str, Any] | None
    ) -> dict[str, Any]:
        self._numbers += 1
        header = {
            "msg_id": f"{self._session}-{self._numbers}",
            "msg_type": kind,
            "session": self._session,
            "username": "kernel",
            "version": "5.3",
        }
        return {
            "header": header,
            "parent_header": parent["header"] if parent else {},
            "metadata": {},
            "content": content,
        }

    def _write(self, pieces: Sequence[frames.Buffer]) -> None:
        """Queue one frame, to be sent with others."""
        self._outbox += pieces
        self._outbox_size += sum(map(len, pieces))
        if self._outbox_size >= _MOST_WAITING:
            self._flush()

    def _flush(self) -> None:
        """Send the queued frames, blocking while the host does not read, which bounds memory."""
        pieces, self._outbox, self._outbox_size = self._outbox, [], 0
        try:
            if pieces:
                self._stream.sendall(b"".join(pieces))
        except ConnectionError:
            self._abort()

    def _push(self) -> None:
        requests = self._interpreter.requests
        if self._interpreter.pending:
            self._interpreter.push()
        if self._interpreter.pending:
            self._poll.register(requests, select.POLLOUT)
        else:
            self._unregister(requests)


def _exit_code(digits: bytes) -> int | None:
    return int(digits[-10:]) & 0xFF if digits.isdigit() else None


def main(argv: list[str]) -> None:
    """Entry point: the interpreter's command line, whose stream is the standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stream = os.dup(0)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.close(null)
    os.set_inheritable(stream, False)
    linux.set_process_name("kernel")
    environment = dict(os.environ)
    connection = socket.socket(fileno=stream)
    try:
        interpreter = Interpreter(argv, environment)
    except OSError as error:
        # The host reports it as the reason of the failed start.
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        os._exit(126 if isinstance(error, PermissionError) else 127)
    WrapperKernel(connection, interpreter, environment).serve()
