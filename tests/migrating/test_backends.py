"""Programs that name a backend, add one, or work in an image or a container of their own."""

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import (
    BackendCapabilities,
    DefaultImage,
    SandboxBackend,
    SandboxSession,
    UnsupportedError,
    create_session,
    get_backend,
    list_backends,
    register_backend,
)
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.compat.backends import _registered
from llm_sandbox.exceptions import ContainerError, UnsupportedBackendError, ValidationError

docker_engine = pytest.mark.engine("docker", image="python")


# --- definitions


def test_what_there_is() -> None:
    names = [definition.name for definition in list_backends()]
    assert {"bubblewrap", "docker", "podman", "micromamba"} <= set(names)
    definition = get_backend("Bubblewrap")
    assert definition.builtin
    assert definition.capabilities.filesystem_isolation
    assert not definition.capabilities.daemon_required
    assert get_backend(SandboxBackend.DOCKER).capabilities.container_images
    assert not get_backend("local").capabilities.filesystem_isolation
    with pytest.raises(UnsupportedBackendError):
        get_backend("attic")


def test_a_definition_makes_sessions() -> None:
    with get_backend("bubblewrap").factory(lang="python") as session:
        assert "bubblewrap" == session.backend
        assert session.run("print(1)").success()


@pytest.fixture
def _no_more_backends() -> Iterator[None]:
    yield
    _registered.clear()


@pytest.mark.usefixtures("_no_more_backends")
def test_a_backend_of_ones_own() -> None:
    asked: list[dict[str, Any]] = []

    def roomy(**arguments: Any) -> Any:
        asked.append(arguments)
        return create_session("bubblewrap", **arguments, runtime_configs={"mem_limit": "2g"})

    made = register_backend(
        "roomy",
        roomy,
        capabilities=BackendCapabilities(platforms=["linux"]),  # type: ignore[arg-type]
    )
    assert made is get_backend("ROOMY")
    assert (("linux",), False) == (made.capabilities.platforms, made.builtin)
    with SandboxSession(backend="roomy", lang="python", verbose=True) as session:
        assert 2 << 30 == session.config.limits.memory_bytes
    assert [{"verbose": True}] == asked
    for name in ("roomy", "docker", "No Name", ""):
        with pytest.raises(ValidationError):
            register_backend(name, roomy)
    with pytest.raises(ValidationError, match="factory"):
        register_backend("other", "not a function")  # type: ignore[arg-type]


# --- attributes of sessions


def test_what_has_no_container_says_so() -> None:
    session = SandboxSession(backend="bubblewrap", lang="python")
    assert not session.using_existing_container
    assert not session.keep_template
    for name in ("container", "client", "docker_image"):
        with pytest.raises(UnsupportedError, match=f"session.{name}"):
            getattr(session, name)


@docker_engine
def test_an_engines_objects(client_of_docker: Any) -> None:
    with SandboxSession(backend="docker", client=client_of_docker, lang="python") as session:
        assert session.container is not None
        assert "running" == session.container.status
        assert session.docker_image is not None
        assert any(DefaultImage.PYTHON in tag for tag in session.docker_image.tags)
        assert session.client is client_of_docker
        data, facts = session.get_archive("/etc/hostname")
        assert data
        assert "hostname" == facts["name"]
    assert session.container is None


def test_default_images_are_the_languages_own() -> None:
    names = {name.lower(): value for name, value in vars(DefaultImage).items() if name.isupper()}
    assert {name: image_name(name) for name in names} == names
    assert {"python", "java", "javascript", "cpp", "go", "ruby", "r"} == names.keys()


# --- containers and images


@pytest.fixture
def client_of_docker() -> Any:
    import docker

    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture
def running(client_of_docker: Any) -> Iterator[Any]:
    container = client_of_docker.containers.run(
        DefaultImage.PYTHON, ["sleep", "600"], detach=True, network_mode="none"
    )
    yield container
    container.remove(force=True)


@docker_engine
def test_a_container_that_is_there(running: Any, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("from the host")
    with SandboxSession(backend="docker", container_id=running.id, lang="python") as session:
        assert session.using_existing_container
        session.copy_to_runtime(str(note), "/tmp/note.txt")
        code = "print(open('/tmp/note.txt').read())"
        assert "from the host\n" == session.run(code).stdout
        assert "note.txt" in session.execute_command("ls /tmp").stdout
    running.reload()
    assert "running" == running.status


@docker_engine
def test_a_container_that_is_not_there() -> None:
    with (
        pytest.raises(ContainerError),
        SandboxSession(backend="docker", container_id="none-such", lang="python"),
    ):
        pass


@docker_engine
def test_images_of_ones_own(client_of_docker: Any, tmp_path: Path) -> None:
    word = uuid.uuid4().hex
    (tmp_path / "Dockerfile").write_text(
        f"FROM {DefaultImage.PYTHON}\nUSER 0\nRUN mkdir -p /srv && echo {word} > /srv/word\n"
    )
    code = "print(open('/srv/word').read().strip())"
    with SandboxSession(
        backend="docker", lang="python", dockerfile=str(tmp_path / "Dockerfile"), keep_template=True
    ) as session:
        assert f"{word}\n" == session.run(code).stdout
        assert session.docker_image is not None
        image = session.docker_image.id
    try:
        with SandboxSession(
            backend="docker", lang="python", image=image, skip_environment_setup=True
        ) as session:
            assert f"{word}\n" == session.run(code).stdout
    finally:
        _remove(client_of_docker, image)


@docker_engine
def test_limits_of_a_container() -> None:
    with SandboxSession(
        backend="docker",
        lang="python",
        runtime_configs={"mem_limit": "256m", "pids_limit": 90, "network_mode": "none"},
    ) as session:
        assert session.container is not None
        host = session.container.attrs["HostConfig"]
        assert (256 << 20, "none") == (host["Memory"], host["NetworkMode"])


def _remove(client: Any, image: str) -> None:
    """Containers of closed sessions go when nobody waits for them; until then they use it."""
    from docker.errors import APIError

    limit = time.monotonic() + 60
    while True:
        try:
            client.images.remove(image, force=True)
            return
        except APIError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.2)
