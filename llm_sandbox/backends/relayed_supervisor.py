"""Host's end of a supervisor that is reached over one byte stream, as in a container or a pod."""

import collections
import contextlib
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.guest.control import ControlChannel, Message
from llm_sandbox.guest.mux import Multiplexer, ProtocolError

if TYPE_CHECKING:
    from llm_sandbox.guest.mux import Transport

__all__ = ["ControlPair", "RelayedSupervisor"]


class RelayedSupervisor:
    """Supervisor at the other end of a byte stream; see `RunningSupervisor`.

    Args:
        connection: The socket of the byte stream.
        transport: The byte stream over it.
        channel: The supervisor's end of the control connection.
        at_end: Called when the connection has ended; returns how the supervisor ended, None where
            that is not known.
    """

    def __init__(
        self,
        connection: socket.socket,
        transport: "Transport",
        channel: ControlChannel,
        at_end: Callable[[], SupervisorEnd | None],
    ) -> None:
        self._connection = connection
        self._at_end = at_end
        self._end: SupervisorEnd | None = None
        self._mux = Multiplexer(transport, channel, serves=False)
        self._reason = "its connection was closed"
        self._thread = threading.Thread(target=self._relay, name="llm-sandbox-relay", daemon=True)
        self._thread.start()

    def _relay(self) -> None:
        try:
            self._mux.run()
        except ProtocolError as error:
            # trust: bytes from inside may be forged; a breach of the protocol ends the connection.
            self._reason = f"it does not keep to the protocol: {error}"
        finally:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._end = self._at_end()

    def wait(self) -> SupervisorEnd:
        """See `RunningSupervisor`."""
        self._thread.join()
        return self._end or SupervisorEnd(self._reason)


class ControlPair:
    """Both ends of control connections within this process, one connection after the other.

    Descriptors are passed through memory: the kernel would have to pass them from this process to
    itself, which macOS does not do reliably. A descriptor that is closed by the sender before it is
    received may be lost there.
    """

    def __init__(self) -> None:
        self._passed: collections.deque[int] = collections.deque()

    def host_end(self, sock: socket.socket) -> ControlChannel:
        """Return the end that sends descriptors; those of an earlier connection are closed."""
        while self._passed:
            os.close(self._passed.popleft())
        return _SendingEnd(sock, self._passed)

    def supervisor_end(self, sock: socket.socket) -> ControlChannel:
        """Return the end that receives descriptors."""
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
        # Before the record with their number, as its reader takes them at once.
        self._passed.extend(map(os.dup, fds))
        self.socket.sendall(self._record(message, len(fds)))


class _ReceivingEnd(_LocalChannel):
    def __init__(self, sock: socket.socket, passed: collections.deque[int]) -> None:
        super().__init__(sock)
        self._fds = passed

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        assert not fds, "descriptors are passed the other way"  # noqa: S101 - the host's own code
        self.socket.sendall(self._record(message, 0))
