"""Reach of a sandbox with rules: the allowed hosts, and nothing when its gate is gone."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, UnsupportedError, ValidationError
from llm_sandbox.network import NetworkRules
from llm_sandbox.testing.suite import eventually
from tests.network.conftest import Host, lives, own_addresses, usable

if TYPE_CHECKING:
    from collections.abc import Iterator

INSIDE = (Path(__file__).parent / "inside.py").read_text()
NAME = "files.test"


def rules(host: Host, **more: Any) -> NetworkRules:
    """What allows the host's server by one name and on its port, and nothing else."""
    return NetworkRules.allow(hosts={NAME: "127.0.0.1"}, ports=[host.port], **more)


def tries(sandbox: Sandbox, *targets: list[object]) -> list[str]:
    """How each attempt ended in the sandbox."""
    done = sandbox.exec("python3", "-c", INSIDE, json.dumps(targets)).collect(timeout=90)
    assert done.exit_code == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.fixture
def sandbox(gated: str, host: Host) -> Iterator[Sandbox]:
    with Sandbox.create(backend=gated, network=rules(host)) as sandbox:
        yield sandbox


def test_rules_are_changed_and_held_until_the_gate_is_gone(sandbox: Sandbox, host: Host) -> None:
    """One sandbox through its life: an allowed name, other names and addresses, rules that change
    under it and cut what they no longer allow, and a gate that is killed.
    """
    reach = ["tcp", NAME, host.port]
    assert tries(sandbox, reach, ["tcp", "other.test", host.port], ["tcp", "192.0.2.7", 80]) == [
        "reached",
        "gaierror",
        "ConnectionResetError",
    ]
    events = sandbox.network_events()
    assert {(one.protocol, one.verdict, one.target) for one in events} == {
        ("dns", "denied", "other.test"),
        ("tcp", "denied", "192.0.2.7"),
    }
    assert "NetworkRules.allow(domains=['other.test'])" in events[0].hint
    assert sandbox.network_events(after=events[-1].number) == ()
    control = sandbox.isolation.controls["network"]
    assert (control.state, "rules" in control.by) == ("enforced", True)

    hold = (
        f"import socket\nc = socket.create_connection(('{NAME}', {host.port}))\n"
        "print(c.recv(100), flush=True)\n"
        "try: print(c.recv(100))\n"
        "except ConnectionResetError: print('cut')\n"
    )
    holding = sandbox.exec("python3", "-c", hold)
    assert next(iter(holding.stdout.lines())).startswith("b'hello")
    assert sandbox.set_network("blocked") >= 1
    ended = holding.collect(timeout=30)
    assert ended.stdout.splitlines()[-1] in ("cut", "b''")
    assert tries(sandbox, reach) == ["gaierror"]
    assert "nothing" in sandbox.isolation.controls["network"].by
    assert sandbox.network == "blocked"

    assert sandbox.set_network(rules(host)) == 0
    assert tries(sandbox, reach) == ["reached"]
    before = host.connections
    gate = sandbox._network.gate_process
    assert gate is not None
    assert lives(gate)
    os.kill(gate, signal.SIGKILL)
    assert eventually(lambda: not lives(gate), 30)
    refused = tries(sandbox, reach, ["tcp", "192.0.2.7", 80], ["tcp", "127.0.0.1", host.port])
    assert refused == ["gaierror", "ConnectionRefusedError", "ConnectionRefusedError"]
    assert host.connections == before


ENGINE_NAMES = ("host.docker", "gateway.docker", "host.containers")
ATTACKS: dict[str, tuple[list[object], str]] = {
    # What is tried, and how it ends where a sandbox shares the host's network.
    "address": (["tcp", "ADDRESS", "PORT"], "reached"),
    "mapped": (["tcp", "::ffff:ADDRESS", "PORT"], "reached"),
    "other port": (["tcp", "ADDRESS", 9], "ConnectionRefusedError"),
    "loopback": (["tcp", "127.0.0.1", "PORT"], "reached"),
    "loopback by number": (["tcp", "127.8.8.8", "PORT"], "reached"),
    "nothing": (["tcp", "0.0.0.0", "PORT"], "reached"),
    "six": (["tcp", "::1", "PORT"], "reached"),
    "localhost": (["tcp", "localhost", "PORT"], "reached"),
    "datagram": (["udp", "ADDRESS", "PORT"], "sent"),
}


def test_the_host_is_reached_by_none_of_its_addresses(gated: str, host: Host) -> None:
    """From a sandbox that may reach all that is public, and one of the host's names: every address
    that the host has, its metadata address, other protocols, and the gate's own sockets.
    """
    addresses = own_addresses()
    assert addresses, "this machine has no address to attack"
    attacks = [_filled(words, addresses[0], host.port) for words, _ in ATTACKS.values()]
    attacks += [["tcp", address, host.port] for address in addresses[1:]]
    attacks += [["tcp", "169.254.169.254", 80], ["tcp", "100.100.100.200", 80]]
    attacks += [["ping", addresses[0]], ["raw", "packet"], ["raw", "tcp"], ["device"], ["routes"]]
    attacks += [["udp", addresses[0], 53], ["listeners", "localhost"]]
    # A name that is the host's own, which public rules let be looked up.
    attacks += [["tcp", socket.gethostname(), host.port]]
    attacks += [["tcp", f"{name}.internal", host.port] for name in ENGINE_NAMES]
    network = NetworkRules(public=True, hosts=(("unused.test", "192.0.2.1"),))
    with Sandbox.create(backend=gated, network=network) as sandbox:
        ended = tries(sandbox, *attacks)
        assert "reached" not in ended, list(zip(attacks, ended, strict=True))
        assert (host.connections, host.datagrams) == (0, 0)
        # Both are opened by one rule each: it was not something else that kept them closed.
        sandbox.set_network(NetworkRules.allow(cidrs=[f"{addresses[0]}/32"]))
        assert tries(sandbox, attacks[0], *attacks[2:4]) == [
            "reached",
            "ConnectionResetError",
            "ConnectionRefusedError",
        ]
    assert host.connections == 1


def test_the_same_attacks_succeed_where_the_network_is_open(host: Host) -> None:
    """The negative control: the attacks work, and the server is where they look for it."""
    usable("bubblewrap")
    address = own_addresses()[0]
    attacks = [_filled(words, address, host.port) for words, _ in ATTACKS.values()]
    with Sandbox.create(backend="bubblewrap", network="open") as sandbox:
        assert tries(sandbox, *attacks) == [ended for _, ended in ATTACKS.values()]
        assert eventually(lambda: host.datagrams > 0, 30)
    assert host.connections > 0


def _filled(words: list[object], address: str, port: int) -> list[object]:
    filled = [str(word).replace("ADDRESS", address) for word in words]
    return [port if word == "PORT" else int(word) if word.isdigit() else word for word in filled]


def test_one_sandbox_does_not_reach_another(gated: str, host: Host) -> None:
    """Neither by the addresses that both have, nor by the names that both may look up."""
    serve = (
        "import socket\nserver = socket.create_server(('0.0.0.0', 7000))\n"
        "while True:\n with server.accept()[0] as connection: connection.send(b'inside')"
    )
    with (
        Sandbox.create(backend=gated, network=rules(host), ports=(7000,)) as one,
        Sandbox.create(backend=gated, network=rules(host)) as other,
    ):
        one.exec("python3", "-c", serve)
        targets = [
            ["tcp", place, 7000]
            for place in ("127.0.0.1", "0.0.0.0", "localhost", "198.18.0.1", "sandbox", NAME)
        ]
        # What listens there can be reached, by whoever is where it is.
        assert eventually(lambda: tries(one, targets[0]) == ["reached"], 30)
        assert "reached" not in tries(other, *targets)


def test_a_sandbox_begins_without_a_gate_and_gets_one_later(gated: str, host: Host) -> None:
    with Sandbox.create(backend=gated) as sandbox:
        assert sandbox.network == "blocked"
        assert sandbox._network.gate_process is None
        assert tries(sandbox, ["tcp", NAME, host.port]) == ["gaierror"]
        assert sandbox.network_events() == ()
        sandbox.set_network(rules(host))
        assert tries(sandbox, ["tcp", NAME, host.port]) == ["reached"]
        gate = sandbox._network.gate_process
    assert eventually(lambda: not lives(gate), 30)


# --- what is refused


@pytest.mark.parametrize("network", ["internet", NetworkRules.allow(domains=["example.org"])])
@pytest.mark.parametrize("name", ["gvisor", "local"])
@pytest.mark.filterwarnings("ignore::llm_sandbox.backends.local.backend.LocalSandboxWarning")
def test_backends_without_a_namespace_refuse_rules(name: str, network: Any) -> None:
    with pytest.raises(UnsupportedError, match="network") as caught:
        Sandbox.create(backend=usable(name), network=network)
    assert "bubblewrap" in str(caught.value.hint)


def test_the_hosts_network_is_given_at_the_beginning_only() -> None:
    usable("bubblewrap")
    with Sandbox.create(backend="bubblewrap") as sandbox:
        with pytest.raises(UnsupportedError, match="fixed when it is made"):
            sandbox.set_network("open")
        with pytest.raises(ValidationError, match="NetworkRules"):
            sandbox.set_network("everything")  # type: ignore[arg-type]
        assert sandbox.network == "blocked"
    with (
        Sandbox.create(backend="bubblewrap", network="open") as sandbox,
        pytest.raises(UnsupportedError, match="fixed when it is made"),
    ):
        sandbox.set_network("internet")


@pytest.mark.engine("docker", image="python")
def test_a_container_that_is_not_on_this_kernel_is_not_entered() -> None:
    """A number from an engine elsewhere is nobody's here, or somebody else's."""
    from llm_sandbox.backends.containers.machine import ContainerMachine, find_network_process

    usable("docker")
    with Sandbox.create(backend="docker") as sandbox:
        machine = sandbox._machine
        assert isinstance(machine, ContainerMachine)
        with machine.process_in_network() as process:
            assert lives(process)
        other = "00000000-0000-0000-0000-000000000000 net:[4026531840]"
        for said in (other, "", None):
            with pytest.raises(UnsupportedError, match="another machine"):
                find_network_process(machine.origin.engine, machine.container, said)


@pytest.mark.engine("docker", image="python")
def test_a_container_with_a_network_of_its_own_refuses_rules() -> None:
    """Rules would be passed by: the other network is no way through the gate."""
    from llm_sandbox import create_session

    usable("docker")
    session = create_session(
        backend="docker",
        network="internet",
        runtime_configs={"network_mode": "bridge"},
        allow_unsafe=["network_mode"],
    )
    with pytest.raises(UnsupportedError, match="network"):
        session.open()
