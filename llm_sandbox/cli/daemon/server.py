"""Command daemon: keeps one worker with a sandbox ready, and passes commands to it.

A worker runs one command and ends; the next is forked from this process, which has imported
everything and has no threads and no sandbox of its own. The daemon ends after some time without a
command, when what it has imported changes on disk, and when another takes its socket.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.cli.daemon import client
from llm_sandbox.cli.daemon.control import PROCESS_NAME, DaemonStatus, remove_status
from llm_sandbox.cli.daemon.worker import READY, run_worker
from llm_sandbox.settings import get_settings, settings_file

__all__ = ["main"]

_IMPORTED = (
    "llm_sandbox.artifact_session",
    "llm_sandbox.artifacts.displays",
    "llm_sandbox.backends.bubblewrap.backend",
    "llm_sandbox.cli.app",
    "llm_sandbox.cli.outputs",
    "llm_sandbox.cli.run",
    "llm_sandbox.language_handlers.python.handler",
    "llm_sandbox.results.outputs",
)
_PRIVATE = 0o700
_SET_NAME = 15
_BACKLOG = 16
_QUEUE_S = 1.5
"""Seconds that a command waits for a worker to become ready, before it runs by itself."""
_CALM_S = 0.5
"""Seconds between a command's begin and the preparation of the next worker."""
_CHECK_S = 2.0
_TERM_S = 2.0


def main() -> None:
    """Serve commands until there are none for a while."""
    os.closerange(3, 1 << 16)  # what the command that started this had open
    os.chdir("/")
    os.umask(0o077)
    ctypes.CDLL(None).prctl(_SET_NAME, PROCESS_NAME.encode(), 0, 0, 0)
    for name in _IMPORTED:
        importlib.import_module(name)
    try:
        listener = _listen()
    except OSError:
        return
    idle_s = get_settings().cli_daemon_s
    DaemonStatus(os.getpid(), time.time(), idle_s).write()
    gc.collect()
    gc.freeze()
    _Server(listener, idle_s).serve()


def _listen() -> "_Listener":
    """Return the socket of this context; daemons of others notice that theirs is gone, and end.

    Raises:
        OSError: The folder cannot be created, or is not this user's alone.
    """
    folder = Path(client.runtime_dir())
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=_PRIVATE)
    if not client.is_private(str(folder)):
        raise PermissionError(f"{folder} is not this user's alone")
    path = folder / client.socket_name(client.context())
    new = path.with_suffix(f".{os.getpid()}")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.bind(str(new))
    sock.listen(_BACKLOG)
    for other in folder.glob("run-*.sock"):
        other.unlink(missing_ok=True)
    new.rename(path)
    return _Listener(sock, path, path.stat().st_ino)


@dataclass(frozen=True)
class _Listener:
    """The listening socket and its path."""

    sock: socket.socket
    path: Path
    inode: int

    def is_own(self) -> bool:
        """Return whether the path still leads to this socket."""
        try:
            return self.path.stat().st_ino == self.inode
        except OSError:
            return False

    def remove(self) -> None:
        """Remove the socket, and the folder if it is empty."""
        if self.is_own():
            with contextlib.suppress(OSError):
                self.path.unlink()
                remove_status()
                self.path.parent.rmdir()
        self.sock.close()


@dataclass
class _Worker:
    """A worker that has not been given a command yet."""

    pid: int
    sock: socket.socket
    is_ready: bool = False


class _Server:
    """The loop of the daemon.

    Args:
        listener: The socket that commands connect to.
        idle_s: Seconds without a command after which the daemon ends.
    """

    def __init__(self, listener: _Listener, idle_s: float) -> None:
        self._listener = listener
        self._idle_s = idle_s
        self._worker: _Worker | None = None
        self._waiting: list[tuple[float, socket.socket]] = []
        self._used_at = time.monotonic()
        self._prepare_at = 0.0
        self._files = _files()
        self._ended = False

    def serve(self) -> None:
        """Serve until the daemon is idle, out of date, replaced or told to end."""
        signal.signal(signal.SIGTERM, self._end)
        try:
            while not self._ended and self._is_wanted():
                self._step()
        finally:
            self._listener.remove()
            for _, conn in self._waiting:
                conn.close()
            if self._worker is not None:
                _end_worker(self._worker)

    def _end(self, *_: object) -> None:
        self._ended = True

    def _is_wanted(self) -> bool:
        idle = time.monotonic() - self._used_at
        return idle < self._idle_s and self._listener.is_own()

    def _step(self) -> None:
        now = time.monotonic()
        if self._worker is None and now >= self._prepare_at:
            self._worker = self._fork()
        worker = self._worker
        poll = select.poll()
        poll.register(self._listener.sock, select.POLLIN)
        if worker is not None:
            poll.register(worker.sock, select.POLLIN)
        pause = _CHECK_S if worker is not None else max(0.0, self._prepare_at - now)
        if self._waiting:
            pause = min(pause, 0.1)
        for fd, _ in poll.poll(1 + pause * 1000):
            if fd == self._listener.sock.fileno():
                self._accept()
            elif worker is not None and not self._hear(worker):
                return
        self._hand_over()
        self._reap()

    def _hear(self, worker: _Worker) -> bool:
        """Take in what a waiting worker has sent; return whether it lives."""
        if worker.sock.recv(16) == READY:
            worker.is_ready = True
            return True
        # Without a sandbox that starts, commands say why by themselves.
        self._ended = not worker.is_ready
        self._worker = None
        worker.sock.close()
        self._prepare_at = time.monotonic() + _CALM_S
        return False

    def _accept(self) -> None:
        conn, _ = self._listener.sock.accept()
        if not client.is_own(conn) or _files() != self._files:
            conn.close()
            self._ended = True
            return
        self._waiting.append((time.monotonic() + _QUEUE_S, conn))

    def _hand_over(self) -> None:
        """Give the oldest waiting command to the worker, and drop those that waited too long."""
        now = time.monotonic()
        while self._waiting and self._waiting[0][0] < now:
            self._waiting.pop(0)[1].close()
        worker = self._worker
        if not self._waiting or worker is None or not worker.is_ready:
            return
        _, conn = self._waiting.pop(0)
        with contextlib.suppress(OSError):  # a worker that has just died: the next one is forked
            socket.send_fds(worker.sock, [b"command"], [conn.fileno()])
        conn.close()
        worker.sock.close()
        self._worker = None
        self._used_at = now
        self._prepare_at = now if self._waiting else now + _CALM_S

    def _fork(self) -> _Worker:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._listener.sock.close()
            ours.close()
            for _, conn in self._waiting:
                conn.close()
            run_worker(theirs)  # does not return
        theirs.close()
        return _Worker(pid, ours)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _end_worker(worker: _Worker) -> None:
    """Have a worker end its sandbox and itself."""
    worker.sock.close()
    deadline = time.monotonic() + _TERM_S
    with contextlib.suppress(ChildProcessError):
        while not os.waitpid(worker.pid, os.WNOHANG)[0]:
            if time.monotonic() > deadline:
                os.kill(worker.pid, signal.SIGKILL)
                deadline += _TERM_S
            time.sleep(0.01)


def _files() -> tuple[tuple[str, int], ...]:
    """Return the times of change of the modules in use, of their folders, and of the settings."""
    paths = {str(settings_file(os.environ))}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and "llm_sandbox" in file:
            paths.add(file)
    paths.update(path for path in sys.path if path)
    found = []
    for path in sorted(paths):
        try:
            found.append((path, os.stat(path).st_mtime_ns))  # noqa: PTH116 - a thousand of them
        except OSError:
            found.append((path, 0))
    return tuple(found)


if __name__ == "__main__":
    main()
