"""Kernel of a detached session, held by the daemon: it outlives its clients.

A client gets the kernel's descriptors, and the daemon holds duplicates, so that the kernel sees no
end of file when a client disconnects. One client has the kernel at a time. After a client was
killed, partial messages in both directions are completed or discarded before the next client gets
the kernel; a kernel for which that fails is ended.
"""

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable

from llm_sandbox.backends.base import Machine, RawKernel
from llm_sandbox.exceptions import SandboxError, SessionBusyError
from llm_sandbox.guest import frames
from llm_sandbox.sandbox.detached.request import Claim

__all__ = ["SessionKernel"]

_PATIENCE_S = 1.0
_SETTLING_S = 15.0
_INTERRUPTS = 3
_INTERRUPT_EVERY_S = 0.1
_QUIET_S = 0.2
_DRAIN_S = 3.0
_PROBE_S = 3.0
_READ = 1 << 18
_GONE_WITH_USER = (
    "whoever used the session was gone in the middle of a run, and the interpreter could not be "
    "stopped but by ending it"
)


class SessionKernel:
    """Holder of the kernel of one session. Safe between threads.

    Args:
        machine: Machine of the kernel.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._changed = threading.Condition()
        self._holder: object | None = None
        self._holder_pid = 0
        self._settling = False
        self._running = False
        self._raw: RawKernel | None = None
        self._state = ""
        self._lost = ""

    def claim(self, client: object, pid: int) -> tuple[Claim, RawKernel | None]:
        """Claim the session for a client until it leaves or disconnects.

        Args:
            client: The client.
            pid: Process id of the client, for messages.

        Returns:
            State of the session, and the kernel with duplicated descriptors, which the caller
            closes.

        Raises:
            SessionBusyError: Another client has it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._holder in (None, client), _PATIENCE_S)
            if self._settling:
                self._changed.wait_for(lambda: self._holder is None, _SETTLING_S)
            if self._holder not in (None, client):
                raise SessionBusyError(
                    f"the session is in use by process {self._holder_pid}",
                    hint="it is free when that process detaches from it or ends; or use a session "
                    "of another name",
                    backend=self._machine.isolation.backend,
                )
            self._holder, self._holder_pid = client, pid
            raw, lost = self._raw, self._lost
            ended = None if raw is None else raw.ending.get()
            if ended is not None:
                lost = ended.words
            if raw is None or ended is not None:
                return Claim(None, cold=True, state=self._state, lost=lost), None
            return Claim(raw.id, raw.cold, self._state, ""), _copy(raw)

    def start(self, client: object, start: Callable[[], RawKernel]) -> RawKernel:
        """Start a kernel in place of the previous one; return it with descriptors for the client.

        Raises:
            SessionBusyError: The client does not hold the session.
        """
        self._check(client)
        raw = start()
        with self._changed:
            before, self._raw, self._lost = self._raw, raw, ""
        if before is not None:
            _close(before)
        return _copy(raw)

    def note(self, client: object, state: str) -> None:
        """Store notes for the next client.

        Raises:
            SessionBusyError: The client does not hold the session.
        """
        self._check(client)
        self._state = state

    def _check(self, client: object) -> None:
        if self._holder is not client:
            raise SessionBusyError(
                "the session is not in use by this client",
                hint="attach to it: llm_sandbox.attach_session(name)",
            )

    def is_held_by(self, client: object) -> bool:
        """Return whether a client holds the session."""
        return self._holder is client

    def turn(self, client: object, begins: bool) -> None:
        """Record that a client's request to the kernel begins or is over."""
        if self._holder is client:
            self._running = begins

    def leave(self, client: object, *, settled: bool) -> None:
        """Release the session.

        Args:
            client: The client that held it; nothing happens if another one does.
            settled: Whether no message is partly sent or received.
        """
        with self._changed:
            if self._holder is not client or self._settling:
                return
            self._settling = True
        try:
            raw = self._raw
            if raw is not None and not settled and raw.ending.get() is None:
                self._settle(raw)
        finally:
            with self._changed:
                self._holder, self._settling, self._running = None, False, False
                self._changed.notify_all()

    def _settle(self, raw: RawKernel) -> None:
        """Interrupt what runs, and discard the output that no client receives any more."""
        interrupts = _INTERRUPTS if self._running else 0
        for _ in range(interrupts):
            with contextlib.suppress(SandboxError):
                self._machine.signal(raw.id, int(signal.SIGINT))
            # Writers block until their output is read.
            _drain(raw, _INTERRUPT_EVERY_S, _INTERRUPT_EVERY_S)
        if _drain(raw, _QUIET_S, _DRAIN_S) and _answers(raw):
            return
        with self._changed:
            self._raw, self._lost = None, _GONE_WITH_USER
        with contextlib.suppress(SandboxError):
            self._machine.kill(raw.id)
        _close(raw)


def _copy(raw: RawKernel) -> RawKernel:
    """Duplicate the descriptors of a kernel."""
    return RawKernel(
        raw.id, raw.stream.dup(), os.dup(raw.stdout), os.dup(raw.stderr), raw.ending, cold=raw.cold
    )


def _close(raw: RawKernel) -> None:
    raw.stream.close()
    os.close(raw.stdout)
    os.close(raw.stderr)


def _drain(raw: RawKernel, quiet_s: float, most_s: float) -> bool:
    """Read until the stream is silent for a moment; return False if it never is."""
    end = time.monotonic() + most_s
    poll = select.poll()
    for fd in (raw.stream.fileno(), raw.stdout, raw.stderr):
        os.set_blocking(fd, False)
        poll.register(fd, select.POLLIN)
    while ready := poll.poll(quiet_s * 1000):
        if time.monotonic() > end:
            return False
        for fd, _ in ready:
            # trust: discarded unread, as no client receives it.
            if not _read(fd):
                poll.unregister(fd)
                if fd == raw.stream.fileno():
                    return False
    return True


def _read(fd: int) -> bool:
    try:
        return bool(os.read(fd, _READ))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _answers(raw: RawKernel) -> bool:
    """Return whether the kernel is idle, and its stream is at the start of a message."""
    number = f"daemon-{os.urandom(8).hex()}"
    header = {
        "msg_id": number,
        "msg_type": "llm_sandbox_call",
        "session": number,
        "username": "host",
        "version": "5.3",
    }
    message = {
        "header": header,
        "parent_header": {},
        "metadata": {},
        "content": {"name": "background", "arguments": {}},
    }
    end = time.monotonic() + _PROBE_S
    reader = frames.FrameReader(limited=True)
    replied = idle = False
    with contextlib.suppress(OSError, frames.FrameError, LookupError, TypeError, ValueError):
        raw.stream.setblocking(False)
        request = b"".join(frames.encode(frames.SHELL, message, ()))
        if raw.stream.send(request) != len(request):
            return False
        while not (replied and idle) and (left := end - time.monotonic()) > 0:
            if not select.select([raw.stream], [], [], left)[0]:
                return False
            data = raw.stream.recv(_READ)
            if not data:
                return False
            reader.feed(data)
            for frame in reader:
                # trust: what it says decides about nothing but itself.
                content = frame.message
                if content["parent_header"].get("msg_id") == number:
                    kind = content["header"]["msg_type"]
                    replied = replied or kind == "llm_sandbox_reply"
                    idle = idle or (
                        kind == "status" and content["content"]["execution_state"] == "idle"
                    )
        return replied and idle and reader.is_empty
    return False
