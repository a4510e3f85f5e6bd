"""An engine over TCP with TLS, as one on another machine is reached: everything passes, and what
needs this machine's files is refused.
"""

from __future__ import annotations

import contextlib
import os
import ssl
import threading
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from llm_sandbox import PIPE, Sandbox, create_session
from llm_sandbox.backends.docker.backend import DockerBackend
from llm_sandbox.backends.engine_probe import probe_engine
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    SandboxTimeoutError,
    UnsupportedError,
)
from llm_sandbox.mounts import Bind
from llm_sandbox.testing.suite import eventually
from tests.hosts.tls_engine import TlsEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.containers.backend import ContainerBackend

pytestmark = pytest.mark.engine("docker", image="python")
_SOCKET = "/var/run/docker.sock"


@pytest.fixture(scope="module")
def tls_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsEngine]:
    named = os.environ.get("DOCKER_HOST", "").removeprefix("unix://")
    with TlsEngine(named or _SOCKET, tmp_path_factory.mktemp("certificates")) as engine:
        yield engine


@pytest.fixture(scope="module")
def backend(tls_engine: TlsEngine) -> Iterator[ContainerBackend]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in tls_engine.environment.items():
            patch.setenv(name, value)
        # To docker-py's HTTP library they count for more than the engine's own authority.
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            patch.delenv(name, raising=False)
        backend = DockerBackend()
        backend.check()
        yield backend
        backend.close()
        backend.engine.client.close()


def test_it_is_not_taken_for_a_local_one(backend: ContainerBackend) -> None:
    assert not backend.engine.is_local


def test_it_is_found_when_no_backend_is_named(
    tls_engine: TlsEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in tls_engine.environment.items():
        monkeypatch.setenv(name, value)
    found = probe_engine("docker", "llm-sandbox/python", timeout_s=20)
    assert found.answers, found.problem


def test_without_a_certificate_it_is_not_reached(
    tls_engine: TlsEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in tls_engine.environment.items():
        monkeypatch.setenv(name, value)
    other = TlsEngine(_SOCKET, tmp_path)  # never started: for certificates of another authority
    other._loop.close()
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    with pytest.raises(BackendUnavailableError, match=r"certificate|CERTIFICATE"):
        DockerBackend().check()


def test_a_session_runs_plots_and_keeps_its_state(
    backend: ContainerBackend, tls_engine: TlsEngine
) -> None:
    before = tls_engine.carried
    with create_session(backend=backend) as session:
        session.run("import matplotlib.pyplot as plt\nnumbers = [1, 4, 9]")
        result = session.run("print(sum(numbers)); plt.plot(numbers); plt.show()")
        assert (result.stdout, len(result.plots)) == ("14\n", 1)
        assert session.run("print(input())", stdin=["typed"]).stdout.endswith("typed\n")
    assert tls_engine.carried - before > 10_000


def test_much_output_arrives_whole(backend: ContainerBackend) -> None:
    with Sandbox.create(backend=backend) as sandbox:
        program = "import sys\nfor _ in range(80): sys.stdout.write('0123456789abcdef' * 4096)"
        done = sandbox.exec("python3", "-c", program)
        assert done.stdout.read() == "0123456789abcdef" * 4096 * 80


def test_much_goes_in_and_out_at_once(backend: ContainerBackend) -> None:
    with Sandbox.create(backend=backend) as sandbox:
        echo = sandbox.exec("cat", stdin=PIPE)
        assert echo.stdin is not None
        piece = os.urandom(1 << 16)
        writer = threading.Thread(target=lambda: [echo.stdin.write(piece) for _ in range(64)])
        writer.start()
        writer.join()
        echo.stdin.write_eof()
        assert echo.stdout.bytes() == piece * 64


def test_files_go_both_ways(backend: ContainerBackend, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes(b"a,b\r\n1,2\r\n" * 100_000)
    with create_session(backend=backend) as session:
        session.copy_to_runtime(str(source), "/sandbox/table.csv")
        session.run("open('back.csv', 'wb').write(open('table.csv', 'rb').read())")
        session.copy_from_runtime("/sandbox/back.csv", str(tmp_path / "back.csv"))
    assert (tmp_path / "back.csv").read_bytes() == source.read_bytes()


def test_a_run_that_takes_too_long_ends(backend: ContainerBackend) -> None:
    with create_session(backend=backend) as session:
        session.run("kept = 5")
        with pytest.raises(SandboxTimeoutError):
            session.run("while True: pass", timeout=1)
        assert session.run("print(1)").stdout == "1\n"


def test_a_program_is_killed(backend: ContainerBackend) -> None:
    with Sandbox.create(backend=backend) as sandbox:
        program = sandbox.exec("sleep", "600")
        program.kill()
        assert program.wait() == 137


def test_closing_ends_the_container(backend: ContainerBackend) -> None:
    sandbox = Sandbox.create(backend=backend)
    container = sandbox._machine.container
    sandbox.destroy()
    backend.close()
    assert container not in [each.id for each in backend.engine.client.containers.list(all=True)]


def test_a_port_is_reached_through_it(backend: ContainerBackend) -> None:
    with Sandbox.create(backend=backend, ports=[8000]) as sandbox:
        sandbox.exec("python3", "-m", "http.server", "8000", "--bind", "127.0.0.1")
        tunnel = sandbox.tunnels()[8000]

        def answers() -> bool:
            with (
                contextlib.suppress(OSError),
                urlopen(f"http://{tunnel.host}:{tunnel.port}/") as it,
            ):
                return bool(it.status == 200)
            return False

        assert eventually(answers, within_s=30)


def test_a_mount_is_refused(backend: ContainerBackend, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="another machine"):
        Sandbox.create(backend=backend, mounts={"/data": Bind(tmp_path)})


def test_tls_is_what_it_speaks(tls_engine: TlsEngine) -> None:
    address = tls_engine.environment["DOCKER_HOST"].removeprefix("tcp://").partition(":")
    with pytest.raises(ssl.SSLError):
        ssl.get_server_certificate((address[0], int(address[2])), ca_certs=os.devnull)
