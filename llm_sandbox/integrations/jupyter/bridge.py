"""Bridge between a front end's sockets and a kernel in a sandbox."""

import collections
import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import zmq

from llm_sandbox.backends.base import RawKernel
from llm_sandbox.guest import frames
from llm_sandbox.guest.json_limits import MOST_SHOWN, find_excess
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.host.wake import Wake
from llm_sandbox.integrations.jupyter.replies import KernelReplies, unanswerable
from llm_sandbox.integrations.jupyter.sockets import KernelSockets, Request

__all__ = ["Bridge", "Refusal"]

_TICK_MS = 100
_READ = 1 << 18
_INTERRUPT_S = 30.0
_ENDING_S = 1.0
_REQUEST = "_request"

Refusal = Callable[[str], str | None]
"""Policy check of code: returns the reason for a refusal, None to allow it."""


class Bridge:
    """Thread that relays messages between a kernel and a front end's sockets, until either ends.

    The kernel answers one request at a time; further requests are queued, and aborted when an
    earlier one fails and requests that.

    Args:
        connection: Content of the connection file.
        raw: Streams of the kernel, which the bridge closes.
        send_signal: Function that sends a signal to the kernel.
        refuse: Policy check of code before it is run.
        replies: Answers to requests that the kernel does not handle.
    """

    def __init__(
        self,
        connection: Mapping[str, Any],
        raw: RawKernel,
        send_signal: Callable[[int], object],
        refuse: Refusal,
        replies: KernelReplies,
    ) -> None:
        self._raw = raw
        self._signal = send_signal
        self._refuse = refuse
        self._replies = replies
        self._reader = frames.FrameReader(limited=True)
        self._waiting: collections.deque[Request] = collections.deque()
        self._current: Request | None = None
        self._number: int | None = None
        self._last: Mapping[str, Any] = {}
        self._interrupt_until = 0.0
        self._outbox: collections.deque[memoryview] = collections.deque()
        self._sockets = KernelSockets(connection)
        self._wake = Wake()
        self._lock = threading.Lock()
        self._closed = False
        self._stopping = threading.Event()
        self.exit_code: int | None = None
        """How the kernel ended; None while it is there."""
        raw.stream.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="llm-sandbox-jupyter", daemon=True)
        self._thread.start()

    # --- from other threads

    def interrupt(self) -> None:
        """Interrupt the running code."""
        self._interrupt_until = time.monotonic() + _INTERRUPT_S
        self._rouse()

    def _rouse(self) -> None:
        with self._lock:
            if not self._closed:
                self._wake.set()

    def stop(self) -> None:
        """End the bridge and the kernel, and wait for their end."""
        self._stopping.set()
        self._rouse()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def wait(self) -> None:
        """Wait for the bridge to end."""
        self._thread.join()

    # --- the loop

    def _run(self) -> None:
        raw, sockets = self._raw, self._sockets
        handlers: dict[object, Callable[[], bool]] = {
            self._wake.fileno(): self._woken,
            raw.stdout: lambda: self._read_pipe(raw.stdout, "stdout"),
            raw.stderr: lambda: self._read_pipe(raw.stderr, "stderr"),
            sockets.heartbeat: self._beat,
            sockets.control: self._hear_control,
            sockets.stdin: self._hear_input,
            sockets.shell: self._hear_shell,
            raw.stream.fileno(): self._hear_kernel,
        }
        poller = zmq.Poller()
        for source in handlers:
            poller.register(source, zmq.POLLIN)
        try:
            while not self._stopping.is_set() and raw.stream.fileno() in handlers:
                wanted = zmq.POLLIN | (zmq.POLLOUT if self._outbox else 0)
                poller.modify(raw.stream.fileno(), wanted)
                ready = dict(poller.poll(_TICK_MS))
                # In the order above: what was printed stands before what comes after it.
                for source in [source for source in handlers if source in ready]:
                    if not handlers[source]():
                        poller.unregister(source)
                        del handlers[source]
                if not ready and raw.ending.get() is not None:
                    break
                self._keep_interrupting()
                self._push()
        except frames.FrameError:
            pass  # trust: a kernel that violates the protocol is dropped
        finally:
            # A kernel that is there ends with its stream.
            raw.stream.close()
            ended = raw.ending.wait(_ENDING_S)
            self.exit_code = ended.exit_code if ended is not None else 0
            for fd in (raw.stdout, raw.stderr):
                os.close(fd)
            with self._lock:
                # Under the lock: its number may soon be another's.
                self._closed = True
                self._wake.close()
            sockets.close()

    def _woken(self) -> bool:
        self._wake.clear()
        return True

    def _beat(self) -> bool:
        self._sockets.heartbeat.send(self._sockets.heartbeat.recv())
        return True

    def _keep_interrupting(self) -> None:
        if self._current is None:
            self._interrupt_until = 0.0
        elif time.monotonic() < self._interrupt_until:
            # A kernel that is writing a message drops an interrupt.
            self._signal(GuestSignal.SIGINT)

    # --- from the front end

    def _hear_control(self) -> bool:
        request = self._sockets.receive(self._sockets.control)
        if request is None:
            return True
        if request.kind == "interrupt_request":
            self._interrupt_until = time.monotonic() + _INTERRUPT_S
            self._sockets.answer(request, "interrupt_reply", {"status": "ok"})
        elif request.kind == "shutdown_request":
            self._shut_down(request)
        elif request.kind in self._replies.forwards:
            self._add(request)
        else:
            # While code runs, too: that is what this socket is for.
            self._answer_here(request)
        return True

    def _hear_shell(self) -> bool:
        request = self._sockets.receive(self._sockets.shell)
        if request is None:
            return True
        if request.kind == "shutdown_request":
            self._shut_down(request)
        else:
            self._add(request)
        return True

    def _shut_down(self, request: Request) -> None:
        content = {"status": "ok", "restart": request.content.get("restart", False)}
        self._sockets.answer(request, "shutdown_reply", content)
        self._sockets.publish("shutdown_reply", content, request.header)
        self._stopping.set()

    def _hear_input(self) -> bool:
        request = self._sockets.receive(self._sockets.stdin)
        if request is not None and request.kind == "input_reply":
            self._post(frames.STDIN, request, request.content)
        return True

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
        self._sockets.publish("status", {"execution_state": "busy"}, request.header)
        if request.kind.endswith(_REQUEST):
            kind = f"{request.kind.removesuffix(_REQUEST)}_reply"
            self._sockets.answer(request, kind, self._replies.answer(request.kind, request.content))
        self._sockets.publish("status", {"execution_state": "idle"}, request.header)

    def _answer_refused(self, request: Request, why: str) -> None:
        header = request.header
        error = {"ename": "SecurityViolation", "evalue": why, "traceback": [why]}
        self._sockets.publish("status", {"execution_state": "busy"}, header)
        self._sockets.publish("error", error, header)
        reply = {"status": "error", "execution_count": 0, **error}
        self._sockets.answer(request, "execute_reply", reply)
        self._sockets.publish("status", {"execution_state": "idle"}, header)
        self._give_up_waiting(request)

    def _give_up_waiting(self, failed: Request) -> None:
        """Abort queued execute requests after a failure, as the protocol requires."""
        if not failed.content.get("stop_on_error", True):
            return
        left = [request for request in self._waiting if request.kind == "execute_request"]
        for request in left:
            self._waiting.remove(request)
            self._sockets.answer(request, "execute_reply", {"status": "aborted"})

    # --- to and from the kernel

    def _post(self, channel: int, request: Request, content: Mapping[str, Any]) -> None:
        message = {**request.message, "content": dict(content)}
        pieces = frames.encode(channel, message, list(request.buffers))
        self._outbox.append(memoryview(b"".join(pieces)))
        self._push()

    def _push(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while self._outbox:
                sent = self._raw.stream.send(self._outbox[0])
                self._outbox[0] = self._outbox[0][sent:]
                if not self._outbox[0]:
                    self._outbox.popleft()

    def _hear_kernel(self) -> bool:
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
                self._publish(kind, message, buffers)
            elif frame.channel == frames.STDIN and self._current is not None:
                to = self._current.identities
                self._sockets.send(self._sockets.stdin, message, to, buffers)
            elif frame.channel in (frames.SHELL, frames.CONTROL):
                self._reply(message, buffers)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise frames.FrameError(str(error)) from None

    def _publish(self, kind: str, message: dict[str, Any], buffers: list[memoryview]) -> None:
        current = self._current
        if current is not None and not _answers(message, current):
            current = None
        if current is not None:
            shown = self._replies.present(current.content, kind, message["content"])
            if shown is None:
                return
            message["content"] = shown
        topic = f"kernel.{kind}".encode()
        self._sockets.send(self._sockets.iopub, message, topic, buffers)
        if current is None or kind != "status":
            return
        state = message["content"]["execution_state"]
        if state == "busy" and self._number is not None:
            told = {"code": current.content.get("code", ""), "execution_count": self._number}
            self._sockets.publish("execute_input", told, current.header)
        elif state == "idle":
            # It had no reply: it is none of those that get one, or the kernel has none for it.
            if current.kind.endswith(_REQUEST):
                kind = f"{current.kind.removesuffix(_REQUEST)}_reply"
                self._sockets.answer(current, kind, unanswerable(current.kind))
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
                self._sockets.publish("error", untold, current.header)
        content.pop("llm_sandbox", None)
        self._sockets.send(current.socket, message, current.identities, buffers)
        if failed:
            self._give_up_waiting(current)
        self._finish()

    def _finish(self) -> None:
        self._current, self._number = None, None
        self._interrupt_until = 0.0
        self._next()

    def _read_pipe(self, fd: int, name: str) -> bool:
        """Publish output that bypassed the interpreter; return False at its end."""
        data = os.read(fd, _READ)
        if data:
            text = data.decode("utf-8", "backslashreplace")
            self._sockets.publish("stream", {"name": name, "text": text}, self._last)
        return bool(data)


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
