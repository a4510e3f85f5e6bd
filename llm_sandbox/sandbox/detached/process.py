"""The process of a daemon: how it begins."""

import contextlib
import ctypes
import os
import signal
import socket

from llm_sandbox.exceptions import BackendError, SandboxError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.daemon import SandboxDaemon

__all__ = ["main"]

_SET_NAME = 15


def main(fd: int) -> None:
    """Keep the sandbox that is asked for on a socket."""
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
    except Exception as error:  # noqa: BLE001 - told to who asked
        failure = BackendError(f"the daemon failed: {type(error).__name__}: {error}")
        told = error if isinstance(error, SandboxError) else failure
        with contextlib.suppress(OSError):
            channel.send({"error": told.to_dict()})
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
