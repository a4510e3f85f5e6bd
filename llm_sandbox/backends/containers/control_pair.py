"""A control connection within this process: descriptors change hands as they are.

The kernel would have to pass them from this process to itself, which macOS does not reliably: what
is closed here before it has arrived there may be lost.
"""

import collections
import os
import socket
from collections.abc import Sequence

from llm_sandbox.guest.control import ControlChannel, Message

__all__ = ["ControlPair"]


class ControlPair:
    """Makes both ends of such connections, one connection after the other."""

    def __init__(self) -> None:
        self._passed: collections.deque[int] = collections.deque()

    def host_end(self, sock: socket.socket) -> ControlChannel:
        """The end that passes descriptors; what an earlier connection left is closed."""
        while self._passed:
            os.close(self._passed.popleft())
        return _SendingEnd(sock, self._passed)

    def supervisor_end(self, sock: socket.socket) -> ControlChannel:
        """The end that receives them."""
        return _ReceivingEnd(sock, self._passed)


class _LocalChannel(ControlChannel):
    def _fill(self) -> bool:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            return False
        return self._add(data)


class _SendingEnd(_LocalChannel):
    def __init__(self, sock: socket.socket, passed: collections.deque[int]) -> None:
        super().__init__(sock)
        self._passed = passed

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        # Before the record that says how many they are: whoever reads that takes them.
        self._passed.extend(map(os.dup, fds))
        self.socket.sendall(self._record(message, len(fds)))


class _ReceivingEnd(_LocalChannel):
    def __init__(self, sock: socket.socket, passed: collections.deque[int]) -> None:
        super().__init__(sock)
        self._fds = passed

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        assert not fds, "descriptors are passed the other way"  # noqa: S101 - the host's own code
        self.socket.sendall(self._record(message, 0))
