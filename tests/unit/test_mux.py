"""The multiplexer: what is written to a descriptor that was passed comes out at the other end."""

import contextlib
import os
import select
import socket
import struct
import threading
import time

import pytest

from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.guest.mux import CONTROL, DATA, WINDOW, Multiplexer, ProtocolError, StdioTransport
from llm_sandbox.testing.suite import open_descriptors


class Pair:
    """Two multiplexers, joined by pipes, with a control connection at each end."""

    def __init__(self):
        to_guest, from_host = os.pipe()
        to_host, from_guest = os.pipe()
        self.host, far = map(ControlChannel, socket.socketpair())
        self.guest, near = map(ControlChannel, socket.socketpair())
        self.failures = []
        self.threads = [
            self._start(to_host, from_host, far, serves=False),
            self._start(to_guest, from_guest, near, serves=True),
        ]

    def _start(self, reads_from, writes_to, control, *, serves):
        def work():
            try:
                Multiplexer(StdioTransport(reads_from, writes_to), control, serves=serves).run()
            except ProtocolError as error:
                self.failures.append(error)
            finally:
                os.close(reads_from)
                os.close(writes_to)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def give(self, *fds):
        """Pass descriptors; returns those that came out at the other end."""
        self.host.send({"op": "give"}, fds)
        message, received = self.guest.receive()
        assert message == {"op": "give"}
        return received

    def close(self):
        self.host.close()
        self.guest.close()
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def pair():
    before = open_descriptors()
    made = Pair()
    yield made
    made.close()
    assert open_descriptors() == before
    assert made.failures == []


def write_until_broken(fd):
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        os.write(fd, b"x")
        time.sleep(0.01)


def read_all(fd):
    pieces = []
    while piece := os.read(fd, 1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def test_messages_pass_both_ways(pair):
    pair.host.send({"op": "a", "text": "ü" * 100_000})
    assert {"op": "a", "text": "ü" * 100_000} == pair.guest.receive()[0]
    pair.guest.send({"id": 1})
    assert {"id": 1} == pair.host.receive()[0]


def test_an_output_pipe(pair):
    near, far = os.pipe()
    (inside,) = pair.give(far)
    os.close(far)
    write_all(inside, b"out")
    assert b"out" == os.read(near, 100)
    os.close(inside)
    assert b"" == os.read(near, 100)
    os.close(near)


def test_an_input_pipe(pair):
    far, near = os.pipe()
    (inside,) = pair.give(far)
    os.close(far)
    write_all(near, b"in")
    assert b"in" == os.read(inside, 100)
    os.close(near)
    assert b"" == os.read(inside, 100)
    os.close(inside)


def test_a_socket_and_its_half_close(pair):
    near, far = socket.socketpair()
    (fd,) = pair.give(far.fileno())
    far.close()
    inside = socket.socket(fileno=fd)
    near.sendall(b"ping")
    assert b"ping" == inside.recv(100)
    near.shutdown(socket.SHUT_WR)
    assert b"" == inside.recv(100)
    inside.sendall(b"still")
    assert b"still" == near.recv(100)
    inside.close()
    assert b"" == near.recv(100)
    near.close()


def test_the_null_device(pair):
    null = os.open(os.devnull, os.O_RDONLY)
    (inside,) = pair.give(null)
    os.close(null)
    assert b"" == os.read(inside, 10)
    os.close(inside)


@pytest.mark.parametrize("size", [1, WINDOW - 1, WINDOW, WINDOW + 1, 20_000_000])
def test_bulk_arrives_whole(pair, size):
    near, far = os.pipe()
    (inside,) = pair.give(far)
    os.close(far)
    data = os.urandom(1 << 16) * (size // (1 << 16)) + os.urandom(size % (1 << 16))
    writer = threading.Thread(target=lambda: (write_all(inside, data), os.close(inside)))
    writer.start()
    assert data == read_all(near)
    writer.join()
    os.close(near)


def test_who_does_not_read_stops_its_writer_and_no_other(pair):
    idle, idle_far = os.pipe()
    busy, busy_far = os.pipe()
    stuck, free = pair.give(idle_far, busy_far)
    os.close(idle_far)
    os.close(busy_far)
    os.set_blocking(stuck, False)
    written = 0
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            written += os.write(stuck, bytes(1 << 16))
            continue
        if not select.select([], [stuck], [], 0.3)[1]:
            break
    # The window, and what the pipes at both ends hold.
    assert WINDOW <= written <= WINDOW + (4 << 16)
    write_all(free, b"through")
    assert b"through" == os.read(busy, 100)
    for fd in (idle, busy, stuck, free):
        os.close(fd)


def test_a_reader_that_is_gone_is_noticed(pair):
    near, far = os.pipe()
    (inside,) = pair.give(far)
    os.close(far)
    os.close(near)
    with pytest.raises(BrokenPipeError):
        write_until_broken(inside)
    os.close(inside)


def test_hanging_up_closes_everything(pair):
    near, far = socket.socketpair()
    (fd,) = pair.give(far.fileno())
    far.close()
    pair.host.socket.shutdown(socket.SHUT_RDWR)
    inside = socket.socket(fileno=fd)
    inside.settimeout(5)
    assert b"" == inside.recv(10)
    near.settimeout(5)
    assert b"" == near.recv(10)
    assert pair.guest.receive() is None
    inside.close()
    near.close()


def test_what_had_arrived_is_handed_over_when_the_peer_is_gone():
    to_host, from_guest = os.pipe()
    unused, to_guest = os.pipe()
    host, far = map(ControlChannel, socket.socketpair())
    near, out = os.pipe()
    mux = Multiplexer(StdioTransport(to_host, to_guest), far, serves=False)
    thread = threading.Thread(target=mux.run, daemon=True)
    thread.start()
    host.send({"op": "give"}, [out])
    os.close(out)
    assert b'"give"' in os.read(unused, 1000)
    data = b"y" * 500_000  # more than a pipe holds
    write_all(from_guest, struct.pack("<BII", DATA, 1, len(data)) + data)
    os.close(from_guest)
    time.sleep(0.2)
    assert data == read_all(near)
    thread.join(10)
    for fd in (near, to_host, to_guest, unused):
        os.close(fd)
    host.close()


@pytest.mark.parametrize("size", [100, 60_000, WINDOW + 500_000, 3_000_000])
def test_a_socket_comes_after_the_pipes_that_were_passed_with_it(pair, size):
    near, far = socket.socketpair()
    out, out_far = os.pipe()
    err, err_far = os.pipe()
    fds = pair.give(far.fileno(), out_far, err_far)
    far.close()
    os.close(out_far)
    os.close(err_far)
    reply, ours = socket.socket(fileno=fds[0]), fds[1:]
    for number in range(3):

        def cell():
            write_all(ours[0], b"o" * size)
            write_all(ours[1], b"e" * size)
            reply.sendall(b"done")

        thread = threading.Thread(target=cell)
        thread.start()
        counts = {out: 0, err: 0}
        # Whoever reads late is the one that would be overtaken.
        time.sleep(0.05 * number)
        while True:
            ready = select.select([out, err, near], [], [], 10)[0]
            if near in ready:
                break
            for fd in ready:
                counts[fd] += len(os.read(fd, 1 << 16))
        for fd in counts:
            while select.select([fd], [], [], 0)[0]:
                counts[fd] += len(os.read(fd, 1 << 16))
        assert b"done" == near.recv(100)
        assert {out: size, err: size} == counts
        thread.join()
    for fd in (out, err, *ours):
        os.close(fd)
    near.close()
    reply.close()


def test_a_pipe_that_never_stops_holds_no_socket_up(pair):
    near, far = socket.socketpair()
    out, out_far = os.pipe()
    fds = pair.give(far.fileno(), out_far)
    far.close()
    os.close(out_far)
    reply = socket.socket(fileno=fds[0])
    stop = threading.Event()

    def flood():
        with contextlib.suppress(BrokenPipeError):
            while not stop.is_set():
                os.write(fds[1], b"z" * 4096)

    def read():
        while not stop.is_set():
            if select.select([out], [], [], 0.1)[0]:
                os.read(out, 1 << 16)

    threads = [threading.Thread(target=flood), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    near.settimeout(10)
    for _ in range(20):
        reply.sendall(b"tick")
        assert b"tick" == near.recv(100)
    stop.set()
    threads[1].join(10)
    os.close(out)
    threads[0].join(10)
    os.close(fds[1])
    near.close()
    reply.close()


@pytest.mark.redteam
@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("a frame of 1 GiB", struct.pack("<BII", DATA, 1, 1 << 30)),
        ("a descriptor from inside", struct.pack("<BII", CONTROL, 0, 8) + b"\x01\x01\x01\0\0\0{}"),
        ("an unknown kind", struct.pack("<BII", 9, 1, 0)),
        ("credit of a wrong size", struct.pack("<BII", 4, 1, 1) + b"x"),
        ("no JSON", struct.pack("<BII", CONTROL, 0, 2) + b"\0{"),
        ("a list for an object", struct.pack("<BII", CONTROL, 0, 3) + b"\0[]"),
        ("a cut record", struct.pack("<BII", CONTROL, 0, 3) + b"\x01{}"),
        ("deep JSON", struct.pack("<BII", CONTROL, 0, 100_001) + b"\0" + b"[" * 100_000),
        ("an empty record", struct.pack("<BII", CONTROL, 0, 0)),
        (
            "more than was asked for",
            b"".join(struct.pack("<BII", DATA, 1, 1 << 20) + bytes(1 << 20) for _ in range(6)),
        ),
    ],
)
def test_a_peer_that_breaks_the_protocol_is_hung_up_on(name, frame):
    to_host, from_guest = os.pipe()
    unused, to_guest = os.pipe()
    host, far = map(ControlChannel, socket.socketpair())
    near, out = os.pipe()
    failures = []

    def work():
        try:
            Multiplexer(StdioTransport(to_host, to_guest), far, serves=False).run()
        except ProtocolError as error:
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    host.send({"op": "give"}, [out])
    os.close(out)
    os.read(unused, 1000)
    # The control: a frame that keeps to the protocol is taken.
    write_all(from_guest, struct.pack("<BII", DATA, 1, 2) + b"ok")
    assert b"ok" == os.read(near, 10)
    os.set_blocking(from_guest, False)
    left = memoryview(frame)
    deadline = time.monotonic() + 10
    while left and thread.is_alive() and time.monotonic() < deadline:
        try:
            left = left[os.write(from_guest, left) :]
        except BlockingIOError:
            time.sleep(0.01)
    thread.join(10)
    assert not thread.is_alive(), name
    assert len(failures) == 1
    assert host.receive() is None
    for fd in (near, to_host, to_guest, unused, from_guest):
        os.close(fd)
    host.close()
