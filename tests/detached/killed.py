"""Clients of the library that are there to be killed: this process forks one for each line that it
reads, which names what the client is, what it does, and by which backend.

The process id of a client is said once it is ready, of a beginner at once. With SIGUSR1 it begins
to work, and works until it is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from llm_sandbox import Sandbox

if TYPE_CHECKING:
    from llm_sandbox import Snapshot
    from llm_sandbox.backends.snapshot import SnapshotKind
    from llm_sandbox.sandbox.detached.record import OnExit

PORT = 7000
SIZE = 4 << 20
PR_SET_PDEATHSIG = 1
ECHO = """
import socket, threading
def serve(line):
    while piece := line.recv(1 << 16):
        line.sendall(piece)
server = socket.create_server(("127.0.0.1", 7000))
while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
"""
PIECE = bytes(1 << 16)


def begin(role: str, activity: str, backend: str, word: str) -> Sandbox:
    """The sandbox that a client works with."""
    if role == "visitor":
        return Sandbox.from_name(word)
    ports = (PORT,) if activity == "tunnel" else ()
    name = None if role == "owner" else f"{word}-{os.getpid()}"
    on_exit: OnExit = "keep" if role == "leaving" else "destroy"
    sandbox = Sandbox.create(backend=backend, name=name, ports=ports, on_exit=on_exit)
    prepare(sandbox, activity)
    return sandbox


def prepare(sandbox: Sandbox, activity: str) -> None:
    """What the activity needs inside."""
    if activity == "tunnel":
        sandbox.exec("python3", "-c", ECHO)
        while converse(sandbox, 1) != 1:
            time.sleep(0.02)
    if activity == "snapshot":
        sandbox.files.write_bytes("content", bytes(SIZE))


def converse(sandbox: Sandbox, pieces: int) -> int:
    """Send through the tunnel what comes back; how many pieces did."""
    done = 0
    with (
        contextlib.suppress(ConnectionError),
        socket.create_connection(sandbox.tunnels()[PORT].tcp_socket) as line,
    ):
        while done < pieces:
            line.sendall(PIECE)
            left = len(PIECE)
            while left:
                got = len(line.recv(left))
                if not got:
                    return done
                left -= got
            done += 1
    return done


def save(sandbox: Sandbox, number: int, name: str) -> Snapshot:
    """Save it, in one way and then in the other."""
    kind: SnapshotKind = "filesystem" if number % 2 else "directory"
    return sandbox.snapshot(f"llm-sandbox-test/{name}", kind=kind)


def work(begun: threading.Event, role: str, activity: str, backend: str, word: str) -> None:
    """Be a client until the end."""
    sandbox = begin(role, activity, backend, word)
    if activity == "exec":
        sandbox.exec("sleep", "54321")
    if role != "beginner":
        os.write(1, f"{os.getpid()}\n".encode())
    begun.wait()
    saved: list[Snapshot] = []
    for number in itertools.count():
        if activity == "exec":
            sandbox.check("sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")
        elif activity == "upload":
            sandbox.files.write_bytes("big", bytes(SIZE))
            sandbox.files.upload(Path(__file__).parent, "folder")
        elif activity == "tunnel":
            converse(sandbox, 100)
        else:
            saved.append(save(sandbox, number, f"{word}:{os.getpid()}-{number}"))
            if len(saved) > 1:
                saved.pop(0).delete()


def main() -> None:
    # Nothing is forked from a process with threads, and nothing is imported twice.
    for module in (
        "sandbox.detached.start",
        "backends.bubblewrap.backend",
        "backends.docker.backend",
    ):
        importlib.import_module(f"llm_sandbox.{module}")
    # What is ignored here, a daemon would have ignored from its start.
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    begun = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: begun.set())
    os.write(1, b"ready\n")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            # A test that fails leaves no client.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            try:
                work(begun, *line.split())
            finally:
                os._exit(1)
        if line.startswith("beginner"):
            os.write(1, f"{child}\n".encode())


if __name__ == "__main__":
    main()
