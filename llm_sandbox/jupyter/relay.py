"""Kernel's side of a conversation in Jupyter's protocol, whatever carries the messages."""

import collections
import contextlib
import json
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from llm_sandbox.backends.base import Exit, RawKernel
from llm_sandbox.guest import frames
from llm_sandbox.guest.json_limits import MOST_SHOWN, find_excess
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.jupyter.replies import KernelReplies, unanswerable

__all__ = ["Outlet", "Refusal", "Relay", "Request", "allow"]

_READ = 1 << 18
_INTERRUPT_S = 30.0
_ENDING_S = 1.0
_REQUEST = "_request"
_INFO = "kernel_info_request"
_PROTOCOL = "5.3"
_OVERHEAD = 1 << 10

Refusal = Callable[[str], str | None]
"""Policy check of code: returns the reason for a refusal, None to allow it."""


def allow(code: str) -> str | None:
    """Allow any code; see `Refusal`."""
    del code
    return None


@dataclass(frozen=True)
class Request:
    """Message of a front end."""

    origin: Any
    """Address of the front end, as its `Outlet` knows it."""
    channel: str
    """Channel of the message: ``shell``, ``control`` or ``stdin``."""
    message: Mapping[str, Any]
    """Header, parent header, metadata and content."""
    buffers: Sequence[bytes] = ()
    """Binary buffers of the message."""
    size: int = 0
    """Bytes of the message, where its carrier counts them."""

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


class Outlet(Protocol):
    """Carrier of messages to front ends."""

    def reply(
        self, request: Request, channel: str, message: dict[str, Any], buffers: Sequence[memoryview]
    ) -> None:
        """Send a message to the front end that a request came from.

        Args:
            request: The request.
            channel: Channel of the message, which is another one for a question to the user.
            message: Header, parent header, metadata and content.
            buffers: Binary buffers.
        """

    def publish(self, message: dict[str, Any], buffers: Sequence[memoryview]) -> None:
        """Send a message to all front ends; see `reply`."""


class Relay:
    """Conversation of one kernel with its front ends. For one thread, which waits for `stream`,
    `pipes` and the front ends, except for `interrupt`.

    The kernel answers one request at a time; further requests are queued, and aborted when an
    earlier one fails and requests that.

    Args:
        raw: Streams of the kernel, which `close` closes.
        send_signal: Function that sends a signal to the kernel.
        refuse: Policy check of code before it is run.
        replies: Answers to requests that the kernel does not handle.
        outlet: Carrier of messages to front ends.
    """

    def __init__(
        self,
        raw: RawKernel,
        send_signal: Callable[[int], object],
        refuse: Refusal,
        replies: KernelReplies,
        outlet: Outlet,
    ) -> None:
        self._raw = raw
        self._signal = send_signal
        self._refuse = refuse
        self._replies = replies
        self._outlet = outlet
        self._session = uuid.uuid4().hex
        self._reader = frames.FrameReader(limited=True)
        self._waiting: collections.deque[Request] = collections.deque()
        self._current: Request | None = None
        self._number: int | None = None
        self._last: Mapping[str, Any] = {}
        self._info: dict[str, Any] | None = None
        self._interrupt_until = 0.0
        self._outbox: collections.deque[memoryview] = collections.deque()
        self.is_stopping = False
        """Whether a front end has asked for the kernel's end."""
        self.wants_restart = False
        """Whether it has asked for another one after it."""
        raw.stream.setblocking(False)

    @property
    def stream(self) -> int:
        """Descriptor of the kernel's frames."""
        return self._raw.stream.fileno()

    @property
    def pipes(self) -> dict[int, str]:
        """Descriptors of output that bypasses the interpreter, with the names of their streams."""
        return {self._raw.stdout: "stdout", self._raw.stderr: "stderr"}

    @property
    def wants_write(self) -> bool:
        """Whether `push` has something left to write to `stream`."""
        return bool(self._outbox)

    @property
    def current(self) -> Request | None:
        """The request that the kernel is answering."""
        return self._current

    @property
    def backlog(self) -> int:
        """Bytes of requests that the kernel has not read yet."""
        waiting = sum(one.size + _OVERHEAD for one in self._waiting)
        return waiting + sum(map(len, self._outbox))

    @property
    def has_ended(self) -> bool:
        """Whether the kernel's process is known to have ended."""
        return self._raw.ending.get() is not None

    # --- life

    def interrupt(self) -> None:
        """Interrupt the running code. For any thread; `tick` does it."""
        self._interrupt_until = time.monotonic() + _INTERRUPT_S

    def tick(self) -> None:
        """Repeat an interrupt until it has worked. To be called after each wait."""
        if self._current is None:
            self._interrupt_until = 0.0
        elif time.monotonic() < self._interrupt_until:
            # A kernel that is writing a message drops an interrupt.
            self._signal(GuestSignal.SIGINT)

    def close(self) -> Exit | None:
        """Close the streams, with which a kernel ends that is there.

        Returns:
            How its process ended; None if that is not known.
        """
        self._raw.stream.close()
        ended = self._raw.ending.wait(_ENDING_S)
        for fd in self.pipes:
            os.close(fd)
        return ended

    def give_up(self, words: str) -> None:
        """Answer what waits for the kernel with an error, as it will not be.

        Args:
            words: The reason.
        """
        error = {"ename": "KernelEnded", "evalue": words, "traceback": [words]}
        current, self._current = self._current, None
        waiting = [one for one in (current, *self._waiting) if one is not None]
        self._waiting.clear()
        for request in waiting:
            if request.kind == "execute_request":
                self._publish("error", error, request.header)
            if request.kind.endswith(_REQUEST):
                self._answer(request, {"status": "error", "execution_count": 0, **error})
            self._publish("status", {"execution_state": "idle"}, request.header)

    def announce(self, state: str) -> None:
        """Publish a state of the kernel that is the answer to nothing.

        Args:
            state: The state, such as ``restarting``.
        """
        self._publish("status", {"execution_state": state}, {})

    def _make(
        self, kind: str, content: Mapping[str, Any], parent: Mapping[str, Any]
    ) -> dict[str, Any]:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": self._session,
            "username": "kernel",
            "date": _now(),
            "version": _PROTOCOL,
        }
        return {
            "header": header,
            "parent_header": dict(parent),
            "metadata": {},
            "content": dict(content),
        }

    def _publish(self, kind: str, content: Mapping[str, Any], parent: Mapping[str, Any]) -> None:
        self._outlet.publish(self._make(kind, content, parent), ())

    def _answer(self, request: Request, content: Mapping[str, Any]) -> None:
        kind = f"{request.kind.removesuffix(_REQUEST)}_reply"
        self._outlet.reply(request, request.channel, self._make(kind, content, request.header), ())

    # --- from front ends

    def hear(self, request: Request) -> None:
        """Take a message of a front end."""
        kind = request.kind
        if request.channel == "stdin":
            if kind == "input_reply":
                self._post(frames.STDIN, request, request.content)
        elif kind == "shutdown_request":
            self._shut_down(request)
        elif kind == _INFO and self._current is not None and self._knows_info:
            # Front ends wait for it before they do anything, whatever another one has running.
            self._answer_here(request)
        elif request.channel == "shell" or kind in self._replies.forwards:
            self._add(request)
        elif kind == "interrupt_request":
            self.interrupt()
            self._answer(request, {"status": "ok"})
        else:
            # While code runs, too: that is what the channel for control is for.
            self._answer_here(request)

    @property
    def _knows_info(self) -> bool:
        return self._info is not None or _INFO not in self._replies.forwards

    def _shut_down(self, request: Request) -> None:
        content = {"status": "ok", "restart": request.content.get("restart", False)}
        self._answer(request, content)
        self._publish("shutdown_reply", content, request.header)
        self.is_stopping = True
        self.wants_restart = content["restart"] is True

    def _add(self, request: Request) -> None:
        self._waiting.append(request)
        self._next()

    def _next(self) -> None:
        while self._current is None and self._waiting:
            request = self._waiting.popleft()
            if request.kind not in self._replies.forwards:
                self._answer_here(request)
                continue
            self._last = request.header
            if request.kind == "execute_request":
                why = self._refuse(str(request.content.get("code", "")))
                if why is not None:
                    self._answer_refused(request, why)
                    continue
                content, self._number = self._replies.begin(request.content)
            else:
                content = dict(request.content)
            self._current = request
            self._post(frames.SHELL, request, content)

    def _answer_here(self, request: Request) -> None:
        """Answer requests that the kernel does not handle; ignore other messages."""
        self._publish("status", {"execution_state": "busy"}, request.header)
        if request.kind.endswith(_REQUEST):
            known = self._info if request.kind == _INFO else None
            self._answer(request, known or self._replies.answer(request.kind, request.content))
        self._publish("status", {"execution_state": "idle"}, request.header)
        if self._current is not None:
            # Front ends show the last state that they were told.
            self._publish("status", {"execution_state": "busy"}, self._current.header)

    def _answer_refused(self, request: Request, why: str) -> None:
        header = request.header
        error = {"ename": "SecurityViolation", "evalue": why, "traceback": [why]}
        self._publish("status", {"execution_state": "busy"}, header)
        self._publish("error", error, header)
        reply = {"status": "error", "execution_count": 0, **error}
        self._answer(request, reply)
        self._publish("status", {"execution_state": "idle"}, header)
        self._give_up_waiting(request)

    def _give_up_waiting(self, failed: Request) -> None:
        """Abort queued execute requests after a failure, as the protocol requires."""
        if not failed.content.get("stop_on_error", True):
            return
        left = [request for request in self._waiting if request.kind == "execute_request"]
        for request in left:
            self._waiting.remove(request)
            self._answer(request, {"status": "aborted"})

    # --- to and from the kernel

    def _post(self, channel: int, request: Request, content: Mapping[str, Any]) -> None:
        message = {**request.message, "content": dict(content)}
        pieces = frames.encode(channel, message, list(request.buffers))
        self._outbox.append(memoryview(b"".join(pieces)))
        self.push()

    def push(self) -> None:
        """Write what the kernel accepts without waiting."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while self._outbox:
                sent = self._raw.stream.send(self._outbox[0])
                self._outbox[0] = self._outbox[0][sent:]
                if not self._outbox[0]:
                    self._outbox.popleft()

    def read_kernel(self) -> bool:
        """Take what the kernel has sent; return False at its end.

        Raises:
            FrameError: It violates the protocol, and must be ended.
        """
        try:
            data = self._raw.stream.recv(_READ)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        if not data:
            return False
        self._reader.feed(data)
        for frame in self._reader:
            self._forward(frame)
        return True

    def _forward(self, frame: frames.Frame) -> None:
        message = frame.message
        # trust: from inside; a message that is none ends the kernel.
        try:
            kind = message["header"]["msg_type"]
            if kind.startswith("llm_sandbox"):
                return  # between our kernel and our sessions
            moved = message.get("bulk", ())
            buffers = frames.restore_bulk(message, frame.buffers)
            message["content"] = _unpack(message["content"], moved)
            if frame.channel == frames.IOPUB:
                self._show(kind, message, buffers)
            elif frame.channel == frames.STDIN and self._current is not None:
                self._outlet.reply(self._current, "stdin", _dated(message), buffers)
            elif frame.channel in (frames.SHELL, frames.CONTROL):
                self._reply(message, buffers)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise frames.FrameError(str(error)) from None

    def _show(self, kind: str, message: dict[str, Any], buffers: list[memoryview]) -> None:
        current = self._current
        if current is not None and not _answers(message, current):
            current = None
        if current is not None:
            shown = self._replies.present(current.content, kind, message["content"])
            if shown is None:
                return
            message["content"] = shown
        self._outlet.publish(_dated(message), buffers)
        if current is None or kind != "status":
            return
        state = message["content"]["execution_state"]
        if state == "busy" and self._number is not None:
            told = {"code": current.content.get("code", ""), "execution_count": self._number}
            self._publish("execute_input", told, current.header)
        elif state == "idle":
            # It had no reply: it is none of those that get one, or the kernel has none for it.
            if current.kind.endswith(_REQUEST):
                self._answer(current, unanswerable(current.kind))
            self._finish()

    def _reply(self, message: dict[str, Any], buffers: list[memoryview]) -> None:
        current = self._current
        if current is None or not _answers(message, current):
            return
        content = message["content"]
        failed = content.get("status") == "error"
        if current.kind == "execute_request":
            untold = self._replies.finish(current.content, content)
            if untold is not None:
                self._publish("error", untold, current.header)
        content.pop("llm_sandbox", None)
        if current.kind == _INFO and not failed:
            self._info = content
        self._outlet.reply(current, current.channel, _dated(message), buffers)
        if failed:
            self._give_up_waiting(current)
        self._finish()

    def _finish(self) -> None:
        self._current, self._number = None, None
        self._interrupt_until = 0.0
        self._next()

    def read_pipe(self, fd: int) -> bool:
        """Publish output that bypassed the interpreter; return False at its end."""
        data = os.read(fd, _READ)
        if data:
            text = data.decode("utf-8", "backslashreplace")
            content = {"name": self.pipes[fd], "text": text}
            self._publish("stream", content, self._last)
        return bool(data)


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _dated(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message of the kernel with its time, which not every kernel writes."""
    return {**message, "header": {"date": _now(), **message["header"]}}


def _unpack(content: Any, moved: Sequence[list[Any]]) -> Any:
    """Restore content that was sent as JSON text: as a whole, or parts of a display.

    Args:
        content: Content to restore, in place.
        moved: Paths of the parts sent separately.
    """
    if isinstance(content, bytes):
        return _decode(content)
    for path in moved:
        if path[0] == "data" and str(path[-1]).endswith("json"):
            # Text that is no JSON is a value of its own.
            with contextlib.suppress(ValueError):
                text = content["data"][path[-1]].encode("utf-8", "surrogatepass")
                content["data"][path[-1]] = _decode(text)
    return content


def _decode(text: bytes) -> Any:
    # trust: from inside.
    excess = find_excess(text, largest=len(text), most_values=MOST_SHOWN)
    if excess is not None:
        raise ValueError(excess)
    return json.loads(text)


def _answers(message: Mapping[str, Any], request: Request) -> bool:
    return bool(message["parent_header"].get("msg_id") == request.header["msg_id"])
