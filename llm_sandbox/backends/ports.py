"""Connections to the ports of a supervised machine, and from its programs to a proxy."""

import errno
import os
import socket
from collections.abc import Callable
from typing import Any

from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.guest.constants import PASSED, REFUSED, RELAYED
from llm_sandbox.host.guest_numbers import host_errno
from llm_sandbox.host.paths import system_name

__all__ = ["connect_port", "listen_for_proxy", "proxy_variables"]

_ANSWER_S = 30.0
_ERROR_BYTES = 16


def connect_port(request: Callable[..., dict[str, Any]], machine: str, port: int) -> socket.socket:
    """Connect to a port of a machine's loopback.

    Args:
        request: Sends a request to the machine's supervisor.
        machine: Id of the machine.
        port: The port.

    Returns:
        A stream socket: the connection itself, or the near end of a relay.

    Raises:
        ConnectionRefusedError: No program listens there.
        OSError: The port could not be reached.
    """
    near, far = socket.socketpair()
    try:
        with far:
            request("agent", (far.fileno(),), machine=machine, serves="port", port=port)
        near.settimeout(_ANSWER_S)
        # trust: the answer is one byte and a number; descriptors come from beside the machine only.
        answer, descriptors = _receive_answer(near)
        if answer == PASSED and descriptors:
            near.close()
            return socket.socket(fileno=descriptors[0])
        for fd in descriptors:
            os.close(fd)
        if answer == RELAYED:
            near.settimeout(None)
            return near
        code = _error_number(near) if answer == REFUSED else errno.ECONNRESET
        raise OSError(code, f"port {port} of the sandbox: {os.strerror(code)}")
    except BaseException:
        near.close()
        raise


def listen_for_proxy(
    request: Callable[..., dict[str, Any]], machine: str
) -> tuple[socket.socket, int]:
    """Listen on a machine's loopback for connections of its programs to a proxy.

    Args:
        request: Sends a request to the machine's supervisor.
        machine: Id of the machine.

    Returns:
        The byte stream that carries the connections (`guest.connections`), and the port.

    Raises:
        BackendUnavailableError: Nothing can listen there.
    """
    near, far = socket.socketpair()
    try:
        with far:
            request("agent", (far.fileno(),), machine=machine, serves="proxy")
        near.settimeout(_ANSWER_S)
        # trust: a byte and a port, which programs inside are told and nobody here connects to.
        answer = near.recv(1)
        if answer == RELAYED:
            number = near.recv(2, socket.MSG_WAITALL)
            if len(number) == 2:
                near.settimeout(None)
                return near, int.from_bytes(number, "little")
        code = _error_number(near) if answer == REFUSED else errno.ECONNRESET
        raise BackendUnavailableError(
            f"no proxy can listen in the sandbox {machine}: {os.strerror(code)}",
            hint="make another sandbox",
        )
    except BaseException:
        near.close()
        raise


def proxy_variables(port: int) -> dict[str, str]:
    """Return the variables by which programs inside find their proxy.

    Args:
        port: Its port on their loopback.
    """
    proxy = f"http://127.0.0.1:{port}"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    own = ("no_proxy", "NO_PROXY")
    return {**dict.fromkeys(names, proxy), **dict.fromkeys(own, "localhost,127.0.0.1,::1")}


def _receive_answer(connection: socket.socket) -> tuple[bytes, list[int]]:
    if system_name() != "Linux":  # machines in containers, which pass no descriptors
        return connection.recv(1), []
    answer, descriptors, _, _ = socket.recv_fds(connection, 1, 1)
    return answer, descriptors


def _error_number(connection: socket.socket) -> int:
    text = connection.recv(_ERROR_BYTES)
    number = host_errno(int(text)) if text.isdigit() else None
    return errno.ECONNREFUSED if number is None else number
