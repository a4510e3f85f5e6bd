"""Reaching the network of a machine that a supervisor keeps: its ports, and its namespace."""

import contextlib
import errno
import os
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

from llm_sandbox.exceptions import BackendError
from llm_sandbox.guest.errands import CARRIED, HANDED, PRESENT, REFUSED

__all__ = ["connect_port", "process_in_network"]

_ANSWER_S = 30.0
_ERROR_BYTES = 16
_CREDENTIALS = struct.Struct("3i")


def connect_port(request: Callable[..., dict[str, Any]], machine: str, port: int) -> socket.socket:
    """Connect to a port of a machine's loopback.

    Args:
        request: Asks the machine's supervisor.
        machine: The machine's key.
        port: The port.

    Returns:
        A stream socket: the connection itself, or one end of what carries it.

    Raises:
        ConnectionRefusedError: Nothing listens there.
        OSError: It could not be reached.
    """
    near, far = socket.socketpair()
    try:
        with far:
            request("agent", (far.fileno(),), machine=machine, serves="port", port=port)
        near.settimeout(_ANSWER_S)
        # trust: the answer is one byte and a number; descriptors come from beside the machine only.
        answer, descriptors, _, _ = socket.recv_fds(near, 1, 1)
        if answer == HANDED and descriptors:
            near.close()
            return socket.socket(fileno=descriptors[0])
        for fd in descriptors:
            os.close(fd)
        if answer == CARRIED:
            near.settimeout(None)
            return near
        code = _error_number(near) if answer == REFUSED else errno.ECONNRESET
        raise OSError(code, f"port {port} of the sandbox: {os.strerror(code)}")
    except BaseException:
        near.close()
        raise


@contextlib.contextmanager
def process_in_network(request: Callable[..., dict[str, Any]], machine: str) -> Iterator[int]:
    """Have a process in the network namespace of a machine that lives on this kernel.

    Args:
        request: Asks the machine's supervisor.
        machine: The machine's key.

    Yields:
        The process's number as this process sees it. It ends with the block.

    Raises:
        BackendError: The kernel does not tell.
    """
    near, far = socket.socketpair()
    with near:
        near.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        near.settimeout(_ANSWER_S)
        with far:
            request("agent", (far.fileno(),), machine=machine, serves="presence")
        room = socket.CMSG_SPACE(_CREDENTIALS.size)
        answer, ancillary, _, _ = near.recvmsg(1, room)
        for level, kind, payload in ancillary:
            if (level, kind, answer) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS, PRESENT):
                process = _CREDENTIALS.unpack(payload)[0]
                if process > 0:
                    yield process
                    return
        raise BackendError("the process in the sandbox's network could not be found", op="network")


def _error_number(connection: socket.socket) -> int:
    text = connection.recv(_ERROR_BYTES)
    return int(text) if text.isdigit() and int(text) in errno.errorcode else errno.ECONNREFUSED
