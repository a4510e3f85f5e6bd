"""The image that these tests run on: built once, by what lies in `image/`, and kept."""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from llm_sandbox import ArtifactSandboxSession, __version__
from llm_sandbox.backends.containers.gc.labels import MARK
from llm_sandbox.backends.containers.images.build import ImageBuilder
from llm_sandbox.backends.docker.backend import connect_docker
from llm_sandbox.backends.micromamba.backend import MicromambaBackend
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.recipes import BASE, get_recipe
from llm_sandbox.exceptions import ConfigurationError, ImageNotFoundError, SandboxError

_IMAGE = Path(__file__).parent / "image"
_REPOSITORY = "llm-sandbox-test/micromamba"
_BASES = (f"llm-sandbox/base:{__version__}", "debian:bookworm-slim")
_BUILD_S = 900
_NEEDED = ("certifi", "packaging", "rattler")


def pytest_collection_modifyitems(items):
    for item in items:
        if "micromamba_image" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.engine)
            # The first of them builds the image.
            item.add_marker(pytest.mark.timeout(_BUILD_S))


@pytest.fixture(scope="session")
def engine():
    try:
        engine = connect_docker()
        _ = engine.facts
    except SandboxError as error:
        pytest.skip(f"docker: {error.message}")
    return engine


@pytest.fixture(scope="session")
def base_image(engine):
    """Name of an image without micromamba, which the test image is built on."""
    with one_builder():
        for name in _BASES:
            if _has(engine, name):
                return name
        try:
            return ImageBuilder(engine, on_step=print).build(get_recipe(BASE)).name
        except SandboxError as error:
            pytest.skip(f"the test image has nothing to be built on: {error.message}")


@contextlib.contextmanager
def one_builder():
    """Let one process at a time build: of two equal images the first would lose its name."""
    path = Path(tempfile.gettempdir()) / f"test-images-{os.getuid()}.lock"
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def micromamba_image(engine, request):
    """Name of an image laid out as micromamba's own; see `image/Dockerfile`."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted(path for path in _IMAGE.rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(path.read_bytes())
    name = f"{_REPOSITORY}:{digest.hexdigest()[:16]}"
    if _has(engine, name):
        return name
    missing = [module for module in _NEEDED if importlib.util.find_spec(module) is None]
    if missing or sys.base_prefix == "/usr":
        pytest.skip(
            f"the environments of the test image need {', '.join(missing)}"
            if missing
            else "the test image needs a Python that can be moved, not a Debian package's"
        )
    base = request.getfixturevalue("base_image")
    command = [sys.executable, str(_IMAGE / "build.py"), "--base", base, "--tag", name]
    with one_builder():
        if _has(engine, name):
            return name
        built = subprocess.run(
            [*command, "--label", f"{MARK}={__version__}"],
            capture_output=True,
            text=True,
            timeout=_BUILD_S,
        )
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    return name


def _has(engine, name):
    with contextlib.suppress(ImageNotFoundError), engine.errors("inspect", name):
        engine.api.inspect_image(name)
        return True
    return False


@pytest.fixture(scope="session")
def backend_for(micromamba_image):
    """Make backends on the test image: `backend_for("science")`."""
    made = []

    def make(environment=None, **options):
        options.setdefault("image", micromamba_image)
        backend = MicromambaBackend(ContainerOptions(environment=environment, **options))
        made.append(backend)
        return backend

    yield make
    for backend in made:
        with contextlib.suppress(ConfigurationError):
            backend.close()


@pytest.fixture
def open_session(backend_for):
    """Make sessions on the test image: `open_session("science")`."""
    made = []

    def make(environment=None, **arguments):
        session = ArtifactSandboxSession(backend_for(environment), **arguments)
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()
