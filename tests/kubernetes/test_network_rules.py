"""Rules for the network of a pod: a proxy in it, whose connections are made by a gate outside."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, UnsupportedError, create_session
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.network import NetworkRules
from llm_sandbox.testing.suite import eventually
from tests.secrets.conftest import NAME as HOST
from tests.secrets.conftest import VALUE, bound, signer, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.api_proxy import ApiProxy
    from tests.secrets.conftest import Signer, Site

__all__ = ["signer", "site"]

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

NAME = "files.test"
LARGE = os.urandom(1 << 20) * 16
DIRECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()
    print("reached")
except OSError as error:
    print(type(error).__name__)
"""
STATUS = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
TUNNEL = """
import os, socket, sys
proxy = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
for target in sys.argv[1:]:
    connection = socket.create_connection((proxy[0], int(proxy[1])), 30)
    connection.sendall(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n\\r\\n".encode())
    print(connection.recv(12).decode())
    connection.close()
"""
MANY = """
import os, socket, sys
host, port = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")
held = [socket.create_connection((host, int(port)), 60) for _ in range(200)]
for number, connection in enumerate(held):
    request = f"GET http://{sys.argv[1]}/{number} HTTP/1.1\\r\\nHost: {sys.argv[1]}\\r\\n\\r\\n"
    connection.sendall(request.encode())
found = set()
for connection in held:
    data = b""
    while piece := connection.recv(4096):
        data += piece
    found.add(data.rpartition(b"here is ")[2])
print(len(found))
"""
SECRET = """
import os, sys, urllib.request
token = "Bearer " + os.environ["TOKEN"]
asked = urllib.request.Request(sys.argv[1], headers={"Authorization": token})
print(urllib.request.urlopen(asked, timeout=30).read().decode())
"""
DOWNLOAD = """
import hashlib, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=120) as response:
    print(hashlib.sha256(response.read()).hexdigest())
"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        data = LARGE if self.path == "/large" else f"here is {self.path}".encode()
        if self.path == "/simple/ours/":
            data = b"<a href='/ours-1-py3-none-any.whl#sha256=00'>ours-1-py3-none-any.whl</a>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The port of a server on the loopback of this machine."""
    with _Server(("127.0.0.1", 0), _Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made.server_port
        made.shutdown()


def _rules(port: int, **more: Any) -> NetworkRules:
    return NetworkRules.allow(hosts={NAME: "127.0.0.1"}, ports=[port], **more)


@pytest.fixture(scope="module")
def sandbox(server: int) -> Iterator[Sandbox]:
    """A pod that may reach the server by one name."""
    backend = KubernetesBackend()
    with Sandbox.create(backend=backend, network=_rules(server)) as made:
        yield made
    backend.close()


def _said(sandbox: Sandbox, code: str, *arguments: object) -> str:
    words = map(str, arguments)
    done = sandbox.exec("python3", "-c", code, *words).collect(timeout=180)
    assert 0 == done.exit_code, done.stderr
    return done.stdout.strip()


def test_an_allowed_name_is_reached_by_each_client(sandbox: Sandbox, server: int) -> None:
    """By Python's own client and by pip's, without settings of theirs."""
    url = f"http://{NAME}:{server}/one"
    assert "here is /one" == _said(sandbox, STATUS, url)
    pip = sandbox.exec(
        "python3",
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--dest",
        "/tmp/none",
        "--disable-pip-version-check",
        "--index-url",
        f"http://{NAME}:{server}/simple",
        "--trusted-host",
        NAME,
        "ours",
    ).collect(timeout=180)
    # What it asks for arrives, and is not what was promised.
    assert "00" in pip.stderr, pip.stderr
    assert "hash" in pip.stderr.lower()
    control = sandbox.isolation.controls["network"]
    assert "enforced" == control.state
    assert "ignore HTTPS_PROXY have no network" in control.by


def test_what_no_rule_lists_is_refused(sandbox: Sandbox, server: int) -> None:
    """With the status 403, the hint as its text, and an event."""
    before = len(sandbox.network_events())
    answer = _said(sandbox, STATUS, f"http://other.test:{server}/")
    event = sandbox.network_events()[-1]

    assert answer.startswith("403 ")
    assert event.hint in answer
    assert ("denied", "name_not_listed", "other.test") == (event.verdict, event.reason, event.name)
    targets = [f"127.0.0.1:{server}", f"[::1]:{server}", "10.0.0.1:80", "169.254.169.254:80"]
    found = _said(sandbox, TUNNEL, *targets, "kubernetes.default:443", f"{NAME}:{server}")
    assert found.splitlines() == ["HTTP/1.1 403"] * 5 + ["HTTP/1.1 200"]
    assert before + 6 == len(sandbox.network_events())


def test_without_the_proxy_there_is_no_network(
    sandbox: Sandbox, backend: KubernetesBackend
) -> None:
    """The control is a pod with an open network, which reaches the same address."""
    machine = sandbox._machine
    host, _, port = machine.service_address.partition(":")  # type: ignore[attr-defined]
    assert "reached" != _said(sandbox, DIRECT, host, port)
    assert "gaierror" == _said(sandbox, DIRECT, NAME, port)
    with Sandbox.create(backend=backend, network="open") as other:
        assert "reached" == _said(other, DIRECT, host, port)
        assert not [name for name in other._machine.base_env() if name.lower() == "http_proxy"]


def test_many_connections_and_a_large_download_are_carried(sandbox: Sandbox, server: int) -> None:
    assert "200" == _said(sandbox, MANY, f"{NAME}:{server}")
    found = _said(sandbox, DOWNLOAD, f"http://{NAME}:{server}/large")
    assert hashlib.sha256(LARGE).hexdigest() == found


def test_rules_are_changed_while_programs_run(backend: KubernetesBackend, server: int) -> None:
    """From nothing to rules and back, as of other backends, until the gate is killed."""
    url = f"http://{NAME}:{server}/"
    with Sandbox.create(backend=backend, env={"http_proxy": "of the user"}) as sandbox:
        assert "HTTPS_PROXY" not in sandbox._machine.base_env()
        sandbox.set_network(_rules(server))
        env = dict.fromkeys(("http_proxy",), sandbox._machine.base_env()["HTTP_PROXY"])

        def ask() -> str:
            done = sandbox.exec("python3", "-c", STATUS, url, env=env).collect(timeout=120)
            return done.stdout[:4] if done.exit_code == 0 else done.stderr.splitlines()[-1]

        assert "of the user\n" == sandbox.sh("echo $http_proxy").collect().stdout
        assert "here" == ask()
        sandbox.set_network("blocked")
        assert "403 " == ask()
        assert "nothing" in sandbox.isolation.controls["network"].by
        sandbox.set_network(_rules(server))
        assert "here" == ask()
        gate = sandbox._network.gate_process
        assert gate is not None
        os.kill(gate, signal.SIGKILL)
        assert eventually(lambda: "refused" in ask(), 60)


def test_a_session_reaches_what_is_allowed_and_is_told_the_rest(
    backend: KubernetesBackend, server: int
) -> None:
    with create_session(backend, network=_rules(server)) as session:
        code = "import urllib.request as u; print(u.urlopen('http://{}:{}/x').read().decode())"
        result = session.run(code.format(NAME, server))
        assert "here is /x\n" == result.stdout, result
        refused = session.run(code.format("other.test", server))
        assert 1 == refused.exit_code
        assert ["other.test"] == [event.name for event in refused.network]
        assert "NetworkRules.allow(domains=['other.test'])" in refused.notes[0]
        past = session.run(f"import socket; socket.create_connection(('{NAME}', {server}))")
        assert "HTTPS_PROXY" in past.notes[0]


def test_a_placeholder_is_replaced_for_its_host_alone(
    backend: KubernetesBackend, site: Site, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the tunnel that a client of TLS asks for; the gate stands in the middle of it."""
    monkeypatch.setenv("SSL_CERT_FILE", str(signer.file))
    rules = NetworkRules.allow(hosts={HOST: "127.0.0.1", "other.test": "127.0.0.1"})
    secrets = [bound(f"{HOST}:{site.port}")]
    with Sandbox.create(backend=backend, network=rules, secrets=secrets) as sandbox:
        done = sandbox.exec("python3", "-c", SECRET, f"https://{HOST}:{site.port}/")
        ended = done.collect(timeout=120)
        assert 0 == ended.exit_code, ended.stderr
        assert VALUE not in ended.stdout
        assert f"Bearer {VALUE}" == site.seen[0]["fields"]["Authorization"]
        elsewhere = sandbox.exec("python3", "-c", SECRET, f"http://other.test:{site.port}/")
        assert "403" in elsewhere.collect(timeout=120).stderr
        assert "secret_elsewhere" == sandbox.network_events()[-1].reason
    assert 1 == len(site.seen)


@pytest.mark.parametrize("frame", [20, 60])
def test_a_download_outlives_a_cut_of_the_stream(
    through_proxy: KubernetesBackend, proxy: ApiProxy, server: int, frame: int
) -> None:
    with Sandbox.create(backend=through_proxy, network=_rules(server)) as sandbox:
        proxy.frames, proxy.cut_at = 0, frame
        found = _said(sandbox, DOWNLOAD, f"http://{NAME}:{server}/large")
        assert hashlib.sha256(LARGE).hexdigest() == found
        assert proxy.cuts >= 1


def test_a_pod_of_somebody_else_takes_no_rules(sandbox: Sandbox) -> None:
    backend = KubernetesBackend(KubernetesOptions(container_id=sandbox._machine.pod))  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedError, match="rules"):
        Sandbox.create(backend=backend, network="internet", workdir="/tmp/entered")
    backend.close()
