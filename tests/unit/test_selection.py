"""Choice of the backend when none is named."""

import contextlib
import socket
import threading
import time
from importlib import util
from pathlib import Path

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.backends import selection
from llm_sandbox.backends.engine_probe import engine_addresses, probe_engine
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    IsolationUnavailableError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.host.distribution import install_command
from llm_sandbox.settings import get_settings

NOWHERE = "unix:///nowhere/engine.sock"
IMAGE = image_name("python")


@pytest.fixture(autouse=True)
def _fresh_settings(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", NOWHERE)
    monkeypatch.setenv("CONTAINER_HOST", NOWHERE)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture
def without_bubblewrap(monkeypatch):
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)

    def refuse():
        raise IsolationUnavailableError("not here", backend="bubblewrap", hint="do something")

    monkeypatch.setattr(get_backend("bubblewrap"), "check", refuse)


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "local")
    backend, reason = selection.choose()

    assert backend is get_backend("local")
    assert "LLM_SANDBOX_BACKEND" in reason


def test_a_backend_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "cardboard")
    with pytest.raises(ValidationError, match="LLM_SANDBOX_BACKEND"):
        selection.choose()


def test_local_is_never_chosen(without_bubblewrap):
    """With nothing that isolates the error is the first one's, and tells of the others."""
    with pytest.raises(IsolationUnavailableError, match="not here") as caught:
        selection.choose()
    assert "local" not in selection.AUTOMATIC
    assert "do something" in caught.value.hint
    assert "or docker: " in caught.value.hint
    assert "or podman: " in caught.value.hint


def test_bubblewrap_comes_before_engines():
    assert ["bubblewrap", "docker", "podman"] == list(selection.AUTOMATIC)


@pytest.fixture
def engine(tmp_path):
    """A socket, and a thread that sends what the test says to each request."""
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as stack:
        listener.bind(str(path))
        listener.listen()

        def serve(answers):
            def work():
                with contextlib.suppress(OSError), listener.accept()[0] as connection:
                    for answer in answers:
                        connection.recv(65536)
                        if answer is None:
                            time.sleep(3)
                            return
                        head = f"HTTP/1.1 {answer[0]} X\r\nContent-Length: {len(answer[1])}\r\n\r\n"
                        connection.sendall(head.encode() + answer[1])

            thread = threading.Thread(target=work)
            thread.start()
            stack.callback(thread.join)
            return f"unix://{path}"

        yield serve


def test_an_engine_that_hangs_is_given_up(engine, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine([None]))
    started = time.monotonic()
    finding = probe_engine("docker", IMAGE)
    assert time.monotonic() - started < 2
    assert not finding.answers
    assert "in time" in finding.problem


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([(200, b"not json")], "Expecting value"),
        ([(200, b"[1]")], "Version"),
        ([(500, b"{}")], "500"),
        ([(200, b'{"Version": "5", "Components": [{"Name": "Podman Engine"}]}')], "Podman"),
    ],
    ids=["no json", "no version", "an error", "another engine"],
)
def test_what_is_no_engine_of_that_kind_is_passed_over(engine, monkeypatch, answers, problem):
    monkeypatch.setenv("DOCKER_HOST", engine(answers))
    finding = probe_engine("docker", IMAGE)
    assert not finding.answers
    assert problem in finding.problem


def test_an_engine_without_the_image_is_not_chosen(engine, monkeypatch, without_bubblewrap):
    """Nothing is built for a choice that nobody made; the hint says how it is done."""
    monkeypatch.setenv("DOCKER_HOST", engine([(200, b'{"Version": "1"}'), (404, b"{}")]))
    with pytest.raises(IsolationUnavailableError) as caught:
        selection.choose()
    assert f"docker has no image {IMAGE}" in caught.value.hint
    assert "llm-sandbox images build python --engine docker" in caught.value.hint


def test_an_engine_without_its_client_is_not_chosen(engine, monkeypatch, without_bubblewrap):
    monkeypatch.setenv("DOCKER_HOST", engine([(200, b'{"Version": "1"}'), (200, b"{}")]))
    found = util.find_spec
    monkeypatch.setattr(
        selection, "find_spec", lambda name: None if name == "docker" else found(name)
    )
    with pytest.raises(IsolationUnavailableError) as caught:
        selection.choose()
    assert install_command("docker") in caught.value.hint


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.engine(name, image="python"))
        for name in ("docker", "podman")
    ],
)
def test_an_engine_that_has_the_image_is_chosen(name, monkeypatch, without_bubblewrap):
    """Where its own tools look for it, and with the reason in words."""
    monkeypatch.delenv({"docker": "DOCKER_HOST", "podman": "CONTAINER_HOST"}[name])
    finding = probe_engine(name, IMAGE)
    if not finding.has_image:
        pytest.skip(f"{name} at {finding.address}: {finding.problem or f'no image {IMAGE}'}")
    backend, reason = selection.choose()
    assert backend is get_backend(name)
    assert IMAGE in reason
    assert "bubblewrap does not work here" in reason


OPTIONS = {
    "image=": {"image": "some/image"},
    "dockerfile=": {"dockerfile": "Dockerfile"},
    "container_id=": {"container_id": "some"},
    "commit_container=": {"commit_container": True},
    "mounts=": {"mounts": [f"{Path(__file__).parent}:/data:ro"]},
    "runtime_configs['labels']": {"runtime_configs": {"cap_drop": ["ALL"], "labels": {"a": "b"}}},
    "runtime_configs['read_only']": {"runtime_configs": {"read_only": False}},
}


@pytest.fixture
def answering(engine, monkeypatch):
    """A Docker engine that answers and has any image; none is asked for anything else."""
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)
    monkeypatch.setenv("DOCKER_HOST", engine([(200, b'{"Version": "1"}'), (200, b"{}")]))


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_containers_chooses_an_engine(option, answering):
    """And the reason says which option that was."""
    session = create_session(**OPTIONS[option])
    assert ("docker", f"{option} needs a container engine, and docker answers") == (
        session.backend,
        session.backend_reason,
    )


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_containers_without_an_engine(option, monkeypatch):
    """The error names the option, what was tried, and what to do."""
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)
    with pytest.raises(BackendUnavailableError) as caught:
        create_session(**OPTIONS[option])
    assert caught.value.message.startswith(f"{option} needs a container engine")
    assert "docker: there is no such socket" in caught.value.message
    assert "podman: there is no such socket" in caught.value.message
    assert "start Docker or Podman" in caught.value.hint


def test_an_image_chooses_an_engine_for_a_sandbox(monkeypatch):
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)
    with pytest.raises(BackendUnavailableError, match="image= needs a container engine"):
        Sandbox.create(image="some/image")


@pytest.mark.parametrize(
    "options",
    [{}, {"keep_template": True}, {"runtime_configs": {"mem_limit": "1g", "read_only": True}}],
    ids=str,
)
def test_what_needs_no_engine_chooses_as_before(options, monkeypatch):
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)
    assert "bubblewrap" == create_session(**options).backend


def test_a_name_comes_before_an_option(monkeypatch):
    with pytest.raises(UnsupportedError, match="image="):
        create_session("bubblewrap", image="some/image")
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "bubblewrap")
    get_settings.cache_clear()
    with pytest.raises(UnsupportedError, match="image="):
        create_session(image="some/image")


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_a_client_says_which_engine(name, monkeypatch):
    """Nothing is asked of it yet."""
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)
    package = pytest.importorskip(name, reason=f"the package {name} is not installed")
    maker = {"docker": "DockerClient", "podman": "PodmanClient"}[name]
    options = {"version": "1.41"} if name == "docker" else {}
    client = getattr(package, maker)(base_url=NOWHERE, **options)
    backend, reason = selection.resolve(None, option="client=", client=client)
    assert (name, f"the client is one of {name}") == (backend.name, reason)


def test_where_engines_are_looked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert ["unix:///var/run/docker.sock"] == engine_addresses("docker")
    tmp_path.joinpath("config.json").write_text('{"currentContext": "there"}')
    folder = Path(tmp_path, "contexts", "meta")
    # The name of a context's folder is the SHA-256 of its name.
    folder /= "e244f187f696561d5fd7e00f618e7ba641dc52e3c137380f6fa23a854b773aac"
    folder.mkdir(parents=True)
    folder.joinpath("meta.json").write_text(
        '{"Endpoints": {"docker": {"Host": "tcp://127.0.0.1:1"}}}'
    )
    assert ["tcp://127.0.0.1:1"] == engine_addresses("docker")
    assert not probe_engine("docker", IMAGE).answers
    assert [NOWHERE] == engine_addresses("podman")
    monkeypatch.setenv("CONTAINER_HOST", "ssh://someone@somewhere")
    assert "takes too long" in probe_engine("podman", IMAGE).problem
