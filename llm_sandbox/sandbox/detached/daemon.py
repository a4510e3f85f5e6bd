"""Sandbox daemon: the process that owns a detached sandbox."""

import contextlib
import ctypes
import os
import select
import signal
import socket
import threading
import time
import warnings
from dataclasses import replace
from typing import Any

from llm_sandbox.backends.base import Backend, KernelSpec, Machine, ProcessSpec, RawKernel
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendError, KernelNotReadyError, SandboxError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.sandbox.detached.client import peer_of
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.handler import ClientHandler
from llm_sandbox.sandbox.detached.kernel import SessionKernel
from llm_sandbox.sandbox.detached.programs import Program, Programs
from llm_sandbox.sandbox.detached.registry import register
from llm_sandbox.sandbox.detached.request import CreateRequest, SandboxInfo
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.sandbox.network import SandboxNetwork
from llm_sandbox.sandbox.process import spools_of
from llm_sandbox.sandbox.secret_files import inject_secrets
from llm_sandbox.sandbox.snapshots import create_from

__all__ = ["SandboxDaemon", "main"]

_TICK_S = 0.5
_OVERDUE_S = 3.0
_SETTLE_S = 0.5
_LAST_OUTPUT_S = 3.0
_BACKLOG = 32
_TIMED_OUT, _TERMINATED = 124, 137
_REMEMBERED = ("exited", "deadline", "idle", "terminated", "oom")


class SandboxDaemon:
    """Daemon of one sandbox.

    Args:
        request: Options of the sandbox.
    """

    machine: Machine
    programs: Programs
    network: SandboxNetwork
    kernel: SessionKernel | None = None
    """Kernel of the session in the sandbox; None without a session."""

    def __init__(self, request: CreateRequest) -> None:
        self._request = request
        self._state_dir = StateDir()
        self._lock = threading.Lock()
        self._clients: set[ClientHandler] = set()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._warnings: tuple[tuple[str, str, str], ...] = ()
        self._owner: int | None = None
        self._deadline: float | None = None
        self._active_at = time.monotonic()
        self._entry_seen_at: float | None = None
        self._asked: str | None = None
        self._failure: SandboxError | None = None
        self._answered = threading.Event()

    # --- how it begins

    def make(self) -> None:
        """Register and create the sandbox.

        Raises:
            SandboxError: The sandbox could not be created; nothing of it is left.
        """
        request = self._request
        if request.on_exit == "destroy":
            self._owner = os.pidfd_open(request.owner)
        self._entry = register(self._state_dir, request.make_record(os.getpid()))
        try:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listener.bind(self._state_dir.socket_path(f"{request.id}.sock"))
            self._listener.listen(_BACKLOG)
            self._make_machine()
        except BaseException:
            self._entry.remove()
            raise

    def _make_machine(self) -> None:
        request = self._request
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._backend = _backend(request)
            self.machine = create_from(self._backend, request.spec, request.snapshot)
        self._warnings = tuple(
            (one.category.__module__, one.category.__name__, str(one.message)) for one in caught
        )
        self.network = SandboxNetwork(self.machine)
        try:
            self.programs = Programs(self.machine)
            if request.session is not None:
                self.kernel = SessionKernel(self.machine)
            self.network.open(request.network, request.ports, request.secrets.bindings)
            inject_secrets(self.machine, request.secrets)
            with contextlib.suppress(NotImplementedError):
                self.machine.on_end(self.wake)
            self._set_deadline(request.spec.timeout_s)
            if request.command:
                self._start_entry()
            self._entry.write(
                replace(
                    self._entry.record,
                    machine=self.machine.id,
                    workdir=self.machine.spec.workdir,
                    state="running",
                    ends_at=self._ends_at(),
                )
            )
        except BaseException:
            self.machine.destroy()
            raise

    def _start_entry(self) -> None:
        request = self._request
        environment = {**self.machine.base_env(), **request.secrets.env}
        if request.terminal is not None:
            environment["TERM"] = request.terminal.term
        environment.update(request.env)
        spec = ProcessSpec(request.command, environment, stdin=True, terminal=request.terminal)
        program, _ = self.programs.start(spec, is_entry=True)

        def wait() -> None:
            program.process.wait()
            self.wake()
            for spool in spools_of(program.process):
                spool.wait_end()
            self.wake()

        threading.Thread(target=wait, name="llm-sandbox-entry", daemon=True).start()

    def info(self) -> SandboxInfo:
        """Return the description of the sandbox for clients."""
        machine, request = self.machine, self._request
        return SandboxInfo(
            request=request,
            tags=dict(self._entry.record.tags),
            spec=machine.spec,
            isolation=machine.isolation,
            base_env=machine.base_env(),
            python=machine.python(),
            library_path=machine.library_path,
            has_packages=machine.has_packages,
            saves_file_systems=machine.saves_file_systems,
            images=machine.images,
            warnings=self._warnings,
        )

    # --- what clients do

    def serve(self, channel: ControlChannel) -> None:
        """Serve a new client."""
        client = ClientHandler(self, channel)
        with self._lock:
            self._clients.add(client)
        client.start()

    def forget(self, client: ClientHandler) -> None:
        """Remove a client that has disconnected."""
        with self._lock:
            self._clients.discard(client)
        self.note_activity()

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """Start a kernel, and upload the packages it needs if they are missing."""
        try:
            return self.machine.start_kernel(spec)
        except KernelNotReadyError:
            self._backend.warm_up(self._request.spec.network)
            return self.machine.start_kernel(spec)

    def note_activity(self) -> None:
        """Record activity in the sandbox, which resets its idle timeout."""
        self._active_at = time.monotonic()

    def wake(self) -> None:
        """Make the main loop check all conditions now."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"\0")

    def set_deadline(self, seconds: float | None) -> None:
        """Set the timeout, in seconds from now; None for never."""
        self.machine.set_deadline(seconds)
        self._set_deadline(seconds)
        self._rewrite(ends_at=self._ends_at())
        self.wake()

    def _set_deadline(self, seconds: float | None) -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def _ends_at(self) -> float | None:
        if self._deadline is None:
            return None
        return time.time() + self._deadline - time.monotonic()

    def set_tags(self, tags: dict[str, str]) -> None:
        """Replace the tags, and send them to all clients."""
        self._rewrite(tags=tags)
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.send_event("tags", tags=tags)

    def disown(self) -> None:
        """Continue after the end of the process that created the sandbox."""
        self._owner = None
        self._rewrite(owner=None)
        self.wake()

    def _rewrite(self, **changes: Any) -> None:
        with self._lock:
            self._entry.write(replace(self._entry.record, **changes))

    def end(self, reason: str, deadline: float) -> bool:
        """End the sandbox, and wait for that; return False if it took too long.

        Raises:
            SandboxError: The sandbox could not be ended, and lives on.
        """
        self._failure = None
        self.end_soon(reason)
        while not self._answered.wait(0.05):
            if self._failure is not None:
                raise self._failure
            if time.monotonic() > deadline:
                return False
        return True

    def end_soon(self, reason: str) -> None:
        """End the sandbox, without waiting."""
        self._asked = reason
        self.wake()

    # --- how it goes on, and ends

    def run(self) -> None:
        """Serve clients until the sandbox ends."""
        self.note_activity()  # making it took its time
        poll = select.poll()
        for watched in (self._listener.fileno(), self._wake_read):
            poll.register(watched, select.POLLIN)
        if self._owner is not None:
            poll.register(self._owner, select.POLLIN)
        while (ended := self._end_cause()) is None or not self._close(*ended):
            for fd, _ in poll.poll(self._pause() * 1000):
                if fd == self._wake_read:
                    with contextlib.suppress(BlockingIOError):
                        os.read(fd, 4096)
                elif fd == self._listener.fileno():
                    self._accept()
                else:
                    poll.unregister(fd)
                    if self._owner is not None:
                        self._asked = "closed"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            if peer_of(sock)[1] != os.geteuid():
                sock.close()
                return
            self.serve(ControlChannel(sock))

    def _pause(self) -> float:
        """Return the seconds until the next check."""
        now = time.monotonic()
        moments = [now + _TICK_S]
        if self._entry_seen_at is not None:
            moments.append(now + 0.05)
        if self._request.idle_timeout is not None:
            moments.append(max(self._active_at + self._request.idle_timeout, now + 0.02))
        return max(0.0, min(moments) - now)

    def _end_cause(self) -> tuple[str, int] | None:
        """Return the reason of the end, and the exit code; None while the sandbox lives on."""
        now = time.monotonic()
        if self._asked is not None:
            return self._asked, _TERMINATED
        reason = self.machine.end_reason
        if reason is not None:
            return reason, _TIMED_OUT if reason == "deadline" else _TERMINATED
        entry = self.programs.entry
        if entry is not None and not entry.runs:
            code = entry.process.poll()
            self._entry_seen_at = self._entry_seen_at or now
            # What was killed may be the first news of the whole machine's end.
            killed = code == _TERMINATED and now - self._entry_seen_at <= _SETTLE_S
            if not killed and not self._has_terminal_output(entry):
                return "exited", _TERMINATED if code is None else code
        if self._deadline is not None and now > self._deadline + _OVERDUE_S:
            return "deadline", _TIMED_OUT
        if self._is_idle(now):
            return "idle", _TIMED_OUT
        return None

    def _has_terminal_output(self, entry: Program) -> bool:
        """Return whether the entry command's terminal, which ends with the sandbox, has unread
        output.
        """
        return self._request.terminal is not None and any(
            spool.ended_at is None for spool in spools_of(entry.process)
        )

    def _is_idle(self, now: float) -> bool:
        idle = self._request.idle_timeout
        if idle is None:
            return False
        with self._lock:
            active = any(client.is_active for client in self._clients)
        if active or self.programs.are_active or self.network.was_used():
            self.note_activity()
            return False
        return now - self._active_at >= idle

    def _last_output(self) -> list[bytes]:
        """Return the output of the entry command without secrets: it is written to a disk."""
        entry = self.programs.entry
        if entry is None:
            return []
        found = []
        for spool in spools_of(entry.process):
            spool.wait_end(_SETTLE_S)
            data = spool.peek()[0]
            for value in self._request.secrets.hidden:
                data = data.replace(value.encode("utf-8", "surrogateescape"), b"***")
            found.append(data)
        return found

    def _close(self, reason: str, code: int) -> bool:
        """Close everything; return False if the machine could not be ended."""
        try:
            self.machine.destroy()
        except SandboxError as error:
            self._asked, self._failure = None, error
            return False
        last = None
        if reason in _REMEMBERED:
            last = replace(
                self._entry.record, state="ended", end_reason=reason, exit_code=code, daemon=None
            )
        with contextlib.suppress(OSError, SandboxError):
            self._entry.remove(last, self._last_output())
        self._listener.close()
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            client.send_event("ended", reason=reason, exit_code=code)
        self._answered.set()
        deadline = time.monotonic() + _LAST_OUTPUT_S
        while any(one.is_following for one in clients) and time.monotonic() < deadline:
            time.sleep(0.01)
        # What was asked last is answered by another thread.
        time.sleep(0.1)
        for client in clients:
            client.close()
        return True


def _backend(request: CreateRequest) -> Backend:
    backend = get_backend(request.backend)
    if request.options is None:
        return backend
    return backend.with_options(request.options)


_SET_NAME = 15


def main(fd: int) -> None:
    """Run a daemon for the create request that arrives on a socket."""
    ctypes.CDLL(None).prctl(_SET_NAME, b"llm-sandboxd", 0, 0, 0)
    # Who starts it may ignore or block signals; with SIGCHLD ignored, no child can be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    sock = socket.socket(fileno=fd)
    sock.set_inheritable(False)
    channel = ControlChannel(sock)
    record = channel.receive()
    if record is None:
        return
    try:
        daemon = SandboxDaemon(decode(record[0]["request"]))
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        daemon.make()
    except Exception as error:  # noqa: BLE001 - sent to the client
        failure = BackendError(f"the daemon failed: {type(error).__name__}: {error}")
        failed = error if isinstance(error, SandboxError) else failure
        with contextlib.suppress(OSError):
            channel.send({"error": failed.to_dict()})
        return

    signal.signal(signal.SIGTERM, lambda *_: daemon.end_soon("terminated"))
    with contextlib.suppress(OSError):
        channel.send({"value": encode(daemon.info())})
    if not _is_taken(channel):
        daemon.end_soon("closed")
    # What it writes for people has no reader any more.
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 2)
    daemon.serve(channel)
    daemon.run()


def _is_taken(channel: ControlChannel) -> bool:
    with contextlib.suppress(OSError):
        record = channel.receive()
        return record is not None and record[0].get("op") == "taken"
    return False
