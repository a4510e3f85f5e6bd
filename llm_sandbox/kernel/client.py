"""Client of one kernel: sends cells, collects their output, interrupts them.

A run's states::

    sent -> running -> replied            (reply and idle have both come)
                    -> interrupted        (deadline passed or stop asked; SIGINT answered in time)
                    -> unresponsive       (the same, and nothing helped: the caller kills)
                    -> died               (stream ended, or the process was seen to end)
                    -> broken             (bytes that are not frames: the caller kills)
"""

import collections
import contextlib
import itertools
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_sandbox.backends.base import Exit, RawKernel
from llm_sandbox.exceptions import ContainerGoneError
from llm_sandbox.guest import frames
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.output_buffer import OutputBuffer, StreamName
from llm_sandbox.kernel.request import PendingRequest
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.limits import Deadline, Limits

__all__ = ["INTERRUPT_GRACE_S", "KernelClient", "KernelRun", "RunEnd"]

RunEnd = Literal["replied", "interrupted", "unresponsive", "died", "broken", "ended"]
"""Final states of a run, as above; ``ended`` is that of a whole program."""

INTERRUPT_GRACE_S = 0.8
"""Seconds that a kernel may take to answer an interrupt."""

_INTERRUPT_EVERY_S = 0.1
_WATCH_S = 0.1
_DEATH_REPORT_S = 10.0
_READ = 1 << 20
_MOST_READS = 1000
_SETTLE_S = 1.0
_MAX_UNREAD = 1 << 20
_REPLIES = {"execute_request": "execute_reply", "llm_sandbox_call": "llm_sandbox_reply"}


@dataclass
class KernelRun:
    """Outcome of a run, as far as the protocol shows."""

    end: RunEnd
    reply: dict[str, Any] = field(default_factory=dict)
    """Content of the reply; empty without one."""
    buffers: list[memoryview] = field(default_factory=list)
    """Buffers of the reply."""
    exit: Exit | None = None
    """Exit of the kernel's process, if it ended."""
    killed: Exit | None = None
    """Exit of the kernel if it was killed after a run that it had not answered."""
    problem: str = ""
    """Protocol error, when the end is ``broken``."""
    late: bool = False
    """Whether the deadline passed before the run ended."""
    stopped: bool = False
    """Whether a stop was requested before the deadline and the end."""
    shared_pipes: bool = False
    """Whether processes of earlier runs may have written output that looks like the run's."""


class KernelClient:
    """Client of one kernel. Not for several threads at once.

    Args:
        raw: Started kernel; this object closes its descriptors.
        interrupt: Function that sends a signal to the kernel's process.
        note_turn: Callback when a request begins and when it is over.
    """

    def __init__(
        self,
        raw: RawKernel,
        interrupt: Callable[[int], object],
        note_turn: Callable[[bool], None] = lambda begins: None,
    ) -> None:
        self.id = raw.id
        self.cold = raw.cold
        self._raw = raw
        self._interrupt = interrupt
        self._note_turn = note_turn
        self._reader = frames.FrameReader(limited=True)
        self._numbers = itertools.count(1)
        self._session = os.urandom(8).hex()
        self._owner = os.getpid()
        self._outbox: collections.deque[memoryview] = collections.deque()
        self.background = Background(Limits())
        """Receiver of output after the end of runs."""
        self.is_lost = False
        """Whether code may still be running that nobody waits for: the caller must kill
        the kernel.
        """
        self._pipes: dict[int, StreamName] = {raw.stdout: "stdout", raw.stderr: "stderr"}
        self._poll = select.poll()
        for fd in self._pipes:
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        self._poll.register(raw.stream, select.POLLIN)

    @property
    def exit(self) -> Exit | None:
        """Exit of the kernel's process; None while it lives."""
        return self._raw.ending.get()

    def ended_idle(self) -> Exit | None:
        """Exit of the kernel's process since its last request; None while it lives."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            if not self._raw.stream.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return self._raw.ending.wait(_DEATH_REPORT_S)
        return self.exit

    def await_exit(self, timeout_s: float) -> Exit | None:
        """Wait for the end of the kernel's process; return None after the time limit."""
        return self._raw.ending.wait(timeout_s)

    def configure(self, **settings: Any) -> None:
        """Set environment, library paths or output limits; takes effect before the next cell."""
        self._check_owner()
        self._send(frames.CONTROL, "llm_sandbox_configure", settings)

    def _check_owner(self) -> None:
        if self._owner != os.getpid():
            raise ContainerGoneError(
                "the kernel belongs to the process that this one was forked from",
                hint="open a session in this process",
            )

    def execute(
        self,
        code: str,
        collector: OutputBuffer,
        *,
        deadline: Deadline,
        stdin: Iterator[str] | None = None,
        silent: bool = False,
        stop: Stop | None = None,
    ) -> KernelRun:
        """Run a cell until it ends, in any state.

        Args:
            code: Code of the cell.
            collector: Receiver of the cell's output.
            deadline: Time at which the cell is interrupted.
            stdin: Lines for `input`; None to refuse it.
            silent: Whether the cell does not count as an execution.
            stop: Stop request that interrupts the cell; if requested before, the cell is not sent.

        Returns:
            The outcome. For the ends ``unresponsive`` and ``broken`` the kernel must be killed.
        """
        content = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": {},
            "allow_stdin": stdin is not None,
            "stop_on_error": True,
        }
        return self._exchange("execute_request", content, (), collector, deadline, stdin, stop)

    def call(
        self,
        service: str,
        arguments: dict[str, Any],
        buffers: Sequence[frames.Buffer] = (),
        *,
        deadline: Deadline,
        stop: Stop | None = None,
    ) -> KernelRun:
        """Call a service of the kernel, other than running cells.

        Args:
            service: Name of the service.
            arguments: Arguments of the service, as JSON types.
            buffers: Binary buffers of the request.
            deadline: Time at which the call is interrupted.
            stop: Stop request that interrupts the call.

        Returns:
            The outcome; see `execute`.
        """
        content = {"name": service, "arguments": arguments}
        nothing = OutputBuffer(Limits(output_bytes=0, displays=0))
        return self._exchange("llm_sandbox_call", content, buffers, nothing, deadline, None, stop)

    def _exchange(
        self,
        kind: str,
        content: dict[str, Any],
        buffers: Sequence[frames.Buffer],
        collector: OutputBuffer,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        stop: Stop | None,
    ) -> KernelRun:
        self._check_owner()
        if stop is not None and stop.asked:
            return KernelRun("interrupted", stopped=True)
        try:
            self.receive_pending()
        except frames.FrameError as error:
            return KernelRun("broken", problem=str(error))
        self._note_turn(True)
        request = self._send(frames.SHELL, kind, content, buffers=buffers)
        background = self.background
        if kind == "execute_request":
            background.sent(request)
        conversation = PendingRequest(request, _REPLIES[kind], collector, stdin, background)
        if stop is not None:
            self._poll.register(stop, select.POLLIN)
        if not conversation.reads_pipes:
            self._poll_pipes(0)
        try:
            run = self._converse(conversation, deadline, stop)
            started, others = collector.observed.started_process, conversation.others
            if kind == "execute_request":
                background.settle_processes(started=started, others=others is not None)
            run.shared_pipes = conversation.took_shared
            return run
        except frames.FrameError as error:
            return KernelRun("broken", problem=str(error))
        except BaseException:
            # Ctrl-C here means the code there: it must not go on unseen.
            self._forget(stop)
            self.is_lost = True
            with contextlib.suppress(frames.FrameError):
                ended = self._converse(conversation, Deadline.after(0.001)).end
                self.is_lost = ended not in ("replied", "interrupted")
            raise
        finally:
            self._note_turn(False)
            self._poll_pipes(select.POLLIN)
            self._forget(stop)

    def _converse(
        self, conversation: PendingRequest, deadline: Deadline, stop: Stop | None = None
    ) -> KernelRun:
        give_up: float | None = None
        next_interrupt = 0.0
        stopped = False
        while True:
            now = time.monotonic()
            if give_up is None:
                late = deadline.expired
                stopped = not late and stop is not None and stop.asked
                if late or stopped:
                    give_up = now + INTERRUPT_GRACE_S
                    self._forget(stop)
            if give_up is not None:
                if now >= give_up:
                    return KernelRun("unresponsive", late=not stopped, stopped=stopped)
                if now >= next_interrupt:
                    next_interrupt = now + _INTERRUPT_EVERY_S
                    self._interrupt(GuestSignal.SIGINT)
            alive = self._step(conversation, _pause(deadline, give_up, next_interrupt))
            if conversation.is_complete:
                self._drain(conversation.add_pipe)
                end: RunEnd = "replied" if give_up is None else "interrupted"
                late = give_up is not None and not stopped
                reply, buffers = conversation.reply or {}, conversation.buffers
                return KernelRun(end, reply, buffers, late=late, stopped=stopped)
            if not alive:
                run = self._died(conversation, deadline)
                run.stopped = stopped
                run.late = give_up is not None and not stopped
                return run

    def _poll_pipes(self, events: int) -> None:
        for fd in self._pipes:
            self._poll.modify(fd, events)

    def _forget(self, stop: Stop | None) -> None:
        """Unregister the stop request, which stays readable once it was made."""
        if stop is not None:
            with contextlib.suppress(KeyError):
                self._poll.unregister(stop)

    def _step(self, conversation: PendingRequest, pause_s: float) -> bool:
        """Wait for an event and process it; return False when the kernel is gone."""
        ready = self._poll.poll(max(0, int(pause_s * 1000)))
        if not ready and self._raw.ending.get() is not None:
            return False
        alive = True
        # What came past the interpreter first: it was written before the frames that follow it. But
        # where it may be of earlier runs, those frames tell whether it is.
        stream, last = self._raw.stream.fileno(), conversation.others is None
        for fd, events in sorted(ready, key=lambda item: (item[0] == stream) == last):
            if fd in self._pipes:
                self._read_pipe(fd, conversation.add_pipe)
            elif fd == stream:
                if events & ~select.POLLOUT:
                    alive = self._read_frames(conversation)
                self._push()
        return alive

    def _read_pipe(self, fd: int, add: Callable[[StreamName, bytes], None]) -> None:
        try:
            data = os.read(fd, _READ)
        except BlockingIOError:
            return
        if data:
            add(self._pipes[fd], data)
        else:
            self._poll.unregister(fd)
            del self._pipes[fd]
            os.close(fd)

    def _read_frames(self, conversation: PendingRequest) -> bool:
        try:
            data = self._raw.stream.recv(max(_READ >> 4, min(_READ, self._reader.missing_bytes())))
        except ConnectionError:
            return False
        if not data:
            return False
        self._reader.feed(data)
        for frame in self._reader:
            waited = not conversation.reads_pipes
            answer = conversation.take(frame)
            if waited and conversation.reads_pipes:
                self._poll_pipes(select.POLLIN)
            if answer is not None:
                if sum(map(len, self._outbox)) > _MAX_UNREAD:
                    raise frames.FrameError("the kernel asks for input and does not read it")
                self._send(frames.STDIN, "input_reply", {"value": answer}, frame.message)
        return True

    def _drain(self, add: Callable[[StreamName, bytes], None]) -> None:
        """Read what the pipes hold already; later output belongs to a later run."""
        for fd in list(self._pipes):
            # Twice, because a full pipe that is being written to would never be empty.
            with contextlib.suppress(BlockingIOError):
                for _ in range(2):
                    data = os.read(fd, _READ)
                    if data:
                        add(self._pipes[fd], data)

    def receive_pending(self) -> None:
        """Receive the output since the last run ended, without waiting. For use between runs.

        Raises:
            FrameError: The kernel sent bytes that are not frames.
        """
        stream = self._raw.stream.fileno()
        for _ in range(_MOST_READS):
            ready = [fd for fd, events in self._poll.poll(0) if events & select.POLLIN]
            if not ready:
                return
            for fd in ready:
                if fd in self._pipes:
                    self._read_pipe(fd, self._add_late)
                elif fd == stream and not self._hear_frames():
                    return

    def _add_late(self, name: StreamName, data: bytes) -> None:
        self.background.add_bytes(name, data, self.background.writer)

    def _hear_frames(self) -> bool:
        try:
            data = self._raw.stream.recv(_READ >> 2, socket.MSG_DONTWAIT)
        except (BlockingIOError, ConnectionError):
            return False
        self._reader.feed(data)
        try:
            for frame in self._reader:
                self.background.take_frame(frame)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise frames.FrameError(f"a message is malformed: {error}") from None
        return bool(data)

    def _died(self, conversation: PendingRequest, deadline: Deadline) -> KernelRun:
        left = deadline.remaining()
        # On a busy machine the report takes its time; one that never comes keeps no deadline up.
        patience = _DEATH_REPORT_S if left is None else left + INTERRUPT_GRACE_S
        ended = self._raw.ending.wait(min(_DEATH_REPORT_S, patience))
        self._drain(conversation.add_pipe)
        if ended is None:
            return KernelRun("broken", problem="the kernel closed its connection and goes on")
        return KernelRun("died", exit=ended)

    def _send(
        self,
        channel: int,
        kind: str,
        content: dict[str, Any],
        parent: dict[str, Any] | None = None,
        buffers: Sequence[frames.Buffer] = (),
    ) -> str:
        number = f"{self._session}-{next(self._numbers)}"
        header = {
            "msg_id": number,
            "msg_type": kind,
            "session": self._session,
            "username": "host",
            "version": "5.3",
        }
        parent_header = parent.get("header", {}) if parent else {}
        message = {
            "header": header,
            "parent_header": parent_header,
            "metadata": {},
            "content": content,
        }
        self._outbox.append(memoryview(b"".join(frames.encode(channel, message, buffers))))
        self._push()
        return number

    def _push(self) -> None:
        """Write what the kernel accepts without waiting; the rest is sent during the run.

        A kernel that is gone is noticed where its stream is read.
        """
        with contextlib.suppress(OSError):
            while self._outbox:
                sent = self._raw.stream.send(self._outbox[0], socket.MSG_DONTWAIT)
                self._outbox[0] = self._outbox[0][sent:]
                if not self._outbox[0]:
                    self._outbox.popleft()
        waiting = select.POLLOUT if self._outbox else 0
        self._poll.modify(self._raw.stream, select.POLLIN | waiting)

    def settle(self) -> bool:
        """Complete partly sent and received messages; return whether that succeeded."""
        end = time.monotonic() + _SETTLE_S
        with contextlib.suppress(frames.FrameError, OSError, ValueError):
            while not self.is_lost and time.monotonic() < end:
                self._push()
                self.receive_pending()
                if self._reader.is_empty and not self._outbox:
                    return True
                time.sleep(0.01)
        return False

    def release(self) -> RawKernel:
        """Return the kernel to a new owner, who closes its descriptors; this client is unusable
        then.
        """
        raw, self._pipes = self._raw, {}
        return raw

    def close(self) -> None:
        """Disconnect; an idle forked kernel then ends by itself."""
        with contextlib.suppress(frames.FrameError, OSError, ValueError):
            self.receive_pending()
        self._raw.stream.close()
        for fd in self._pipes:
            os.close(fd)
        self._pipes = {}


def _pause(deadline: Deadline, give_up: float | None, next_interrupt: float) -> float:
    now = time.monotonic()
    if give_up is not None:
        return min(give_up, next_interrupt, now + _WATCH_S) - now
    left = deadline.remaining()
    return _WATCH_S if left is None else min(_WATCH_S, left + 0.001)
