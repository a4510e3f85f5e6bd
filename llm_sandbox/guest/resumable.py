"""Byte stream that survives the loss of its connection, for both ends.

Bytes are numbered in each direction, and kept until the other end has acknowledged them. When a
connection is cut, another one takes its place, and each end sends again what the other lacks: no
byte is lost or doubled. A frame is ``u8 kind | u32 size | u64 acknowledged`` and `size` bytes,
little endian, where `acknowledged` counts the bytes that the sender has passed on so far:

    open       the client's key at its first connection, else nothing, and its nonce
    challenge  the server's nonce, and its proof that it knows the key
    proof      the client's proof, and the number of bytes it has received
    welcome    the number of bytes that the server has received
    data       bytes
    beat       nothing: the sender is alive
    end        nothing: the stream has ended

The first client gives the server a key, before any code of a user runs; later ones must know it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import select
import selectors
import socket
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Connection(Protocol):
        """Connection that carries frames. Neither call blocks."""

        def fileno(self) -> int:
            """Return the descriptor to poll."""

        def receive(self) -> bytes | None:
            """Return the bytes that have arrived, maybe none yet; None at the end."""

        def send(self, data: bytes) -> None:
            """Queue bytes, and send what can be sent now."""

        def flush(self) -> None:
            """Send what can be sent now."""

        @property
        def waiting(self) -> int:
            """Number of bytes that wait to be sent."""

        def close(self) -> None:
            """Close it."""


OPEN, CHALLENGE, PROOF, WELCOME, DATA, BEAT, END = range(7)
KEY_SIZE = 32
NO_STREAM = bytes(KEY_SIZE)
"""Name of the only stream of a server, or of the one that its first client began."""
BEAT_S = 15.0
"""Seconds of silence after which an end says that it is alive."""
SILENCE_S = 45.0
"""Seconds of the other end's silence after which a connection counts as cut."""
HANDSHAKE_S = 10.0
WINDOW = 4 << 20
"""Bytes that an end keeps for the other at most; then its own writers wait."""
_HEADER = struct.Struct("<BIQ")
_COUNT = struct.Struct("<Q")
_CHUNK = 32 << 10
_MOST_FRAME = 64 << 10
_MOST_WORDS = 200
_MOST_QUEUED = 256 << 10
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class LinkError(Exception):
    """Connection whose other end is not who it should be, or breaks the rules."""


def _proof(key: bytes, who: bytes, first: bytes, second: bytes) -> bytes:
    return hmac.digest(key, who + first + second, hashlib.sha256)


class SocketConnection:
    """See `Connection`: a stream socket."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._queue = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def receive(self) -> bytes | None:
        try:
            return self._socket.recv(_MOST_FRAME) or None
        except BlockingIOError:
            return b""

    def send(self, data: bytes) -> None:
        self._queue += data
        self.flush()

    def flush(self) -> None:
        while self._queue:
            try:
                sent = self._socket.send(self._queue)
            except BlockingIOError:
                return
            del self._queue[:sent]

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        self._socket.close()


class FramedConnection:
    """Connection with the frames that have not been read yet."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.stream = NO_STREAM
        """Name of the client's stream among those of a server; set by `authenticate`."""
        self._inbox = bytearray()

    def send(self, kind: int, payload: bytes = b"", acknowledged: int = 0) -> None:
        """Send a frame."""
        self.connection.send(_HEADER.pack(kind, len(payload), acknowledged) + payload)

    def receive(self) -> bool:
        """Receive what has arrived; return False at the end."""
        data = self.connection.receive()
        if data is None:
            return False
        self._inbox += data
        return True

    def take(self) -> tuple[int, bytes, int] | None:
        """Return the next frame, as kind, payload and acknowledged bytes; None if there is none.

        Raises:
            LinkError: The frame is longer than any that is sent.
        """
        if len(self._inbox) < _HEADER.size:
            return None
        kind, size, acknowledged = _HEADER.unpack_from(self._inbox)
        if size > _MOST_FRAME:
            raise LinkError(f"invalid frame: {size} bytes, over the limit of {_MOST_FRAME}")
        end = _HEADER.size + size
        if len(self._inbox) < end:
            return None
        payload = bytes(memoryview(self._inbox)[_HEADER.size : end])
        del self._inbox[:end]
        return kind, payload, acknowledged

    def expect(self, kind: int, size: int, deadline: float) -> bytes:
        """Wait for a frame of the handshake, and return its payload.

        Args:
            kind: The only kind that may come.
            size: Size of its payload.
            deadline: When to give up, by the monotonic clock.

        Raises:
            LinkError: Another frame came, the connection ended, or the time is up.
        """
        while (frame := self.take()) is None:
            left = deadline - time.monotonic()
            writes = [self.connection] if self.connection.waiting else []
            ready = select.select([self.connection], writes, [], max(0.0, left))
            if ready[1]:
                self.connection.flush()
            if left <= 0:
                raise LinkError("no answer in time")
            if ready[0] and not self.receive():
                raise LinkError("the connection ended")
        if frame[0] == END:
            raise LinkError(
                f"the other end refuses: {frame[1][:_MOST_WORDS].decode('ascii', 'replace')}"
            )
        if frame[0] != kind or len(frame[1]) != size:
            raise LinkError(f"invalid frame: kind {frame[0]} of {len(frame[1])} bytes")
        return frame[1]

    def authenticate(self, key: bytes | None) -> tuple[bytes, int]:
        """Do the server's part of the handshake, but for the `welcome`.

        Args:
            key: The key; None before the first client.

        Returns:
            The key, and the number of bytes that the client has received.

        Raises:
            LinkError: The client does not know the key.
        """
        deadline = time.monotonic() + HANDSHAKE_S
        opened = self.expect(OPEN, 2 * KEY_SIZE, deadline)
        named, theirs = opened[:KEY_SIZE], opened[KEY_SIZE:]
        if key is None or hmac.compare_digest(key, named):
            key = named
        else:
            self.stream = named
        own = os.urandom(KEY_SIZE)
        self.send(CHALLENGE, own + _proof(key, b"server", theirs, own))
        answer = self.expect(PROOF, KEY_SIZE + _COUNT.size, deadline)
        if not hmac.compare_digest(answer[:KEY_SIZE], _proof(key, b"client", own, theirs)):
            raise LinkError("the client does not know the key")
        return key, int(_COUNT.unpack(answer[KEY_SIZE:])[0])

    def welcome(self, received: int) -> None:
        """End the server's part of the handshake."""
        self.send(WELCOME, _COUNT.pack(received))

    def introduce(
        self, key: bytes, received: int, *, is_first: bool, stream: bytes = NO_STREAM
    ) -> int:
        """Do the client's part of the handshake; return the bytes that the server has received.

        Args:
            key: The key.
            received: Number of bytes that have been received in all.
            is_first: Whether the server may not have the key yet.
            stream: Stream that is wanted, of a server with several.

        Raises:
            LinkError: The other end does not know the key, or does not answer.
        """
        deadline = time.monotonic() + HANDSHAKE_S
        own = os.urandom(KEY_SIZE)
        self.send(OPEN, (key if is_first else stream) + own)
        answer = self.expect(CHALLENGE, 2 * KEY_SIZE, deadline)
        theirs = answer[:KEY_SIZE]
        if not hmac.compare_digest(answer[KEY_SIZE:], _proof(key, b"server", own, theirs)):
            raise LinkError("the other end does not know the key")
        self.send(PROOF, _proof(key, b"client", theirs, own) + _COUNT.pack(received))
        welcome = self.expect(WELCOME, _COUNT.size, deadline)
        return int(_COUNT.unpack(welcome)[0])


class ResumableStream:
    """One end of the byte stream: what is written to a local socket arrives at the other end's.

    Args:
        local: The local socket.
        is_left: Returns whether `run` is to return; asked after each `wake`.
    """

    def __init__(self, local: socket.socket, is_left: Callable[[], bool]) -> None:
        local.setblocking(False)
        self._is_left = is_left
        self._local = local
        self._local_open = True
        self._kept = bytearray()
        self._base = 0
        """Number of the first kept byte."""
        self._next = 0
        """Number of the next byte to send over the present connection."""
        self._arrived = bytearray()
        self._acknowledged = 0
        """Number of the byte up to which all were acknowledged."""
        self._heard = self._sent = 0.0
        self.received = 0
        """Number of bytes received in all."""
        self.ended = False
        """Whether either end has ended the stream."""
        self.ended_by_peer = False
        """Whether the other end did."""
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def wake(self) -> None:
        """Have `run` ask whether it is left. Any thread may call this."""
        with contextlib.suppress(OSError):  # it is full, or closed
            os.write(self._wake_write, b"+")

    def close(self) -> None:
        """Close the local socket; `run` may not be called again."""
        self._local.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def run(self, framed: FramedConnection, passed_on: int) -> None:
        """Carry the stream over one connection, until that is cut or left, or the stream ends.

        Args:
            framed: The connection, after its handshake.
            passed_on: Number of bytes that the other end has received in all.

        Raises:
            LinkError: The other end breaks the rules.
            OSError: The connection was cut.
        """
        self._drop(passed_on)
        self._next = passed_on
        self._heard = self._sent = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_read, _READ)
            # What came with the handshake is there already.
            while not self._is_left() and self._take(framed):
                self._pass_on()
                self._send_kept(framed)
                if not self._local_open and self._next == self._base + len(self._kept):
                    framed.send(END, acknowledged=self._passed_on)
                    self.ended = True
                    return
                self._watch(selector, framed.connection)
                timeout = min(self._sent + BEAT_S, self._heard + SILENCE_S) - time.monotonic()
                for key, events in selector.select(max(0.0, timeout)):
                    if key.fd == self._wake_read:
                        os.read(self._wake_read, 4096)
                    elif key.fileobj is self._local:
                        if events & _READ:
                            self._read_local()
                    elif not self._serve(framed, events):
                        return
                if len(self._arrived) >= WINDOW:
                    # Nothing is read, as the local reader is slow: that is not the other's silence.
                    self._heard = time.monotonic()
                elif time.monotonic() - self._heard >= SILENCE_S:
                    return

    def _serve(self, framed: FramedConnection, events: int) -> bool:
        """Serve the connection; return False if it has ended."""
        if events & _WRITE:
            framed.connection.flush()
        if events & _READ:
            self._heard = time.monotonic()
            return framed.receive()
        return True

    @property
    def _passed_on(self) -> int:
        return self.received - len(self._arrived)

    def _watch(self, selector: selectors.BaseSelector, connection: Connection) -> None:
        reads = self._local_open and len(self._kept) < WINDOW
        wanted = (
            (self._local, (_READ if reads else 0) | (_WRITE if self._arrived else 0)),
            (
                connection,
                (_READ if len(self._arrived) < WINDOW else 0)
                | (_WRITE if connection.waiting else 0),
            ),
        )
        for end, events in wanted:
            known = selector.get_map().get(end)
            if known is None:
                if events:
                    selector.register(end, events)
            elif not events:
                selector.unregister(end)
            elif known.events != events:
                selector.modify(end, events)

    def _read_local(self) -> None:
        try:
            data = self._local.recv(_MOST_FRAME)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._kept += data
        self._local_open = bool(data)

    def _pass_on(self) -> None:
        while self._arrived:
            try:
                sent = self._local.send(self._arrived)
            except BlockingIOError:
                return
            except OSError:
                self._arrived.clear()
                self._local_open = False
                return
            del self._arrived[:sent]

    def _send_kept(self, framed: FramedConnection) -> None:
        """Send what may be sent, or that this end is alive."""
        while framed.connection.waiting < _MOST_QUEUED:
            start = self._next - self._base
            piece = bytes(memoryview(self._kept)[start : start + _CHUNK])
            if not piece:
                break
            self._send(framed, DATA, piece)
            self._next += len(piece)
        is_owed = self._passed_on - self._acknowledged >= WINDOW // 8
        if is_owed or time.monotonic() - self._sent >= BEAT_S:
            self._send(framed, BEAT)

    def _send(self, framed: FramedConnection, kind: int, payload: bytes = b"") -> None:
        framed.send(kind, payload, self._passed_on)
        self._acknowledged = self._passed_on
        self._sent = time.monotonic()

    def _take(self, framed: FramedConnection) -> bool:
        """Take the frames that have arrived; return False if the stream has ended with them."""
        while (frame := framed.take()) is not None:
            kind, payload, acknowledged = frame
            if kind in (DATA, BEAT, END):
                self._drop(acknowledged, known=True)
            else:
                raise LinkError(f"invalid frame: kind {kind}")
            self._arrived += payload
            self.received += len(payload)
            if kind == END:
                self._pass_on()
                self.ended = self.ended_by_peer = True
                return False
        return True

    def _drop(self, passed_on: int, *, known: bool = False) -> None:
        """Forget the bytes that the other end has.

        Args:
            passed_on: Number of bytes that it has.
            known: Whether a smaller number than before is ignored instead.
        """
        if known and passed_on < self._base:
            return
        if not self._base <= passed_on <= self._base + len(self._kept):
            raise LinkError("the other end counts bytes that were never sent")
        del self._kept[: passed_on - self._base]
        self._base = passed_on
        self._next = max(self._next, passed_on)
