"""A gate ends with its sandbox, whoever ends that, and a sandbox's client takes both with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.network import NetworkRules
from llm_sandbox.testing.suite import eventually
from tests.network.conftest import Host, lives, usable

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
USER = 54_321
"""A user id that is nobody's."""
CLIENT = """
import json, os, sys, time
from llm_sandbox.network import NetworkRules
from llm_sandbox.sandbox import Sandbox
backend, name, port = sys.argv[1], "files.test", int(sys.argv[2])
rules = NetworkRules.allow(hosts={name: "127.0.0.1"}, ports=[port])
sandbox = Sandbox.create(backend=backend, network=rules, ports=(7000,))
def tries(name):
    code = f"import socket; print(socket.create_connection(({name!r}, {port}), 5).recv(100))"
    return sandbox.exec("python3", "-c", code).collect(timeout=60).stdout
said = {
    "user": os.getuid(),
    "gate": sandbox._network.gate_process,
    "allowed": tries(name),
    "other": tries("other.test"),
    "denied": [event.target for event in sandbox.network_events()],
    "tunnel": sandbox.tunnels()[7000].port,
}
serve = "import socket; socket.create_server(('127.0.0.1', 7000)).accept()[0].send(b'in')"
sandbox.exec("python3", "-c", serve)
import socket
deadline, answer = time.monotonic() + 30, b""
while not answer and time.monotonic() < deadline:
    try:
        with socket.create_connection(("127.0.0.1", said["tunnel"]), 5) as connection:
            answer = connection.recv(10)
    except OSError:
        time.sleep(0.05)
said["answer"] = answer.decode()
print(json.dumps(said), flush=True)
time.sleep(100)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A copy of the library that every user may read, with a home folder in it."""
    if os.geteuid() != 0:
        pytest.skip("every test runs as an ordinary user already")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        copy = Path(name)
        copy.chmod(0o755)
        shutil.copytree(
            ROOT / "llm_sandbox",
            copy / "llm_sandbox",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (copy / "home").mkdir()
        os.chown(copy / "home", USER, USER)
        yield copy


def killed_client(program: str, backend: str, host: Host, **options: Any) -> dict[str, Any]:
    """What a client said that was killed after it had used its sandbox."""
    client = subprocess.Popen(
        [program, "-B", "-c", CLIENT, backend, str(host.port)],
        stdout=subprocess.PIPE,
        cwd="/",
        **options,
    )
    try:
        assert client.stdout is not None
        said: dict[str, Any] = json.loads(client.stdout.readline() or "{}")
        assert "gate" in said, "the client ended"
        assert lives(said["gate"])
        client.send_signal(signal.SIGKILL)
    finally:
        client.kill()
        client.communicate()
    return said


def check(said: dict[str, Any]) -> None:
    assert said["allowed"] == "b'hello from the host'\n"
    assert (said["other"], said["denied"]) == ("", ["other.test"])
    assert said["answer"] == "in"
    assert eventually(lambda: not lives(said["gate"]), 30)


def test_a_killed_client_leaves_no_gate(gated: str, host: Host) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    check(killed_client(sys.executable, gated, host, env=environment))


def test_an_ordinary_user_has_the_same(folder: Path, host: Host) -> None:
    """Rules, tunnels and their end, with no right that root has."""
    usable("bubblewrap")
    program = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if program is None or version not in subprocess.check_output([program, "-V"], text=True):
        pytest.skip(f"there is no Python {version} that other users may start")
    said = killed_client(
        program,
        "bubblewrap",
        host,
        env={"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)},
        user=USER,
        group=USER,
        extra_groups=[],
    )
    assert said["user"] == USER
    check(said)


def test_the_deadline_of_a_sandbox_ends_its_gate(host: Host) -> None:
    usable("bubblewrap")
    rules = NetworkRules.allow(ports=[host.port])
    with Sandbox.create(backend="bubblewrap", network=rules) as sandbox:
        gate = sandbox._network.gate_process
        look = "import socket\ntry: socket.create_connection(('192.0.2.1', 80))\nexcept OSError: 0"
        sandbox.exec("python3", "-c", look).wait()
        assert lives(gate)
        sandbox.set_timeout(0.2)
        assert eventually(lambda: not lives(gate), 30)
        assert sandbox.poll() == 124
        # What it saw is there to be read still.
        assert [event.target for event in sandbox.network_events()] == ["192.0.2.1"]


def test_a_kept_sandbox_has_its_network_in_every_handle(host: Host) -> None:
    """The gate is the daemon's: it is there from before the entry, and for whoever attaches."""
    usable("bubblewrap")
    rules = NetworkRules.allow(hosts={"files.test": "127.0.0.1"}, ports=[host.port])
    reach = f"import socket, sys; c = socket.create_connection((sys.argv[1], {host.port}), 5)"
    entry = f"{reach}; print(c.recv(100), flush=True); import time; time.sleep(100)"
    command = ("python3", "-c", entry, "files.test")
    with Sandbox.create(*command, backend="bubblewrap", network=rules, ports=(7000,)) as sandbox:
        assert sandbox.entry is not None
        assert next(iter(sandbox.entry.stdout.lines())).startswith("b'hello")
        other = Sandbox.attach(sandbox.id)
        assert (other.network, dict(other.tunnels())) == (rules, dict(sandbox.tunnels()))
        assert other.exec("python3", "-c", reach, "other.test").collect().exit_code == 1
        assert [event.target for event in sandbox.network_events()] == ["other.test"]
        assert other.set_network("blocked") >= 1
        assert sandbox.network == "blocked"
        assert sandbox.exec("python3", "-c", reach, "files.test").collect().exit_code == 1
        other.detach()
