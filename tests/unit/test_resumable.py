"""The byte stream of a pod, over sockets of this process that are cut."""

from __future__ import annotations

import contextlib
import random
import select
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.guest import resumable
from llm_sandbox.guest.resumable import (
    KEY_SIZE,
    FramedConnection,
    LinkError,
    ResumableStream,
    SocketConnection,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = bytes(range(KEY_SIZE))


class Ends:
    """Both ends of a stream, and the connections between them."""

    def __init__(self) -> None:
        self.client, client_local = socket.socketpair()
        self.server, server_local = socket.socketpair()
        self.streams = [ResumableStream(end, lambda: False) for end in (client_local, server_local)]
        self.connections = 0

    def connect(self, cut_after: Callable[[], int | None]) -> None:
        """Carry the stream over one connection, which is cut after a number of bytes."""
        client, relay_in = socket.socketpair()
        relay_out, server = socket.socketpair()
        self.connections += 1
        threads = [
            threading.Thread(target=self._carry, args=(0, client)),
            threading.Thread(target=self._carry, args=(1, server)),
        ]
        for thread in threads:
            thread.start()
        _relay(relay_in, relay_out, cut_after())
        for thread in threads:
            thread.join()

    def _carry(self, number: int, sock: socket.socket) -> None:
        stream, framed = self.streams[number], FramedConnection(SocketConnection(sock))
        with contextlib.suppress(LinkError, OSError), sock:
            if number == 0:
                passed_on = framed.introduce(KEY, stream.received, is_first=self.connections == 1)
            else:
                _, passed_on = framed.authenticate(KEY)
                framed.welcome(stream.received)
            stream.run(framed, passed_on)

    def close(self) -> None:
        for stream in self.streams:
            stream.close()
        self.client.close()
        self.server.close()


def _relay(one: socket.socket, other: socket.socket, limit: int | None) -> None:
    """Copy between two sockets, and close both at an end, after `limit` bytes or in a pause."""
    with one, other:
        while limit is None or limit > 0:
            ready, _, _ = select.select([one, other], [], [], 0.2 if limit else 20)
            if not ready:
                return
            source = ready[0]
            with contextlib.suppress(OSError):
                data = source.recv(1 << 14 if limit is None else min(limit, 1 << 14))
                if not data:
                    return
                (other if source is one else one).sendall(data)
                limit = None if limit is None else limit - len(data)
                continue
            return


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.close()


def _send(sock: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):  # it is closed first
        sock.sendall(data)


def _read_all(sock: socket.socket, into: bytearray) -> None:
    while data := sock.recv(1 << 16):
        into += data


@pytest.mark.parametrize("seed", range(8))
def test_no_cut_loses_or_doubles_a_byte(ends: Ends, seed: int) -> None:
    chance = random.Random(seed)
    up, down = chance.randbytes(300_000), chance.randbytes(500_000)
    arrived_up, arrived_down = bytearray(), bytearray()
    threads = [
        threading.Thread(target=ends.client.sendall, args=(up,)),
        threading.Thread(target=ends.server.sendall, args=(down,)),
        threading.Thread(target=_read_all, args=(ends.server, arrived_up)),
        threading.Thread(target=_read_all, args=(ends.client, arrived_down)),
    ]
    for thread in threads:
        thread.start()
    while len(arrived_up) < len(up) or len(arrived_down) < len(down):
        assert ends.connections < 500
        ends.connect(lambda: chance.randrange(1, 60_000))
    ends.client.shutdown(socket.SHUT_WR)
    while not all(stream.ended for stream in ends.streams):
        assert ends.connections < 500
        ends.connect(lambda: None)
    for stream in ends.streams:
        stream._local.close()
    for thread in threads:
        thread.join()
    assert up == bytes(arrived_up)
    assert down == bytes(arrived_down)
    assert ends.connections > 10


@pytest.mark.parametrize("reader_waits", [True, False])
def test_a_slow_reader_is_not_taken_for_a_cut(
    ends: Ends, monkeypatch: pytest.MonkeyPatch, reader_waits: bool
) -> None:
    """With a full window nothing is read; the control is an end that says nothing at all."""
    monkeypatch.setattr(resumable, "WINDOW", 1 << 16)
    monkeypatch.setattr(resumable, "SILENCE_S", 0.4)
    monkeypatch.setattr(resumable, "BEAT_S", 0.1 if reader_waits else 60.0)
    sending = threading.Thread(target=_send, args=(ends.server, bytes(2 << 20)))
    sending.start()
    carried = threading.Thread(target=ends.connect, args=(lambda: None,))
    carried.start()
    if not reader_waits:
        assert (2 << 20) == sum(len(ends.client.recv(1 << 16)) for _ in _until(2 << 20, ends))
    time.sleep(1.5)
    assert reader_waits is carried.is_alive()
    ends.client.close()
    ends.server.shutdown(socket.SHUT_RDWR)
    carried.join()
    sending.join()


def _until(size: int, ends: Ends) -> Iterator[None]:
    """Yield while the client has more than nothing to read."""
    ends.client.settimeout(0.3)
    with contextlib.suppress(TimeoutError):
        while ends.client.recv(1, socket.MSG_PEEK):
            yield


def test_whoever_lacks_the_key_is_refused() -> None:
    near, far = socket.socketpair()
    with near, far:
        server = FramedConnection(SocketConnection(near))
        client = FramedConnection(SocketConnection(far))
        client.send(resumable.OPEN, bytes(2 * KEY_SIZE))
        answer = threading.Thread(target=client.send, args=(resumable.PROOF, bytes(KEY_SIZE + 8)))
        answer.start()
        with pytest.raises(LinkError, match="does not know the key"):
            server.authenticate(KEY)
        answer.join()
