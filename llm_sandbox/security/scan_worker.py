"""Scanner process: scans one program after another, under limits that the kernel enforces.

The process is started by `scan_pool`, without the host's environment, and ends when the host does.
Requests and replies are JSON with a length prefix, over the socket that is its standard input. No
file is opened after the limits are set, so all modules that scans need are loaded before.
"""

import codecs
import contextlib
import json
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from math import ceil

from llm_sandbox.security.in_process import scan_in_process
from llm_sandbox.security.languages import LANGUAGES
from llm_sandbox.security.models import SecurityPolicy
from llm_sandbox.security.regex_engine import CodeReader
from llm_sandbox.security.source import Source

__all__ = ["IDLE_S", "main", "memory_for", "receive", "seconds_for", "send"]

IDLE_S = 120.0
"""Seconds without a request after which the process exits."""

_LENGTH = struct.Struct("!Q")
_PIECE = 1 << 20
_MEMORY = 768 << 20
_MEMORY_PER_CHARACTER = 1 << 10
_SECONDS = 10.0
_SECONDS_PER_CHARACTER = 10.0 / 1_000_000
_LARGE = 300 << 20
_OPEN_FILES = 16
_NOBODY = 65534
_SAMPLE = "x = 'é' + 1\n"


def seconds_for(characters: int) -> float:
    """Return the time limit in seconds for code of a length."""
    return _SECONDS + _SECONDS_PER_CHARACTER * characters


def memory_for(characters: int) -> int:
    """Return the memory limit in bytes for code of a length."""
    return _MEMORY + _MEMORY_PER_CHARACTER * characters


def send(connection: socket.socket, data: bytes) -> None:
    """Send one message, within the connection's timeout."""
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(
    connection: socket.socket, most: int = 1 << 30, before: Callable[[], None] | None = None
) -> bytes:
    """Receive the next message; empty at the end of the connection.

    Args:
        connection: Connection to receive from.
        most: Maximum length in bytes.
        before: Function that is called before each wait.

    Raises:
        ValueError: The message is longer.
    """
    head = _exactly(connection, _LENGTH.size, before)
    if not head:
        return b""
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise ValueError(f"the message has more than {most:,} bytes")
    return _exactly(connection, length, before)


def _exactly(connection: socket.socket, length: int, before: Callable[[], None] | None) -> bytes:
    data = bytearray()
    while len(data) < length:
        if before is not None:
            before()
        piece = connection.recv(min(_PIECE, length - len(data)))
        if not piece:
            return b""
        data += piece
    return bytes(data)


def main() -> None:
    """Serve requests until the host closes the connection or two minutes pass without one."""
    connection = socket.socket(fileno=0)
    _be_ordinary()
    try:
        pickled = receive(connection)[1:]
        # Pickled by the host from its own object: no part of the scanned code.
        reader: CodeReader | None = pickle.loads(pickled) if pickled else None  # noqa: S301
        _load_everything()
        # Fails early for an invalid handler, and triggers the handler's lazy imports.
        if reader is not None:
            scan_in_process(Source("", reader.name), SecurityPolicy(), reader)
    except Exception as error:  # noqa: BLE001 - whatever it is, the host tells it
        send(connection, json.dumps({"problem": f"{type(error).__name__}: {error}"}).encode())
        return
    size = _give_up_rights()
    send(connection, b"{}")
    connection.settimeout(IDLE_S)
    with contextlib.suppress(TimeoutError):
        while request := receive(connection):
            send(connection, _answer(json.loads(request), reader, size))
            # Not the most that it ever had: that starts with what the host has.
            if _pages(1) > _LARGE:
                # At once: to let go of so much takes a while.
                os._exit(0)


def _be_ordinary() -> None:
    """Reset signals to their defaults, and prefer this process for the out-of-memory killer."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123
        file.write("1000")


def _load_everything() -> None:
    """Load all modules that scans may need: no file can be opened later."""
    from llm_sandbox.security.python.pure import CODECS

    for codec in CODECS:
        with contextlib.suppress(LookupError):
            codecs.lookup(codec)
    import_module("unicodedata")
    policy = SecurityPolicy.model_validate(
        {"patterns": [{"pattern": "x", "description": "", "severity": 1, "target": "code"}]}
    )
    for lang in LANGUAGES:
        scan_in_process(Source(_SAMPLE, lang), policy, None)


def _give_up_rights() -> int:
    """Drop privileges that scans do not need, and return the size of the process."""
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups(())
            if sys.platform == "linux":
                os.setresgid(_NOBODY, _NOBODY, _NOBODY)
                os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            else:
                os.setregid(_NOBODY, _NOBODY)
                os.setreuid(_NOBODY, _NOBODY)
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        _set_limit(limit, most, most)
    return _pages(0)


def _pages(column: int) -> int:
    """Return the bytes of this process: all that it has mapped (0), or has in memory (1); where
    the system tells neither, 0 for what is mapped, and for the other the most that it has had.
    """
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if column else 0
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - `pathlib` is not loaded
        return int(file.read().split()[column]) * resource.getpagesize()


def _set_limit(limit: int, soft: int, hard: int | None = None) -> None:
    known = resource.getrlimit(limit)[1]
    hard = known if hard is None or known != resource.RLIM_INFINITY < hard else hard
    if known != resource.RLIM_INFINITY:
        hard = min(hard, known) if hard != resource.RLIM_INFINITY else known
        soft = min(soft, known)
    resource.setrlimit(limit, (soft, hard))


def _answer(request: dict[str, object], reader: CodeReader | None, size: int) -> bytes:
    code, lang, notebook = str(request["code"]), str(request["lang"]), request["notebook"]
    source = Source(code, lang, notebook if isinstance(notebook, bool) else None)
    seconds = float(str(request["seconds"]))
    if size:
        _set_limit(resource.RLIMIT_AS, size + memory_for(len(code)))
    used = resource.getrusage(resource.RUSAGE_SELF)
    _set_limit(resource.RLIMIT_CPU, ceil(used.ru_utime + used.ru_stime + seconds) + 1)
    # The kernel ends the process then, even where the host that should is gone.
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    try:
        report = scan_in_process(source, _policy(str(request["policy"])), reader)
        return report.to_json().encode()
    except MemoryError:
        problem = f"reading it takes more than {memory_for(len(code)) >> 20:,} MiB of memory"
    except Exception as error:  # noqa: BLE001 - what could not be read must never count as safe
        problem = f"reading it failed ({type(error).__name__})"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return json.dumps({"problem": problem}).encode()


@lru_cache(maxsize=16)
def _policy(text: str) -> SecurityPolicy:
    return SecurityPolicy.model_validate_json(text)
