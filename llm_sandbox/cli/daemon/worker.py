"""Worker of the command daemon: opens a sandbox ahead, runs one command in it, and ends."""

import array
import atexit
import io
import json
import os
import signal
import socket
import sys
import threading
from typing import Any, NoReturn

from llm_sandbox.cli.daemon import client

__all__ = ["READY", "run_worker"]

READY = b"ready"

_STREAMS = 4
_FAILED = 125


def run_worker(sock: socket.socket) -> NoReturn:
    """Open a session, wait for one command, run it, and end this process.

    Args:
        sock: Connection to the daemon, which sends the connection to the command.
    """
    code = _FAILED
    try:
        found = client.context()
        from llm_sandbox.cli import options
        from llm_sandbox.cli.run import prepare_environment

        prepare_environment()
        session = options.SessionOptions().make_session("python", whole=True)
        if session.backend != "bubblewrap":
            os._exit(code)  # what other backends keep ready is the engine's, not a process of ours
        session.open()
        sock.send(READY)
        data, fds, _, _ = socket.recv_fds(sock, 16, 1)
        if not data or len(fds) != 1:
            session.close()
            os._exit(0)
        with socket.socket(fileno=fds[0]) as conn:
            request = _accept(conn, found)
            if request is None:
                session.close()
                os._exit(0)
            options.ready_session = session
            done = threading.Event()
            code = _run(conn, request, done)
            done.set()
            conn.send(b"exit %d" % code)
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - the command sees that its worker has died
        os._exit(_FAILED)
    os._exit(0)


def _accept(conn: socket.socket, found: dict[str, object]) -> dict[str, Any] | None:
    """Take a command's streams, working directory and environment as this process's own.

    Returns:
        The request; None for one that was withdrawn or belongs to another context.
    """
    data, ancillary, _, _ = conn.recvmsg(client.MAX_REQUEST, socket.CMSG_SPACE(4 * _STREAMS))
    fds = array.array("i")
    for level, kind, payload in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    if len(fds) != _STREAMS:
        return None
    request: dict[str, Any] = json.loads(data)
    # Through JSON: a context has tuples and lists.
    if request["context"] != json.loads(json.dumps(found)):
        return None
    os.fchdir(fds[3])
    for number in range(3):
        os.dup2(fds[number], number)
    for fd in fds:
        os.close(fd)
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    sys.argv = [request["name"], *request["words"]]
    sys.stdin = _text_stream(0, sys.stdin)
    sys.stdout = _text_stream(1, sys.stdout)
    sys.stderr = _text_stream(2, sys.stderr)
    conn.send(client.ACCEPTED)
    return request if conn.recv(16) == client.GO else None


def _text_stream(fd: int, like: Any) -> io.TextIOWrapper:
    """Return a text stream of a descriptor, as the interpreter makes it at its start."""
    raw = io.FileIO(fd, "r" if fd == 0 else "w", closefd=False)
    buffer = io.BufferedReader(raw) if fd == 0 else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer,
        encoding=like.encoding,
        errors=like.errors,
        line_buffering=fd == 2 or os.isatty(fd),
    )


def _run(conn: socket.socket, request: dict[str, Any], done: threading.Event) -> int:
    """Run the command, and return its exit code."""
    if signal.SIGINT not in request["ignored"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_watch, args=(conn, done), daemon=True).start()
    from llm_sandbox.cli.app import main

    try:
        main()
    except SystemExit as error:
        code = _exit_code(error.code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120  # as the interpreter does at its end
    return code


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def _watch(conn: socket.socket, done: threading.Event) -> None:
    """Deliver the signals that the command receives; end with the command, unless all is done."""
    while True:
        try:
            message = conn.recv(64)
        except OSError:
            return  # closed here: the command has its exit code
        if done.is_set():
            return
        if not message:
            # As if the command were this process: its sandbox ends with it.
            os.kill(os.getpid(), signal.SIGKILL)
        if message.startswith(b"signal "):
            os.kill(os.getpid(), int(message[7:]))
