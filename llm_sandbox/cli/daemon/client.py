"""Client of the command daemon: hands the command and its standard streams to a waiting worker.

It imports only what a bare interpreter loads fast. A command that no daemon takes runs in its own
process.
"""

# ruff: noqa: PTH110, PTH115, PTH117, PTH123
# Because: pathlib would double what the client imports.

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Collection
    from types import FrameType

__all__ = [
    "ACCEPTED",
    "GO",
    "MAX_REQUEST",
    "context",
    "environment",
    "is_own",
    "is_private",
    "run_remotely",
    "runtime_dir",
    "socket_name",
]

ACCEPTED, GO = b"accepted", b"go"
MAX_REQUEST = 100_000
"""Bytes of a request; a command that takes more runs in its own process."""

_WAIT_S = 2.0
_LOST = 125
_NAMES = ("HOME", "LANG", "LANGUAGE", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV", "XDG_RUNTIME_DIR")
# Not all of XDG_*: XDG_SESSION_ID differs for each login.
_HOMES = tuple(f"XDG_{name}_HOME" for name in ("CACHE", "CONFIG", "DATA", "STATE"))
_PREFIXES = ("DOCKER_", "LC_", "LD_", "LLM_SANDBOX_", "PYTHON", *_HOMES)
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_CREDENTIALS = (
    "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:",
    "NoNewPrivs:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:",
)  # fmt: skip
_FORWARDED = (1, 2, 3, 15)  # SIGHUP, SIGINT, SIGQUIT, SIGTERM


def environment(without: "Collection[str]" = ()) -> dict[str, str]:
    """Return the environment variables that settings and sandboxes depend on.

    Args:
        without: Variables that this process has set for itself.
    """
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if (name in _NAMES or name.startswith(_PREFIXES)) and name not in without
    }


def context(without: "Collection[str]" = ()) -> dict[str, object]:
    """Return what a daemon must share with a command to run it in the command's place.

    That is the interpreter, the `environment`, and what the kernel grants the process: credentials,
    namespaces, control groups, resource limits.

    Args:
        without: As for `environment`.

    Raises:
        OSError: The system has no ``/proc``.
    """
    import resource

    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        credentials = [line.strip() for line in file if line.startswith(_CREDENTIALS)]
    with open("/proc/self/cgroup", encoding="utf-8", errors="replace") as file:
        groups = file.read()
    limits = [
        [name, *resource.getrlimit(getattr(resource, name))]
        for name in sorted(vars(resource))
        if name.startswith("RLIMIT_")
    ]
    return {
        "python": [sys.executable, sys.version, __file__],
        "environment": environment(without),
        "credentials": credentials,
        "namespaces": [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES],
        "groups": groups,
        "limits": limits,
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
    }


def socket_name(found: dict[str, object]) -> str:
    """Return the name of the socket of the daemon for a context."""
    import hashlib
    import json

    words = json.dumps(found, sort_keys=True).encode()
    return f"run-{hashlib.sha256(words).hexdigest()[:16]}.sock"


def runtime_dir() -> str:
    """Return the path of the folder of the daemon's socket."""
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base):
        return f"{base}/llm-sandbox"
    return f"/tmp/llm-sandbox-{os.geteuid()}"  # noqa: S108 - used only if `is_private`


def is_private(path: str) -> bool:
    """Return whether a path is a folder that only this user can enter."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and found.st_mode & 0o170077 == 0o040000


def run_remotely(words: list[str]) -> int | None:
    """Have a worker of the daemon run a command with this process's streams.

    Args:
        words: The command line after the program's name.

    Returns:
        The exit code; None if nothing was run: no daemon, none of this context, or a busy one.
    """
    where = runtime_dir()
    if not is_private(where):
        return None
    try:
        found = context()
        path = f"{where}/{socket_name(found)}"
        if not os.path.exists(path):
            return None
        import socket

        conn = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except (OSError, ValueError):
        return None
    with conn:
        try:
            _offer(conn, path, words, found)
        except (OSError, ValueError):
            return None
        return _follow(conn)


def _offer(conn: "socket.socket", path: str, words: list[str], found: dict[str, object]) -> None:
    """Give a command to the daemon, and let the worker that accepts it begin.

    Raises:
        OSError: No worker has accepted it in time, or ever will.
        ValueError: The command is too large.
    """
    import json
    import socket

    conn.settimeout(_WAIT_S)
    conn.connect(path)
    if not is_own(conn):
        raise PermissionError(path)
    request = {
        "words": words,
        "name": sys.argv[0],
        "context": found,
        "environment": dict(os.environ),
        "umask": _umask(),
        "ignored": _ignored(),
    }
    data = json.dumps(request).encode("ascii")
    if len(data) > MAX_REQUEST:
        raise ValueError("a command of this size")
    cwd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        socket.send_fds(conn, [data], [0, 1, 2, cwd])
    finally:
        os.close(cwd)
    if conn.recv(16) != ACCEPTED:
        raise ConnectionRefusedError(path)
    conn.send(GO)


def _follow(conn: "socket.socket") -> int:
    """Forward signals to the worker, and return its exit code."""
    import signal

    interrupted = False

    def forward(number: int, frame: "FrameType | None") -> None:
        nonlocal interrupted
        interrupted = number == signal.SIGINT
        try:
            conn.send(b"signal %d" % number)
        except OSError:
            os._exit(128 + number)  # nobody is left to end by it

    for number in _FORWARDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, forward)
    try:
        conn.settimeout(None)
        end = conn.recv(64)
    except OSError:
        end = b""
    if end.startswith(b"exit "):
        return int(end[5:])
    if interrupted:
        return 130
    sys.stderr.write("llm-sandbox: the process of the command daemon that ran this has died\n")
    return _LOST


def is_own(conn: "socket.socket") -> bool:
    """Return whether the other end is a process of this user."""
    import socket
    import struct

    size = struct.calcsize("3i")
    peer = conn.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    uid: int = struct.unpack("3i", peer)[1]
    return uid == os.geteuid()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _ignored() -> list[int]:
    """Return the forwarded signals that this process was started to ignore."""
    import signal

    return [n for n in _FORWARDED if signal.getsignal(n) is signal.SIG_IGN]
