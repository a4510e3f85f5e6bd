"""Servers of this machine for sandboxes to reach or not to reach, and sandboxes of each backend."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

GREETING = b"hello from the host"


class Host:
    """A server on every address of this machine, for TCP and UDP by one number."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        self.port: int = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("0.0.0.0", self.port))
        self.connections = 0
        self.datagrams = 0
        self.held: list[socket.socket] = []
        for work in (self._accept, self._receive):
            threading.Thread(target=work, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.tcp.accept()
                self.connections += 1
                self.held.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.sendall(GREETING)
            while connection.recv(1 << 16):
                pass

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.udp.recv(100)
                self.datagrams += 1

    def close(self) -> None:
        for sock in (self.tcp, self.udp, *self.held):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for sock in (self.tcp, self.udp, *self.held):
            sock.close()


@pytest.fixture
def host() -> Iterator[Host]:
    """A server of this machine's."""
    host = Host()
    yield host
    host.close()


def own_addresses() -> list[str]:
    """Every IPv4 address of this machine but those of 127.0.0.0/8: its own, bridges' gateways."""
    text = Path("/proc/net/fib_trie").read_text()
    found = re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", text)
    return sorted({address for address in found if not address.startswith("127.")})


BACKENDS = (
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
)


def usable(name: str) -> str:
    """The name of a backend that works here; skips where it does not, with what to do."""
    try:
        get_backend(name).check()
    except SandboxError as error:
        pytest.skip(f"{name}: {error}")
    return name


@pytest.fixture(
    scope="module",
    params=BACKENDS,
)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend whose sandboxes have a network namespace of this kernel."""
    return usable(request.param)


@pytest.fixture(scope="module")
def gated(backend: str) -> str:
    """Each backend whose sandboxes may have rules here."""
    if backend != "bubblewrap" and os.geteuid() != 0:
        pytest.skip(f"{backend}: only root can enter the network of a container")
    return backend


def lives(process: int | None) -> bool:
    """Whether a process runs."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
