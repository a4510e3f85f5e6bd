"""The byte stream that a multiplexer runs over."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be a tenth of the supervisor's start
    from collections.abc import Sequence
    from typing import Protocol

    class Transport(Protocol):
        """The byte stream. Both descriptors are non-blocking."""

        reads_from: int
        writes_to: int

        def receive(self) -> bytes | None:
            """What has arrived, maybe nothing yet; None at the end."""

        def send(self, pieces: Sequence[bytes | memoryview]) -> int:
            """Send some of it and return how many bytes; raises BlockingIOError for none."""


_CHUNK = 1 << 18


class StdioTransport:
    """Standard input and output as the byte stream."""

    def __init__(self, reads_from: int, writes_to: int) -> None:
        self.reads_from, self.writes_to = reads_from, writes_to
        os.set_blocking(reads_from, False)
        os.set_blocking(writes_to, False)

    def receive(self) -> bytes | None:
        try:
            return os.read(self.reads_from, _CHUNK) or None
        except BlockingIOError:
            return b""

    def send(self, pieces: Sequence[bytes | memoryview]) -> int:
        return os.writev(self.writes_to, pieces)
