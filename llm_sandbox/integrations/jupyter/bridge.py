"""Carries messages between a front end's sockets and a kernel in a sandbox."""

import collections
import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import zmq

from llm_sandbox.backends.base import RawKernel
from llm_sandbox.guest import frames
from llm_sandbox.integrations.jupyter.sockets import KernelSockets, Request

__all__ = ["Bridge", "Refusal"]

_TICK_MS = 100
_READ = 1 << 18
_INTERRUPT_S = 30.0
_ENDING_S = 1.0

Refusal = Callable[[str], str | None]
"""Says why code may not be run; None when it may."""


class Bridge:
    """One kernel behind a front end's sockets, until either ends. Runs in a thread of its own.

    The kernel answers one request at a time; what comes meanwhile waits here, and is given up when
    the one before it fails and says so.

    Args:
        connection: The contents of a connection file.
        raw: The kernel; its descriptors are closed here.
        send_signal: Sends a signal to it.
        refuse: Judges code before it is run.
    """

    def __init__(
        self,
        connection: Mapping[str, Any],
        raw: RawKernel,
        send_signal: Callable[[int], object],
        refuse: Refusal,
    ) -> None:
        self._raw = raw
        self._signal = send_signal
        self._refuse = refuse
        self._reader = frames.FrameReader()
        self._waiting: collections.deque[Request] = collections.deque()
        self._current: Request | None = None
        self._last: Mapping[str, Any] = {}
        self._interrupt_until = 0.0
        self._outbox: collections.deque[memoryview] = collections.deque()
        self._sockets = KernelSockets(connection)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
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
        """Interrupt what runs."""
        self._interrupt_until = time.monotonic() + _INTERRUPT_S
        self._rouse()

    def _rouse(self) -> None:
        with self._lock:
            if not self._closed:
                os.eventfd_write(self._wake, 1)

    def stop(self) -> None:
        """End the bridge, and the kernel with it; returns when it has."""
        self._stopping.set()
        self._rouse()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    # --- the loop

    def _run(self) -> None:
        raw, sockets = self._raw, self._sockets
        handlers: dict[object, Callable[[], bool]] = {
            self._wake: self._woken,
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
            pass  # trust: a kernel that breaks the protocol is let go
        finally:
            ended = raw.ending.wait(_ENDING_S)
            self.exit_code = ended.exit_code if ended is not None else 0
            raw.stream.close()
            for fd in (raw.stdout, raw.stderr):
                os.close(fd)
            with self._lock:
                # Under the lock: its number may soon be another's.
                self._closed = True
                os.close(self._wake)
            sockets.close()

    def _woken(self) -> bool:
        os.eventfd_read(self._wake)
        return True

    def _beat(self) -> bool:
        self._sockets.heartbeat.send(self._sockets.heartbeat.recv())
        return True

    def _keep_interrupting(self) -> None:
        if self._current is None:
            self._interrupt_until = 0.0
        elif time.monotonic() < self._interrupt_until:
            # A kernel that is writing a message drops an interrupt.
            self._signal(signal.SIGINT)

    # --- from the front end

    def _hear_control(self) -> bool:
        control = self._sockets.control
        request = self._sockets.receive(control)
        if request is None:
            return True
        if request.kind == "interrupt_request":
            self._interrupt_until = time.monotonic() + _INTERRUPT_S
            self._sockets.answer(control, request, "interrupt_reply", {"status": "ok"})
        elif request.kind == "shutdown_request":
            content = {"status": "ok", "restart": request.message["content"].get("restart", False)}
            self._sockets.answer(control, request, "shutdown_reply", content)
            self._sockets.publish("shutdown_reply", content, request.message["header"])
            self._stopping.set()
        else:
            self._add(request)
        return True

    def _hear_shell(self) -> bool:
        request = self._sockets.receive(self._sockets.shell)
        if request is not None:
            self._add(request)
        return True

    def _hear_input(self) -> bool:
        request = self._sockets.receive(self._sockets.stdin)
        if request is not None and request.kind == "input_reply":
            self._post(frames.STDIN, request)
        return True

    def _add(self, request: Request) -> None:
        self._waiting.append(request)
        self._next()

    def _next(self) -> None:
        while self._current is None and self._waiting:
            request = self._waiting.popleft()
            self._last = request.message["header"]
            why = None
            if request.kind == "execute_request":
                why = self._refuse(str(request.message["content"].get("code", "")))
            if why is not None:
                self._answer_refused(request, why)
                continue
            self._current = request
            self._post(frames.SHELL, request)

    def _answer_refused(self, request: Request, why: str) -> None:
        header = request.message["header"]
        error = {"ename": "SecurityViolation", "evalue": why, "traceback": [why]}
        self._sockets.publish("status", {"execution_state": "busy"}, header)
        self._sockets.publish("error", error, header)
        reply = {"status": "error", "execution_count": 0, **error}
        self._sockets.answer(self._sockets.shell, request, "execute_reply", reply)
        self._sockets.publish("status", {"execution_state": "idle"}, header)
        self._give_up_waiting(request)

    def _give_up_waiting(self, failed: Request) -> None:
        """Answer what waits to be run after code that failed, as the protocol wants it."""
        if not failed.message["content"].get("stop_on_error", True):
            return
        left = [request for request in self._waiting if request.kind == "execute_request"]
        for request in left:
            self._waiting.remove(request)
            self._sockets.answer(
                self._sockets.shell, request, "execute_reply", {"status": "aborted"}
            )

    # --- to and from the kernel

    def _post(self, channel: int, request: Request) -> None:
        pieces = frames.encode(channel, dict(request.message), list(request.buffers))
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
            buffers = frames.restore_bulk(message, frame.buffers)
            kind = message["header"]["msg_type"]
            if kind.startswith("llm_sandbox"):
                return  # between our kernel and our sessions
            if frame.channel == frames.IOPUB:
                topic = f"kernel.{kind}".encode()
                self._sockets.send(self._sockets.iopub, message, topic, buffers)
            elif frame.channel == frames.STDIN and self._current is not None:
                to = self._current.identities
                self._sockets.send(self._sockets.stdin, message, to, buffers)
            elif frame.channel in (frames.SHELL, frames.CONTROL):
                self._reply(message, buffers)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise frames.FrameError(str(error)) from None

    def _reply(self, message: dict[str, Any], buffers: list[memoryview]) -> None:
        current = self._current
        if current is None:
            return
        if message["parent_header"].get("msg_id") != current.message["header"]["msg_id"]:
            return
        message["content"].pop("llm_sandbox", None)
        self._sockets.send(self._sockets.shell, message, current.identities, buffers)
        self._current = None
        if message["content"].get("status") == "error":
            self._give_up_waiting(current)
        self._next()

    def _read_pipe(self, fd: int, name: str) -> bool:
        """Publish what came past the interpreter; False at its end."""
        data = os.read(fd, _READ)
        if data:
            text = data.decode("utf-8", "backslashreplace")
            self._sockets.publish("stream", {"name": name, "text": text}, self._last)
        return bool(data)
