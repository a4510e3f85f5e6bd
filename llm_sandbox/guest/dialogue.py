"""Streams of a program whose input comes from the host, and whose output goes there, in pieces."""

from __future__ import annotations

import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bulk import Connection
    from .test_run import Watch


class Dialogue:
    """Standard input and output of one program.

    Records from the host are input, without a chunk at its end, or say that the dialogue
    ``is_over``; records to the host are output, in the same manner.

    Args:
        connection: Connection to the host.

    Attributes:
        read: Descriptor of the program's standard input.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.read, self._write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._write, False)
        self._pending = bytearray()
        self._is_ended = False

    def attend(self, watch: Watch) -> None:
        """Serve the host during a run, whose process has the reading end by now."""
        os.close(self.read)
        self._watch = watch
        watch.add(self._connection.socket.fileno(), select.POLLIN, self._receive)

    def send_output(self, data: bytes) -> None:
        """Send a piece of output to the host; nothing is its end."""
        self._connection.send_record({"event": "output", "sizes": [len(data)]})
        if data:
            self._connection.send_chunk(data)

    def close(self) -> None:
        """Close the input."""
        if self._write >= 0:
            os.close(self._write)
            self._write = -1

    def _receive(self, _: int) -> bool:
        record = self._connection.receive_record()
        if record.get("is_over"):
            self._watch.finish()
            return False
        data = next(self._connection.chunks()) if record["sizes"][0] else b""
        if self._write < 0 or self._is_ended:
            return True
        self._pending += data
        self._is_ended = not data
        if self._push(0) and not self._watch.has(self._write):
            self._watch.add(self._write, select.POLLOUT, self._push)
        return True

    def _push(self, _: int) -> bool:
        """Write what can be; return whether there is more."""
        try:
            while self._pending:
                del self._pending[: os.write(self._write, self._pending)]
        except BlockingIOError:
            return True
        except OSError:  # the program does not read any more
            self._pending.clear()
        if self._is_ended:
            self.close()
        return False
