"""Choice of the Podman service, and the error without one."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llm_sandbox.backends.podman.background_process import BackgroundProcess
from llm_sandbox.backends.podman.connect import address_of, connect_podman, usual_sockets
from llm_sandbox.backends.podman.service import find_podman, start_service
from llm_sandbox.exceptions import BackendUnavailableError, ValidationError

pytestmark = pytest.mark.engine

_VARIABLES = ("CONTAINER_HOST", "CONTAINER_SSHKEY", "DOCKER_HOST", "XDG_RUNTIME_DIR")


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """No service is named, and none listens where services do."""
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for path in usual_sockets(os.environ, os.geteuid()):
        if path.exists():
            pytest.skip(f"a service of the machine listens at {path}")


@pytest.fixture
def run_folder(tmp_path, monkeypatch):
    """The user's runtime folder."""
    folder = tmp_path / "run"
    (folder / "podman").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _gone(path: Path, within_s: float = 8.0) -> bool:
    deadline = time.monotonic() + within_s
    while path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not path.exists()


# ------------------------------------------------------------------------- a named service


@pytest.mark.parametrize("form", ["unix://{}", "http+unix://{}", "http+unix://{quoted}"])
def test_container_host_names_the_service(service, monkeypatch, form):
    path = service.address.removeprefix("unix://")
    monkeypatch.setenv("CONTAINER_HOST", form.format(path, quoted=path.replace("/", "%2F")))

    engine = connect_podman()

    assert engine.client.ping()
    assert not engine.is_over


def test_a_service_behind_tcp(podman, monkeypatch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    process = BackgroundProcess(lambda _: [podman, "system", "service", "--time=0", address], "tcp")
    try:
        assert process.wait_until(lambda: _listens(port), 30), process.words
        monkeypatch.setenv("CONTAINER_HOST", address)

        assert connect_podman().client.ping()
    finally:
        process.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_an_address_of_an_unknown_kind_is_refused(monkeypatch):
    monkeypatch.setenv("CONTAINER_HOST", "/run/podman/podman.sock")

    with pytest.raises(ValidationError, match="unix://, ssh:// or tcp://"):
        connect_podman()


def test_a_named_service_that_is_dead_is_an_error(tmp_path, monkeypatch):
    """Nothing else is taken in its place."""
    path = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    monkeypatch.setenv("CONTAINER_HOST", f"unix://{path}")

    with pytest.raises(BackendUnavailableError, match=r"dead\.sock does not answer") as caught:
        connect_podman()

    assert "systemctl --user start podman.socket" in str(caught.value.hint)


def test_an_ssh_host_that_does_not_answer(monkeypatch):
    monkeypatch.setenv("CONTAINER_HOST", "ssh://someone@127.0.0.1:1/run/podman/podman.sock")

    with pytest.raises(BackendUnavailableError, match=r"127\.0\.0\.1 does not answer: .*ssh"):
        connect_podman()


def test_docker_host_is_not_podmans(service, alone, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", service.address)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(BackendUnavailableError, match="podman is not installed"):
        connect_podman()


# ---------------------------------------------------------------------------- clients given


def test_a_client_of_podman_py_lends_its_address(service):
    podman_py = pytest.importorskip("podman", reason="podman-py is not installed")
    with podman_py.PodmanClient(base_url=service.address) as client:
        engine = connect_podman(client)

        assert engine.client.ping()


def test_the_key_of_a_client_of_podman_py_comes_along(tmp_path):
    """Its ssh connections are made with the same key; here nobody answers them."""
    podman_py = pytest.importorskip("podman", reason="podman-py is not installed")
    key = tmp_path / "key"
    key.write_text("no key")
    key.chmod(0o600)
    client = podman_py.PodmanClient(
        base_url="ssh://someone@127.0.0.1:1/run/podman/podman.sock", identity=str(key)
    )

    with contextlib.closing(client):
        assert ("ssh://someone@127.0.0.1:1/run/podman/podman.sock", str(key)) == address_of(client)


def test_a_client_of_docker_py_is_used_as_it_is(service):
    import docker

    with contextlib.closing(docker.DockerClient(service.address, version="1.40")) as client:
        assert connect_podman(client).client is client


def test_a_client_that_is_connected_to_docker_is_refused():
    import docker

    try:
        client = docker.from_env()
        client.ping()
    except docker.errors.DockerException as error:
        pytest.skip(f"docker does not answer: {error}")
    with contextlib.closing(client), pytest.raises(ValidationError, match="not Podman, but Docker"):
        connect_podman(client)


def test_another_object_is_refused():
    with pytest.raises(ValidationError, match=r"not builtins\.str"):
        connect_podman("unix:///run/podman/podman.sock")


# ------------------------------------------------------------------- nothing named or given


def test_the_users_own_service_comes_first():
    environment = {"XDG_RUNTIME_DIR": "/run/user/1000"}

    found = [str(path) for path in usual_sockets(environment, 1000)]

    assert ["/run/user/1000/podman/podman.sock", "/run/podman/podman.sock"] == found
    assert [Path("/run/podman/podman.sock")] == list(usual_sockets({}, 0))


def test_a_socket_without_a_service_is_passed_over(podman, alone, run_folder):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(run_folder / "podman" / "podman.sock"))

    with contextlib.closing(connect_podman()) as engine:
        assert engine.client.ping()
        assert not engine.is_over


def test_engines_share_a_service_which_outlives_each(podman, alone):
    first, second = connect_podman(), connect_podman()

    first.close()

    with contextlib.closing(second):
        assert second.client.ping()
        assert not second.is_over


def test_without_the_program_the_next_step_is_named(alone, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(BackendUnavailableError) as caught:
        connect_podman()

    assert "apt-get install podman" in str(caught.value.hint)


def test_a_program_that_starts_no_container_is_an_error_with_its_words(
    alone, empty_cache, monkeypatch, tmp_path
):
    _script(tmp_path / "podman", "echo 'Error: cgroups are not what I need' >&2; exit 126")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(BackendUnavailableError, match="cgroups are not what I need"):
        connect_podman()


def test_another_runtime_is_taken_where_the_first_does_not_work(podman, empty_cache, tmp_path):
    """What works is found by trying, once."""
    broken = _script(
        tmp_path / "podman",
        f'echo "$*" >>{tmp_path}/calls\n'
        f'[ "$1" = --runtime ] || set -- --runtime /bin/false "$@"\nexec {podman} "$@"',
    )

    for _ in range(2):
        service = start_service(str(broken))
        service.process.close()

    calls = (tmp_path / "calls").read_text().splitlines()
    tried = [call for call in calls if " run " in f" {call} "]
    started = [call for call in calls if "system service" in call]
    assert tried[0].startswith("run ")
    assert all(call.startswith("--runtime ") for call in tried[1:])
    assert 2 == len(started)
    assert all(call.startswith("--runtime ") for call in started)


def test_a_service_of_ours_ends_with_its_host(podman, alone):
    """Killed without a chance to tidy up, the host leaves neither the service nor its folder."""
    code = (
        "import time\nfrom llm_sandbox.backends.podman.service import *\n"
        "service = start_service(find_podman())\n"
        "print(service.process.folder, flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        folder = Path(host.stdout.readline().strip())
        try:
            assert (folder / "podman.sock").exists()
        finally:
            host.send_signal(signal.SIGKILL)

    assert _gone(folder)


def test_a_fork_of_the_host_leaves_the_service_alone(service):
    pid = os.fork()
    if pid == 0:
        # As at the end of a program: what is registered for it is run.
        import atexit

        atexit._run_exitfuncs()
        os._exit(0)
    os.waitpid(pid, 0)

    assert service.process.is_running
    assert find_podman() is not None
