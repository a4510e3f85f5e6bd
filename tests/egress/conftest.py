"""A host, an internet and sandboxes, each a network namespace that the tests make."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from tests.egress.namespaces import (
    Namespace,
    Upstream,
    add_address,
    add_default_route,
    connect,
    greet_and_echo,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.network import NetworkRules

HOST_ADDRESSES = ("192.0.2.7", "9.9.9.9", "2620:fe::9")
"""The host has a private address, and public ones."""
FAR_ADDRESSES = (
    "8.8.8.8",
    "8.8.4.4",
    "10.1.2.3",
    "100.64.0.9",
    "169.254.169.254",
    "192.168.5.5",
    "2606:4700::1111",
    "fd00::5",
    "64:ff9b::a01:203",
)
"""All of these answer, if anybody gets to them."""
PORT = 80
OTHER_PORT = 8080


class World:
    """A host with a cable to an internet, whose servers say which address was reached."""

    def __init__(self) -> None:
        self.has_ipv6 = Path("/proc/net/if_inet6").exists()
        self.host, self.far = Namespace(), Namespace()
        connect(self.host, self.far)
        for namespace, interface, addresses in (
            (self.host, "near", HOST_ADDRESSES),
            (self.far, "far", FAR_ADDRESSES),
        ):
            for address in addresses:
                if self.has_ipv6 or ":" not in address:
                    add_address(namespace, interface, address)
            add_default_route(namespace, interface, socket.AF_INET)
            if self.has_ipv6:
                add_default_route(namespace, interface, socket.AF_INET6)
        self.internet, self.services = Upstream(self.far), Upstream(self.host)
        for port in (PORT, OTHER_PORT):
            self.internet.serve("0.0.0.0", port, greet_and_echo)
            self.services.serve("0.0.0.0", port, greet_and_echo)
        for address in FAR_ADDRESSES:
            if self.has_ipv6 and ":" in address:
                self.internet.serve(address, PORT, greet_and_echo)
        self.internet.serve_datagrams("8.8.8.8", 123)
        self.resolver = self.services.serve_names("127.0.0.1")
        # What an attacker's own name server would hear.
        self.tunnel = self.internet
        self.tunnel.serve_datagrams("8.8.4.4", 53)

    def close(self) -> None:
        self.internet.close()
        self.services.close()
        self.host.close()
        self.far.close()


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    if os.geteuid() != 0:
        pytest.skip("only root can make the networks that stand for a host and the internet")
    made = World()
    yield made
    made.close()


@pytest.fixture
def sandbox(world: World) -> Iterator[Namespace]:
    """A namespace with nothing but loopback."""
    made = Namespace()
    yield made
    made.close()


@pytest.fixture
def open_gate(world: World, sandbox: Namespace) -> Iterator[Callable[[NetworkRules], Gate]]:
    """Put a gate into the sandbox; it is in the host's namespace, and asks the host's resolver."""
    started: list[Gate] = []

    def start(rules: NetworkRules, *, redirect: bool = True) -> Gate:
        sockets = open_netns_sockets(sandbox.holder.pid, rules, redirect=redirect)
        gate = world.host.call(lambda: Gate.start(sockets, rules, resolver=world.resolver))
        started.append(gate)
        return gate

    world.services.questions.clear()
    world.services.answers.clear()
    yield start
    for gate in started:
        gate.close()
        assert not gate.alive
