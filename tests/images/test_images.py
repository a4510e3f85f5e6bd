"""Image of a session: found, pulled, built or refused."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llm_sandbox.backends.containers.images.store import EngineImages
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.exceptions import (
    BackendError,
    ImageNotFoundError,
    ImagePullError,
    ValidationError,
)
from llm_sandbox.settings import get_settings
from tests.images.conftest import remove

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def said():
    return []


@pytest.fixture
def resolve(engine, said):
    def resolve(**options):
        return EngineImages(engine).resolve(ContainerOptions(**options), said.append)

    return resolve


@pytest.fixture
def refusing(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_MISSING_IMAGES", "refuse")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture
def asked(engine):
    """Every request that the engine gets meanwhile."""
    requests = []

    def note(answer, *args, **kwargs):
        requests.append(answer.request.path_url)

    engine.api.hooks["response"].append(note)
    yield requests
    engine.api.hooks["response"].remove(note)


def write_dockerfile(folder, *lines, name="Dockerfile"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def test_a_present_image_takes_one_call(python_image, resolve, said, asked):
    found = resolve(lang="python")
    assert len(asked) == 1, asked
    assert (found.name, found.built, said) == (python_image, False, [])
    assert found.id.startswith("sha256:")
    assert found.env["PATH"].startswith("/opt/python/bin:")
    assert found.workdir == "/sandbox"
    assert found.labels["llm-sandbox.base"] in ("local", "registry")


def test_a_named_image_is_taken_as_it_is(tiny, resolve, engine):
    found = resolve(image=tiny)
    assert (found.name, found.workdir, found.built) == (tiny, None, False)
    assert resolve(image=found.id).id == found.id


def test_a_missing_image_is_pulled_and_found_afterwards(registry, resolve, said, asked):
    served, name = registry
    found = resolve(image=name)
    assert any("/blobs/" in path for path in served.asked), "nothing came over the network"
    assert said[0] == f"pulling the image {name}"
    assert not found.built, "a pulled image is kept"
    asked.clear()
    assert resolve(image=name) == found
    assert len(asked) == 1


def test_threads_that_miss_the_same_image_pull_it_once(registry, engine):
    _, name = registry
    said = []
    images = EngineImages(engine)
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: images.resolve(ContainerOptions(image=name), said.append), range(8))
        )
    assert len({image.id for image in found}) == 1
    assert [f"pulling the image {name}"] == said


def test_an_image_that_no_registry_has_is_an_error_in_the_registrys_words(registry, resolve):
    _, name = registry
    missing = name.replace(":test", ":other")
    with pytest.raises(ImagePullError, match="manifest") as caught:
        resolve(image=missing)
    assert (caught.value.image, caught.value.backend) == (missing, "docker")
    assert caught.value.hint == f"try it by hand: docker pull {missing}"


def test_an_unreachable_registry_is_an_error_that_names_it(resolve):
    with pytest.raises(ImagePullError, match=r"127\.0\.0\.1:1\b"):
        resolve(image="127.0.0.1:1/none:test")


def test_what_is_missing_is_refused_with_the_command_to_type(refusing, registry, resolve, said):
    served, name = registry
    with pytest.raises(ImageNotFoundError) as caught:
        resolve(image=name)
    assert caught.value.hint == f"docker pull {name}"
    assert (served.asked, said) == ([], [])


def test_a_missing_image_of_our_own_is_refused_too(refusing, resolve, monkeypatch):
    monkeypatch.setattr("llm_sandbox.backends.recipes.VERSION", "0.0.0-none")
    with pytest.raises(ImageNotFoundError, match=r"python:0\.0\.0-none") as caught:
        resolve(lang="python")
    assert caught.value.hint == "llm-sandbox images build python --engine docker"


def test_refusing_leaves_alone_what_is_there(refusing, python_image, resolve):
    assert resolve(lang="python").name == python_image


def test_a_language_without_an_image_says_so(resolve):
    with pytest.raises(ImageNotFoundError, match="llm-sandbox/cobol") as caught:
        resolve(lang="cobol")
    assert "no image for cobol" in str(caught.value.hint)


def test_a_dockerfile_is_built_once_and_again_when_its_context_changes(
    tiny, resolve, engine, said, tmp_path
):
    folder = write_dockerfile(tmp_path / "context", f"FROM {tiny}", "COPY . /context", "ENV A=1")
    first = resolve(dockerfile=str(folder))
    again = resolve(dockerfile=str(folder / "Dockerfile"))
    assert (first.built, again.built) == (True, False)
    assert (first.id, first.name) == (again.id, again.name)
    assert first.env["A"] == "1"
    assert said == [f"building an image from {folder / 'Dockerfile'}"]
    (folder / "data.csv").write_text("1,2\n")
    changed = resolve(dockerfile=str(folder))
    assert changed.built
    assert changed.name != first.name
    for image in (first, changed):
        remove(engine, image.name)


def test_what_dockerignore_names_changes_nothing(tiny, resolve, engine, tmp_path):
    folder = write_dockerfile(tmp_path / "context", f"FROM {tiny}", "COPY . /context")
    (folder / ".dockerignore").write_text("# notes\n*.log\n")
    first = resolve(dockerfile=str(folder))
    (folder / "today.log").write_text("x")
    assert resolve(dockerfile=str(folder)).name == first.name
    remove(engine, first.name)


def test_a_dockerfile_of_another_name_is_used(tiny, resolve, engine, tmp_path):
    folder = write_dockerfile(tmp_path / "c", f"FROM {tiny}", "ENV WHICH=dev", name="dev.docker")
    found = resolve(dockerfile=str(folder / "dev.docker"))
    assert found.env["WHICH"] == "dev"
    remove(engine, found.name)


def test_a_failed_build_shows_its_end_and_leaves_no_name(python_image, resolve, engine, tmp_path):
    folder = write_dockerfile(
        tmp_path / "context",
        f"FROM {python_image}",
        "RUN for n in $(seq 40); do echo line $n; done; echo the reason >&2; exit 7",
    )
    with pytest.raises(BackendError, match="returned a non-zero code: 7") as caught:
        resolve(dockerfile=str(folder))
    assert "line 40" in caught.value.message
    assert "the reason" in caught.value.message
    assert "line 10\n" not in caught.value.message
    assert f"docker build --file {folder}" in str(caught.value.hint)
    name = f"llm-sandbox/from-dockerfile:{'0' * 16}"
    assert engine.find_image(name) is None


@pytest.mark.parametrize("place", ["", "nowhere/Dockerfile"])
def test_no_dockerfile_there(resolve, tmp_path, place):
    with pytest.raises(ValidationError, match="no Dockerfile") as caught:
        resolve(dockerfile=str(tmp_path / place))
    assert caught.value.parameter == "dockerfile"


def test_threads_with_one_dockerfile_build_it_once(tiny, engine, tmp_path):
    folder = write_dockerfile(tmp_path / "context", f"FROM {tiny}", "ENV A=1")
    images, said = EngineImages(engine), []
    with ThreadPoolExecutor(4) as pool:
        options = ContainerOptions(dockerfile=str(folder))
        found = list(pool.map(lambda _: images.resolve(options, said.append), range(4)))
    assert sorted(image.built for image in found) == [False, False, False, True]
    assert len(said) == 1
    remove(engine, found[0].name)


def test_ctrl_c_ends_a_build_and_what_it_runs(python_image, engine, tmp_path, children):
    mark = f"sleep 12{time.time_ns() % 10**9}"
    folder = write_dockerfile(tmp_path / "context", f"FROM {python_image}", f"RUN {mark}")
    script = (
        "import sys\n"
        "from llm_sandbox.backends.containers.images.store import EngineImages\n"
        "from llm_sandbox.backends.options.container_options import ContainerOptions\n"
        "from llm_sandbox.backends.docker.backend import connect_docker\n"
        "options = ContainerOptions(dockerfile=sys.argv[1])\n"
        "EngineImages(connect_docker()).resolve(options, print)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    children.append(program)
    wait_until(lambda: containers_with(engine, mark), "the build runs nothing")
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    wait_until(lambda: not containers_with(engine, mark), "its container is still there")


def containers_with(engine, words):
    return [
        container["Id"]
        for container in engine.api.containers(all=True)
        if words in container["Command"]
    ]


def wait_until(condition, problem):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, problem
        threading.Event().wait(0.1)
