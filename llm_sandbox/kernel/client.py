"""One kernel, from outside: send a cell, gather what comes, end what does not end.

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
"""The states above that are ends; ``ended`` is that of a run that was a whole program."""

INTERRUPT_GRACE_S = 0.8
"""How long a kernel may take to answer an interrupt."""

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
    """How a run went, as far as the conversation tells."""

    end: RunEnd
    reply: dict[str, Any] = field(default_factory=dict)
    """The content of the reply; empty without one."""
    buffers: list[memoryview] = field(default_factory=list)
    """The reply's own buffers."""
    exit: Exit | None = None
    """How the kernel's process ended, if it did."""
    killed: Exit | None = None
    """How it ended when it was killed after the run, which it had not answered."""
    problem: str = ""
    """What was wrong with the bytes, when the end is ``broken``."""
    late: bool = False
    """Whether its deadline passed before it ended."""
    stopped: bool = False
    """Whether it was asked to stop before its deadline, and had not ended by then."""
    shared_pipes: bool = False
    """Whether processes of earlier runs may have written what child processes seem to have."""


class KernelClient:
    """Talks to one kernel. Not for several threads at once.

    Args:
        raw: The started kernel; this object closes its descriptors.
        interrupt: Sends a signal to the kernel's process.
        note_turn: Told when a request begins and when it is over.
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
        """Gets what runs put out after they have ended."""
        self.is_lost = False
        """Whether code may still be running that nobody waits for: the caller kills."""
        self._pipes: dict[int, StreamName] = {raw.stdout: "stdout", raw.stderr: "stderr"}
        self._poll = select.poll()
        for fd in self._pipes:
            os.set_blocking(fd, False)
            self._poll.register(fd, select.POLLIN)
        self._poll.register(raw.stream, select.POLLIN)

    @property
    def exit(self) -> Exit | None:
        """How the kernel's process ended; None while it lives."""
        return self._raw.ending.get()

    def ended_idle(self) -> Exit | None:
        """How the kernel's process ended since it was last asked for something; None while it
        lives.
        """
        with contextlib.suppress(BlockingIOError, ConnectionError):
            if not self._raw.stream.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return self._raw.ending.wait(_DEATH_REPORT_S)
        return self.exit

    def await_exit(self, timeout_s: float) -> Exit | None:
        """Wait for the end of the kernel's process; None if it did not come in time."""
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
        """Run a cell to its end, whichever way.

        Args:
            code: The cell.
            collector: Gets what the cell puts out.
            deadline: When the cell is interrupted.
            stdin: Lines for `input`; None to refuse it.
            silent: Whether the cell leaves the execution count alone.
            stop: Interrupts the cell when it is asked; a cell it was asked for before is not sent.

        Returns:
            How it went. For the ends ``unresponsive`` and ``broken`` the kernel must be killed.
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
        """Call a service of the kernel: something it does for the host, besides running cells.

        Args:
            service: Its name.
            arguments: Its arguments, as JSON types.
            buffers: Bytes that go with them.
            deadline: When it is interrupted.
            stop: Interrupts it when it is asked.

        Returns:
            How it went; see `execute`.
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
            self.hear()
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

    def _forget(self, stop: Stop | None) -> None:
        """No longer be woken by a stop: it stays readable once it was asked."""
        if stop is not None:
            with contextlib.suppress(KeyError):
                self._poll.unregister(stop)

    def _step(self, conversation: PendingRequest, pause_s: float) -> bool:
        """Wait for something and take it in; False when the kernel is gone."""
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
            answer = conversation.take(frame)
            if answer is not None:
                if sum(map(len, self._outbox)) > _MAX_UNREAD:
                    raise frames.FrameError("the kernel asks for input and does not read it")
                self._send(frames.STDIN, "input_reply", {"value": answer}, frame.message)
        return True

    def _drain(self, add: Callable[[StreamName, bytes], None]) -> None:
        """Take what is in the pipes already; what is written later belongs to a later run."""
        for fd in list(self._pipes):
            # Twice, because a full pipe that is being written to would never be empty.
            with contextlib.suppress(BlockingIOError):
                for _ in range(2):
                    data = os.read(fd, _READ)
                    if data:
                        add(self._pipes[fd], data)

    def hear(self) -> None:
        """Take in what has come since the last run ended; between runs, without waiting.

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
        """Write what the kernel takes without waiting; the rest goes out in the steps of a run.

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
        """Send and hear to the end what is half sent or half heard; whether that was possible."""
        end = time.monotonic() + _SETTLE_S
        with contextlib.suppress(frames.FrameError, OSError, ValueError):
            while not self.is_lost and time.monotonic() < end:
                self._push()
                self.hear()
                if self._reader.is_empty and not self._outbox:
                    return True
                time.sleep(0.01)
        return False

    def release(self) -> RawKernel:
        """Hand the kernel to somebody else, who closes its descriptors; nothing can be run here."""
        raw, self._pipes = self._raw, {}
        return raw

    def close(self) -> None:
        """Hang up; a forked kernel ends at that by itself, unless it is busy."""
        with contextlib.suppress(frames.FrameError, OSError, ValueError):
            self.hear()
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
