"""A Podman service for the tests, an image to try it with, and a look at what is left behind."""

import contextlib
import io
import tarfile
import time
import uuid
from collections.abc import Iterator

import pytest

from llm_sandbox.backends.containers.gc.labels import OWNER
from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.backends.podman.engine import PodmanEngine
from llm_sandbox.backends.podman.service import Service, find_podman, start_service
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.backends.runtime import describe_runtime, pack
from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.settings import get_settings

pytest.importorskip("docker", reason="docker-py is not installed")


@pytest.fixture(scope="session")
def podman() -> str:
    """Path of the program."""
    found = find_podman()
    if found is None:
        pytest.skip("podman is not installed")
    return found


@pytest.fixture(scope="session")
def service(podman: str) -> Iterator[Service]:
    """A service that listens where nobody looks, and is gone after the tests."""
    try:
        service = start_service(podman)
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    yield service
    service.process.close()
    assert not service.process.folder.exists()


@pytest.fixture(scope="session")
def engine(service: Service) -> Iterator[PodmanEngine]:
    """The engine behind it. Volumes that the tests made are removed, containers must be gone."""
    import docker

    with contextlib.closing(docker.DockerClient(service.address, version="1.40")) as client:
        yield PodmanEngine(client, local=True, file_identity=str(uuid.uuid4()))
        ours = {"label": f"{OWNER}={current_owner()}"}
        deadline = time.monotonic() + 10
        while left := client.containers.list(all=True, ignore_removed=True, filters=ours):
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        for container in left:
            container.remove(v=True, force=True)
        for volume in client.volumes.list(filters=ours):
            volume.remove()
        assert not left


@pytest.fixture(scope="session")
def image(engine: PodmanEngine) -> Iterator[str]:
    """An image with this machine's Python and nothing else: no registry is needed for it."""
    name = f"llm-sandbox-test/python:{uuid.uuid4().hex[:8]}"
    # As one word: Podman does not hear the tag otherwise.
    engine.api.import_image_from_data(_root(engine.architecture), name)
    yield name
    engine.client.images.remove(name, force=True)


@pytest.fixture(scope="session")
def python(engine: PodmanEngine) -> list[str]:
    """The start of a command line in that image; code follows."""
    return [*describe_runtime(engine.architecture).command, "-c"]


@pytest.fixture
def empty_cache(tmp_path, monkeypatch) -> None:
    """Nothing is known from other runs."""
    monkeypatch.setenv("LLM_SANDBOX_CACHE_DIR", str(tmp_path / "cache"))
    get_settings.cache_clear()
    yield
    monkeypatch.undo()
    get_settings.cache_clear()


def _root(architecture: str) -> bytes:
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=packed, mode="w") as root,
        tarfile.open(fileobj=io.BytesIO(pack(describe_runtime(architecture)))) as files,
    ):
        for entry in files:
            content = files.extractfile(entry)
            entry.name = f"{GUEST_ROOT.lstrip('/')}/{entry.name}"
            root.addfile(entry, content)
        for path, mode in (
            ("sandbox", 0o700),
            ("tmp", 0o1777),
            ("run", 0o755),
            ("var/tmp", 0o1777),
        ):
            folder = tarfile.TarInfo(path)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            root.addfile(folder)
    return packed.getvalue()
