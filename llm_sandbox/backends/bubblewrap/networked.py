"""Finding a process in the network namespace of a machine that a supervisor keeps."""

import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

from llm_sandbox.exceptions import BackendError
from llm_sandbox.guest.constants import PRESENT

__all__ = ["process_in_network"]

_ANSWER_S = 30.0
_CREDENTIALS = struct.Struct("3i")


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
