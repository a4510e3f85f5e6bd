"""Gate: its connections, its changes of rules, and its end."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from llm_sandbox.exceptions import BackendUnavailableError, ContainerGoneError, UnsupportedError
from llm_sandbox.network import NetworkRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.egress.conftest import World
    from tests.egress.namespaces import Namespace

    OpenGate = Callable[..., Gate]

WAIT_S = 30.0
ROOT = Path(__file__).parents[2]


def connect(sandbox: Namespace, address: str, port: int = 80) -> socket.socket:
    """A connection from inside, held by the test."""
    sock = sandbox.call(lambda: socket.create_connection((address, port), WAIT_S))
    sock.settimeout(WAIT_S)
    return sock


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def read_all(sock: socket.socket) -> bytes:
    with sock.makefile("rb") as reader:
        return reader.read()


def test_bytes_arrive_as_they_were_sent(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """Both ways, in order, and each side's end is told apart from the other's."""
    sent = os.urandom(1 << 16) * 100

    def count(sock: socket.socket) -> None:
        digest = hashlib.sha256()
        while data := sock.recv(1 << 20):
            digest.update(data)
        # Its own side is open still, though the other has ended.
        sock.sendall(digest.digest() + sent)

    gate = open_gate(NetworkRules.allow(cidrs=["8.8.8.8"]))
    port = world.internet.serve("8.8.8.8", 0, count)
    with connect(sandbox, "8.8.8.8", port) as sock:
        sock.sendall(sent)
        sock.shutdown(socket.SHUT_WR)
        received = read_all(sock)
    assert received == hashlib.sha256(sent).digest() + sent
    until(lambda: gate.stats().open == 0)
    stats = gate.stats()
    assert (stats.bytes_out, stats.bytes_in) == (len(sent), len(received))
    assert (stats.carried, stats.denied) == (1, 0)


def test_the_server_may_speak_first_and_end_first(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """As in SSH and SMTP; nothing is waited for to look at."""
    heard: list[bytes] = []

    def greet(sock: socket.socket) -> None:
        sock.sendall(b"220 ready\r\n")
        sock.shutdown(socket.SHUT_WR)
        heard.append(read_all(sock))

    world.services.answers["mail.example"] = ["8.8.8.8"]
    port = world.internet.serve("8.8.8.8", 0, greet)
    gate = open_gate(
        NetworkRules.allow(domains=["mail.example"], hosts={"mail.example": "8.8.8.8"})
    )
    address = look_up(sandbox, "mail.example")
    with connect(sandbox, address, port) as sock:
        assert read_all(sock) == b"220 ready\r\n"
        sock.sendall(b"late")
    until(lambda: heard == [b"late"])
    assert gate.stats().names == 1


def look_up(sandbox: Namespace, name: str) -> str:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    with sandbox.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as line:
        line.settimeout(WAIT_S)
        line.connect(("10.0.0.1", 53))
        line.send(struct.pack(">HHHHHH", 1, 256, 1, 0, 0, 0) + labels + b"\0\0\1\0\1")
        answer = line.recv(512)
        assert answer[3] & 15 == 0
        return socket.inet_ntoa(answer[-4:])


def test_a_slow_reader_stops_its_sender_and_nobody_else(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """Memory stays where it was, however much is sent."""
    sent = [0]

    def flood(sock: socket.socket) -> None:
        block = bytes(1 << 20)
        while True:
            sent[0] += sock.send(block)

    gate = open_gate(NetworkRules.allow(cidrs=["8.8.8.8"]))
    port = world.internet.serve("8.8.8.8", 0, flood)
    with connect(sandbox, "8.8.8.8", port):
        stopped = -1
        while stopped != sent[0]:
            stopped = sent[0]
            time.sleep(0.5)
        assert 0 < sent[0] < 64 << 20
        with connect(sandbox, "8.8.8.8") as other:
            assert other.recv(100).startswith(b"reached")
        status = Path(f"/proc/{gate.pid}/status").read_text()
        assert int(status.split("VmRSS:")[1].split()[0]) < 64 << 10


def test_an_error_is_an_error_on_both_sides(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    failed = threading.Event()

    def wait(sock: socket.socket) -> None:
        try:
            sock.recv(1)
        except ConnectionResetError:
            failed.set()

    def fail(sock: socket.socket) -> None:
        sock.recv(1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    gate = open_gate(NetworkRules.allow(cidrs=["8.8.8.8"]))
    waiting, failing = (world.internet.serve("8.8.8.8", 0, handle) for handle in (wait, fail))
    sock = connect(sandbox, "8.8.8.8", waiting)
    until(lambda: gate.stats().carried == 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()
    assert failed.wait(WAIT_S)
    with connect(sandbox, "8.8.8.8", failing) as sock:
        sock.sendall(b"x")
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
    with pytest.raises(ConnectionResetError), connect(sandbox, "8.8.8.8", 9) as sock:
        sock.recv(1)
    event = gate.events()[-1]
    assert (event.verdict, event.reason, event.port) == ("failed", "not_reached", 9)


def test_new_rules_cut_what_they_do_not_allow(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    gate = open_gate(NetworkRules.internet())
    with connect(sandbox, "8.8.8.8") as kept, connect(sandbox, "8.8.4.4") as cut:
        for sock in (kept, cut):
            assert sock.recv(100).startswith(b"reached")
        assert gate.update(NetworkRules.allow(cidrs=["8.8.8.0/24"])) == 1
        with pytest.raises(ConnectionResetError):
            cut.recv(1)
        kept.sendall(b"still")
        assert kept.recv(100) == b"still"
        before = gate.stats().last_event
        with pytest.raises(ConnectionResetError), connect(sandbox, "8.8.4.4") as refused:
            refused.recv(1)
        event = gate.events(after=before)[0]
        assert (event.reason, event.address, event.port) == ("address_not_listed", "8.8.4.4", 80)
        assert "cidrs=['8.8.4.4']" in event.hint
        assert gate.events()[0].reason == "rules_changed"
        gate.update(NetworkRules.internet())
    with connect(sandbox, "8.8.4.4") as sock:
        assert sock.recv(100) == b"reached 8.8.4.4\n"


def test_what_is_tried_a_thousand_times_is_one_event(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    gate = open_gate(NetworkRules())
    for _ in range(50):
        with contextlib.suppress(ConnectionResetError), connect(sandbox, "8.8.8.8") as sock:
            sock.recv(1)
    until(lambda: gate.stats().denied == 50)
    (event,) = gate.events()
    assert (event.count, event.number) == (50, 50)


def test_a_program_inside_reaches_its_own_servers(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    gate = open_gate(NetworkRules())
    with (
        sandbox.call(lambda: socket.create_server(("127.0.0.1", 8000))) as server,
        connect(sandbox, "127.0.0.1", 8000) as client,
    ):
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"hello")
            assert accepted.recv(100) == b"hello"
    assert gate.events() == ()


def test_it_ends_with_its_owner_and_gives_everything_back(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    gate = open_gate(NetworkRules.internet())
    pid = gate.pid
    with connect(sandbox, "8.8.8.8") as sock:
        sock.recv(100)
        gate.close()
        # What is cut off does not look as if it were complete.
        with pytest.raises(ConnectionResetError):
            sock.recv(1)
    gate.close()
    assert not Path(f"/proc/{pid}").exists()
    assert not gate.alive
    # The server's end of the connection is this process's, too.
    until(lambda: len(os.listdir("/proc/self/fd")) == descriptors)  # noqa: PTH208
    with pytest.raises(ConnectionRefusedError):
        connect(sandbox, "8.8.8.8")
    with pytest.raises(ContainerGoneError, match="closed"):
        gate.update(NetworkRules())


_OWNER = """
import sys
from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from llm_sandbox.network import NetworkRules
gate = Gate.start(open_netns_sockets(int(sys.argv[1]), NetworkRules()), NetworkRules())
print(gate.pid, flush=True)
sys.stdin.read()
"""


def test_it_ends_with_an_owner_that_is_killed(world: World, sandbox: Namespace) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(sandbox.holder.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    owner.kill()
    owner.communicate()
    until(lambda: not _runs(pid))
    with pytest.raises(ConnectionRefusedError):
        connect(sandbox, "8.8.8.8")


def _runs(pid: int) -> bool:
    """Whether a process is there; whoever inherits it may take its time to reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_it_gives_up_its_privileges(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    gate = open_gate(NetworkRules())
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{gate.pid}/status").read_text().splitlines()
    )
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert min(map(int, status["Uid"].split())) >= 1_700_000_000
    limits = Path(f"/proc/{gate.pid}/limits").read_text()
    soft, hard = limits.split("Max open files")[1].split()[:2]
    assert int(soft) >= min(int(hard), 6000)


def test_what_cannot_be_planted_is_refused(world: World, sandbox: Namespace) -> None:
    with pytest.raises(BackendUnavailableError, match="in the network of the host"):
        open_netns_sockets(os.getpid(), NetworkRules.internet())
    with pytest.raises(BackendUnavailableError, match="interface far"):
        open_netns_sockets(world.far.holder.pid, NetworkRules.internet())
    with pytest.raises(UnsupportedError, match="nf_tables"):
        open_netns_sockets(sandbox.holder.pid, NetworkRules.internet(), redirect=False)
    sockets = open_netns_sockets(
        sandbox.holder.pid, NetworkRules.internet(ports=[80]), redirect=False
    )
    with Gate.start(sockets, NetworkRules.internet(ports=[80])) as gate:
        assert gate.update(NetworkRules.allow(cidrs=["8.8.8.8:80"])) == 0
        with pytest.raises(UnsupportedError, match="other ports"):
            gate.update(NetworkRules.internet(ports=[80, 443]))


def test_sockets_that_nobody_serves_are_closed(sandbox: Namespace) -> None:
    with open_netns_sockets(sandbox.holder.pid, NetworkRules.internet()) as sockets:
        assert sockets.redirected
        connect(sandbox, "8.8.8.8").close()
    with pytest.raises(ConnectionRefusedError):
        connect(sandbox, "8.8.8.8")
