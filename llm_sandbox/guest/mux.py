"""Multiplexer of a control connection and its descriptors over one byte stream.

The byte stream is, for example, a container's standard input and output. Both ends run the same
`Multiplexer`. Its local side is a control connection: a record with descriptors is sent as a record
with stream numbers, and becomes a record with descriptors again at the other end, where pipes and
sockets of the same kinds are their counterparts. Bytes that are read from one are written to its
counterpart, until their end.

A frame is ``u8 kind | u32 stream | u32 size`` and `size` bytes, little endian:

    control  ``u8 count | (u8 kind | u32 stream) * count | JSON``: a record
    data     bytes of a stream
    end      no more bytes follow
    gone     the bytes have no reader any more
    credit   ``u32``: so many bytes have been read, and as many more may be sent

A sender may be `WINDOW` bytes ahead of its receiver on every stream, so that a stream without a
reader blocks its writer and no other.

Streams are independent, except for a socket and the pipes that were passed in one record with it:
bytes that were written to the pipes before others were written to the socket arrive before them. So
a kernel's reply follows all output of its cell.
"""

from __future__ import annotations

import collections
import json
import os
import select
import selectors
import socket
import struct
import time

from . import descriptors
from .control import ControlChannel
from .descriptors import BOTH, FROM_PEER, NULL, TO_PEER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class Transport(Protocol):
        """The byte stream that a multiplexer runs over. Both descriptors are non-blocking."""

        reads_from: int
        writes_to: int

        def receive(self) -> bytes | None:
            """Return the bytes that have arrived, maybe none yet; None at the end."""

        def send(self, pieces: Sequence[bytes | memoryview]) -> int:
            """Send some of the bytes and return how many.

            Raises:
                BlockingIOError: None can be sent now.
            """


CONTROL, DATA, END, GONE, CREDIT = range(5)
_HEADER = struct.Struct("<BII")
_PASSED = struct.Struct("<BI")
_NUMBER = struct.Struct("<I")
_CHUNK = 1 << 16
_TRANSPORT_CHUNK = 1 << 18
_MOST_FRAME = 64 << 20
_MOST_WAITING = 4 << 20
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class ProtocolError(Exception):
    """Violation of the protocol by the peer."""


_DRAIN_S = 5.0

WINDOW = 1 << 20
"""Bytes that a sender may be ahead of its receiver, on each stream."""


class Stream:
    """One descriptor with its pending data.

    Attributes:
        pending: Data that has arrived and is not written yet, with its sequence in `arrivals`.
        pipes: Of a socket: the pipes that precede it.
        socket: Of a pipe: the socket that follows it.
        owed: Of a socket: the bytes that each pipe held when the socket became readable.
    """

    def __init__(self, number: int, fd: int, kind: int, credit: int) -> None:
        os.set_blocking(fd, False)
        self.number, self.fd = number, fd
        self.is_socket = kind == BOTH
        self.reading = kind in (TO_PEER, BOTH)
        self.writing = kind in (FROM_PEER, BOTH)
        self.credit = credit
        self.pending: collections.deque[memoryview] = collections.deque()
        self.arrivals: collections.deque[int] = collections.deque()
        self.pending_bytes = 0
        self.taken = 0
        self.pipes: list[Stream] = []
        self.socket: Stream | None = None
        self.owed: dict[Stream, int] = {}
        self.ending = False
        self.interest = 0


def order_after_pipes(streams: list[Stream]) -> None:
    """Order a socket after the pipes that were passed with it."""
    sockets = [stream for stream in streams if stream.is_socket]
    if len(sockets) == 1:
        sockets[0].pipes = [stream for stream in streams if not stream.is_socket]
        for pipe in sockets[0].pipes:
            pipe.socket = sockets[0]


def must_wait(stream: Stream) -> bool:
    """Return whether pending data of a socket has arrived after pending data of its pipes."""
    return any(pipe.arrivals and pipe.arrivals[0] < stream.arrivals[0] for pipe in stream.pipes)


def drain(streams: Iterable[Stream]) -> None:
    """Write all pending data, for readers that remain after the end of the connection."""
    deadline = time.monotonic() + _DRAIN_S
    waiting = {stream.fd: stream for stream in streams if stream.pending}
    while waiting and (left := deadline - time.monotonic()) > 0:
        for fd in select.select([], list(waiting), [], left)[1]:
            stream = waiting[fd]
            try:
                sent = os.write(fd, stream.pending[0])
            except OSError:
                del waiting[fd]
                continue
            stream.pending[0] = stream.pending[0][sent:]
            if not stream.pending[0]:
                stream.pending.popleft()
            if not stream.pending:
                del waiting[fd]


class StdioTransport:
    """Byte stream over standard input and output."""

    def __init__(self, reads_from: int, writes_to: int) -> None:
        self.reads_from, self.writes_to = reads_from, writes_to
        os.set_blocking(reads_from, False)
        os.set_blocking(writes_to, False)

    def receive(self) -> bytes | None:
        try:
            return os.read(self.reads_from, _TRANSPORT_CHUNK) or None
        except BlockingIOError:
            return b""

    def send(self, pieces: Sequence[bytes | memoryview]) -> int:
        return os.writev(self.writes_to, pieces)


class Multiplexer:
    """Relay between a control connection and the byte stream, in one thread.

    Args:
        transport: The byte stream.
        control: The local control connection.
        serves: Whether the peer may pass descriptors: true at the supervisor's end; the host
            accepts none from a sandbox.
        window: Bytes that a sender may be ahead of its receiver, on each stream; the same at both
            ends.
        most_waiting: Bytes that may wait for the reader of a stream here; a peer that sends more
            ends the connection.
    """

    def __init__(
        self,
        transport: Transport,
        control: ControlChannel,
        *,
        serves: bool,
        window: int = WINDOW,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self._transport = transport
        self._control = control
        self._serves = serves
        self._window = window
        self._most_waiting = most_waiting
        self._selector = selectors.DefaultSelector()
        self._streams: dict[int, Stream] = {}
        self._last = 0
        self._arrived = 0
        self._inbox = bytearray()
        self._outbox: collections.deque[memoryview] = collections.deque()
        self._outbox_bytes = 0
        self._out_interest = 0
        self._paused = False

    def run(self) -> None:
        """Relay until either side hangs up, and close every stream.

        Raises:
            ProtocolError: The peer violates the protocol.
        """
        transport = self._transport
        self._selector.register(transport.reads_from, _READ)
        self._selector.register(self._control, _READ)
        try:
            while True:
                for key, events in self._selector.select():
                    if key.fd == transport.reads_from and events & _READ:
                        data = transport.receive()
                        if data is None:
                            return
                        if data:
                            self._take(data)
                    elif key.fileobj is self._control:
                        if not self._serve_control():
                            return
                    elif key.data is not None:
                        self._serve_stream(key.data, events)
                    if key.fd == transport.writes_to and events & _WRITE:
                        self._flush()
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self._close_streams()
            self._control.close()
            self._selector.close()

    def _close_streams(self) -> None:
        """Close every stream at the end of the connection."""
        drain(self._streams.values())
        for stream in self._streams.values():
            os.close(stream.fd)

    # --- to the peer

    def _serve_control(self) -> bool:
        while True:
            record = self._control.receive()
            if record is None:
                return False
            message, fds = record
            passed, streams = [], []
            for fd in fds:
                kind = descriptors.kind_of(fd)
                self._last += 1
                passed.append(_PASSED.pack(kind, self._last))
                if kind == NULL:
                    os.close(fd)
                else:
                    streams.append(self._add(self._last, fd, kind))
            order_after_pipes(streams)
            body = json.dumps(message).encode()
            self._send(CONTROL, 0, bytes([len(passed)]) + b"".join(passed) + body)
            if not self._control.pending():
                return True

    def _serve_stream(self, stream: Stream, events: int) -> None:
        if stream.number not in self._streams:
            return  # ended by an earlier event of the same round
        if events & _WRITE:
            self._write(stream)
        if events & _READ and stream.reading and stream.credit and not self._paused:
            if stream.pipes:
                self._read_pipes(stream)
            if not stream.owed:
                self._read(stream)
        self._update(stream)

    def _read(self, stream: Stream) -> int:
        """Read a chunk of a stream and send it; return its size."""
        has_failed = False
        try:
            data = os.read(stream.fd, min(_CHUNK, stream.credit))
        except BlockingIOError:
            return 0
        except OSError:
            data, has_failed = b"", True
        if data:
            stream.credit -= len(data)
            self._send(DATA, stream.number, data)
        else:
            stream.reading = False
            self._send_end(stream, has_failed=has_failed)
        if stream.socket is not None:
            self._reduce_owed(stream.socket, stream, len(data))
        return len(data)

    def _send_end(self, stream: Stream, *, has_failed: bool) -> None:
        """Tell the peer that no more bytes follow."""
        self._send(END, stream.number)

    def _read_pipes(self, stream: Stream) -> None:
        """Send the contents of a socket's pipes, as credit allows, before the socket is read."""
        for pipe in stream.pipes:
            if not pipe.reading:
                continue
            held = descriptors.held_by(pipe.fd)
            if held:
                stream.owed[pipe] = held
            while pipe in stream.owed and pipe.credit and self._read(pipe):
                pass
            self._update(pipe)

    def _reduce_owed(self, stream: Stream, pipe: Stream, size: int) -> None:
        """Reduce the bytes of a pipe for which its socket waits."""
        left = stream.owed.get(pipe, 0) - size
        if left > 0 and pipe.reading:
            stream.owed[pipe] = left
        elif stream.owed.pop(pipe, None) is not None and stream.number in self._streams:
            self._watch(stream)

    def _send(self, kind: int, number: int, payload: bytes = b"") -> None:
        header = _HEADER.pack(kind, number, len(payload))
        pieces: list[bytes | memoryview] = [header, payload] if payload else [header]
        sent = 0
        if not self._outbox:
            try:
                sent = self._transport.send(pieces)
            except BlockingIOError:
                pass
        for piece in pieces:
            if sent < len(piece):
                self._outbox.append(memoryview(piece)[sent:])
                self._outbox_bytes += len(piece) - sent
            sent = max(0, sent - len(piece))
        if self._outbox:
            self._watch_output()

    def _flush(self) -> None:
        while self._outbox:
            pieces = [*self._outbox][:64]
            try:
                sent = self._transport.send(pieces)
            except BlockingIOError:
                break
            self._outbox_bytes -= sent
            while sent:
                first = self._outbox[0]
                if sent < len(first):
                    self._outbox[0] = first[sent:]
                    break
                sent -= len(first)
                self._outbox.popleft()
        self._watch_output()

    def _watch_output(self) -> None:
        transport = self._transport
        interest = _WRITE if self._outbox else 0
        if interest != self._out_interest:
            self._out_interest = interest
            if transport.writes_to == transport.reads_from:
                self._selector.modify(transport.reads_from, _READ | interest)
            elif interest:
                self._selector.register(transport.writes_to, _WRITE)
            else:
                self._selector.unregister(transport.writes_to)
        paused = self._outbox_bytes > _CHUNK
        if paused != self._paused:
            self._paused = paused
            for stream in list(self._streams.values()):
                self._watch(stream)

    # --- from the peer

    def _take(self, data: bytes) -> None:
        self._inbox += data
        start, inbox = 0, self._inbox
        while len(inbox) - start >= _HEADER.size:
            kind, number, size = _HEADER.unpack_from(inbox, start)
            if size > _MOST_FRAME:
                raise ProtocolError(f"invalid frame: {size} bytes, over the limit of {_MOST_FRAME}")
            end = start + _HEADER.size + size
            if len(inbox) < end:
                break
            self._handle(kind, number, bytes(memoryview(inbox)[start + _HEADER.size : end]))
            start = end
        if start:
            del self._inbox[:start]

    def _handle(self, kind: int, number: int, payload: bytes) -> None:
        if kind == CONTROL:
            self._receive_control(payload)
            return
        stream = self._streams.get(number)
        if stream is None:
            return  # ended here, before the peer knows
        if kind == DATA:
            self._receive_data(stream, payload)
        elif kind == END:
            stream.ending = True
        elif kind == GONE:
            stream.reading = False
        elif kind == CREDIT and len(payload) == _NUMBER.size:
            stream.credit += _NUMBER.unpack(payload)[0]
        else:
            raise ProtocolError(f"invalid frame: kind {kind}")
        self._update(stream)

    def _receive_control(self, payload: bytes) -> None:
        try:
            count = payload[0]
            body = 1 + count * _PASSED.size
            passed = [_PASSED.unpack_from(payload, 1 + i * _PASSED.size) for i in range(count)]
            message = json.loads(payload[body:])
        except (IndexError, ValueError, RecursionError, struct.error) as error:
            raise ProtocolError(f"invalid record: {error}") from None
        if passed and not self._serves:
            raise ProtocolError("invalid record: descriptors from inside")
        if not isinstance(message, dict):
            raise ProtocolError("invalid record: not a JSON object")
        before = set(self._streams)
        theirs = [self._make_counterpart(kind, number) for kind, number in passed]
        order_after_pipes(
            [stream for number, stream in self._streams.items() if number not in before]
        )
        try:
            self._control.send(message, theirs)
        finally:
            for fd in theirs:
                os.close(fd)

    def _make_counterpart(self, kind: int, number: int) -> int:
        """Make the counterpart of a descriptor of the peer, and return the end to pass on."""
        if kind == NULL:
            return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        if kind == BOTH:
            mine, theirs = (end.detach() for end in socket.socketpair())
            self._add(number, mine, BOTH)
        elif kind == TO_PEER:
            theirs, mine = descriptors.open_pipe()
            self._add(number, mine, FROM_PEER)
        else:
            mine, theirs = descriptors.open_pipe()
            self._add(number, mine, TO_PEER)
        return theirs

    def _receive_data(self, stream: Stream, payload: bytes) -> None:
        if not stream.writing:
            return
        if stream.pending_bytes + len(payload) > self._most_waiting:
            raise ProtocolError("more bytes than its credit allows")
        self._arrived += 1
        stream.pending.append(memoryview(payload))
        stream.arrivals.append(self._arrived)
        stream.pending_bytes += len(payload)
        self._write(stream)

    def _write(self, stream: Stream) -> None:
        while stream.pending and not must_wait(stream):
            try:
                sent = os.write(stream.fd, stream.pending[0])
            except BlockingIOError:
                break
            except OSError:
                stream.writing = False
                stream.pending.clear()
                stream.arrivals.clear()
                self._send(GONE, stream.number)
                break
            stream.pending_bytes -= sent
            stream.taken += sent
            if sent == len(stream.pending[0]):
                stream.pending.popleft()
                stream.arrivals.popleft()
            else:
                stream.pending[0] = stream.pending[0][sent:]
        after = stream.socket
        if after is not None and after.pending and after.number in self._streams:
            self._write(after)
            self._update(after)
        if stream.taken >= self._window // 4:
            self._send(CREDIT, stream.number, _NUMBER.pack(stream.taken))
            stream.taken = 0

    # --- streams

    def _add(self, number: int, fd: int, kind: int) -> Stream:
        stream = Stream(number, fd, kind, self._window)
        self._streams[number] = stream
        self._watch(stream)
        return stream

    def _update(self, stream: Stream) -> None:
        """Close a stream that has ended in both directions, else update its watched events."""
        if stream.ending and stream.writing and not stream.pending:
            stream.writing = False
            if stream.is_socket:
                descriptors.shut_down(stream.fd)
        if stream.reading or stream.writing:
            self._watch(stream)
            return
        if stream.interest:
            self._selector.unregister(stream.fd)
        del self._streams[stream.number]
        self._close(stream)

    def _close(self, stream: Stream) -> None:
        """Close a stream that has ended in both directions."""
        os.close(stream.fd)

    def _watch(self, stream: Stream) -> None:
        reads = stream.reading and stream.credit and not self._paused and not stream.owed
        writes = stream.pending and not must_wait(stream)
        interest = (_READ if reads else 0) | (_WRITE if writes else 0)
        if interest == stream.interest:
            return
        if not stream.interest:
            self._selector.register(stream.fd, interest, stream)
        elif interest:
            self._selector.modify(stream.fd, interest, stream)
        else:
            self._selector.unregister(stream.fd)
        stream.interest = interest
