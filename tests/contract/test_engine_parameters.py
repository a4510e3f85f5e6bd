"""Every parameter of a session in a container has its effect, on every engine that there is."""

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError, NotFound
from docker.types import Ulimit

from llm_sandbox import (
    BaseSession,
    SandboxTimeoutError,
    SecurityViolationError,
    ValidationError,
    get_security_policy,
)
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.docker import SandboxDockerSession
from llm_sandbox.exceptions import BackendError, ContainerError, LanguageNotSupportedError
from llm_sandbox.podman import SandboxPodmanSession

MARK = "/srv/mark"

SESSIONS = {"docker": SandboxDockerSession, "podman": SandboxPodmanSession}
ENGINES = [pytest.param(name, marks=pytest.mark.engine(name, image="python")) for name in SESSIONS]


class Maker:
    """Makes sessions of one engine."""

    def __init__(self, engine: str, client: Any) -> None:
        self.engine = engine
        self.client = client
        self.cls = SESSIONS[engine]

    def __call__(self, **arguments: Any) -> SandboxDockerSession:
        return self.cls(**arguments)


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, client_of: Callable[[str], Any]) -> Maker:
    return Maker(request.param, client_of(request.param))


def printed(session: BaseSession, code: str) -> str:
    result = session.run(code)
    assert 0 == result.exit_code, result.stderr
    return result.stdout.strip()


def test_client(make: Maker) -> None:
    with make(client=make.client) as session:
        assert session.client.api.base_url == make.client.api.base_url
        assert session.container is not None
        assert make.client.containers.get(session.container.id).status == "running"
    assert session.container is None
    with pytest.raises(ValidationError, match="client"):
        make(client="unix:///var/run/docker.sock").open()


def test_image(make: Maker, marked: Callable[[str], str]) -> None:
    image = marked(make.engine)
    with make(image=image) as session:
        assert "marked" == printed(session, f"print(open('{MARK}').read())")
        assert session.docker_image is not None
        assert any(image in tag for tag in session.docker_image.tags)
    with pytest.raises((ContainerError, BackendError)):
        make(image="localhost/llm-sandbox-test/there-is-none:0").open()


@pytest.mark.parametrize("keep", [False, True])
def test_dockerfile_and_keep_template(
    make: Maker,
    marked: Callable[[str], str],
    remove_image: Callable[[Any, str], None],
    tmp_path: Path,
    keep: bool,
) -> None:
    """An image is built from a folder, and is there afterwards only if it is to be kept."""
    tmp_path.joinpath("Dockerfile").write_text(
        f"FROM {marked(make.engine)}\nCOPY word.txt /srv/word\n"
    )
    word = uuid.uuid4().hex  # or an earlier run's image would be found
    tmp_path.joinpath("word.txt").write_text(word)
    with make(dockerfile=str(tmp_path), keep_template=keep) as session:
        assert word == printed(session, "print(open('/srv/word').read())")
        assert session.keep_template is keep
        assert session.docker_image is not None
        image = session.docker_image.id

    def is_there() -> bool:
        try:
            return bool(make.client.api.inspect_image(image))
        except NotFound:
            return False
        except APIError as error:
            # Podman looks twice, and the image may go in between.
            if "image not known" not in str(error.explanation):
                raise
            return False

    # It goes when its container has gone, which nobody waits for.
    limit = time.monotonic() + (2 if keep else 60)
    while is_there() and time.monotonic() < limit:
        time.sleep(0.2)
    assert keep == is_there()
    if keep:
        remove_image(make.client, image)


def test_lang_workdir_and_verbose(make: Maker, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "llm_sandbox"), make(workdir="/work", verbose=True) as s:
        assert "/work" == printed(s, "import os; print(os.getcwd())")
        assert "/work" == s.execute_command("pwd").stdout.strip()
    assert make.engine in caplog.text
    with pytest.raises(LanguageNotSupportedError):
        make(lang="cobol")


def test_commit_container(make: Maker, remove_image: Callable[[Any, str], None]) -> None:
    """What a session left in its working directory is in an image of the name asked for."""
    name = f"llm-sandbox-test/committed:{make.engine}"
    first = make(commit_container=True, commit_image_tag=name)
    with first:
        first.run("open('state.txt', 'w').write('as it was left')")
        assert first.committed_image is None
    assert name == first.committed_image
    try:
        with make(image=name) as later:
            assert "as it was left" == printed(later, "print(open('state.txt').read())")
    finally:
        remove_image(make.client, name)


def test_stream_changes_nothing(make: Maker) -> None:
    """Exit codes and callbacks are the same with it and without."""
    for stream in (False, True):
        heard: list[str] = []
        with make(stream=stream) as session:
            result = session.run("print('é' * 3); import sys; sys.exit(3)", on_stdout=heard.append)
            assert session.stream is stream
        assert (3, "ééé\n", "ééé\n") == (result.exit_code, result.stdout, "".join(heard))


def test_runtime_configs(make: Maker) -> None:
    configs = {
        "environment": ["NAME=value"],
        "labels": {"of": "a test"},
        "mem_limit": "300m",
        "pids_limit": 77,
        "timeout": 30,
    }
    with make(runtime_configs=configs) as session:
        assert "value" == printed(session, "import os; print(os.environ['NAME'])")
        container = session.container
        assert container is not None
        assert "a test" == container.labels["of"]
        assert 300 << 20 == container.attrs["HostConfig"]["Memory"]
        assert (300 << 20, 77) == (
            session.sandbox.limits.memory_bytes,
            session.sandbox.limits.processes,
        )
        assert 30 == session.config.run_timeout(None)


def test_security_policy(make: Maker) -> None:
    with make(security_policy=get_security_policy("production")) as session:
        assert "1" == printed(session, "print(1)")
        with pytest.raises(SecurityViolationError):
            session.run("import subprocess; subprocess.run('ls')")


def test_timeouts(make: Maker) -> None:
    with make(default_timeout=1, execution_timeout=2) as session:
        with pytest.raises(SandboxTimeoutError, match=r"2\.0 s"):
            session.run("import time; time.sleep(60)")
        with pytest.raises(SandboxTimeoutError, match=r"1\.0 s"):
            session.execute_command("sleep 60")
        assert "on" == printed(session, "print('on')")
    with make(session_timeout=1) as session:
        time.sleep(1.5)
        with pytest.raises(ContainerError, match="session_timeout"):
            session.run("1")


@pytest.fixture
def existing(make: Maker) -> Iterator[Any]:
    container = make.client.containers.run(
        image_name("python"),
        ["sleep", "600"],
        detach=True,
        network_mode="none",
        ulimits=[Ulimit(name=name, soft=1024, hard=1024) for name in ("nofile", "nproc")],
    )
    yield container
    container.remove(force=True)


def test_container_id(make: Maker, existing: Any) -> None:
    """A container that was there is worked in, and is left running with what was written."""
    with make(container_id=existing.id, workdir="/tmp/work") as session:
        assert session.using_existing_container
        assert "42" == printed(session, "print(6 * 7); _ = open('note', 'w').write('left')")
        assert session.container is not None
        assert existing.id == session.container.id
    existing.reload()
    assert "running" == existing.status
    assert b"left" == existing.exec_run(["cat", "/tmp/work/note"]).output
    with make() as session:
        assert not session.using_existing_container
    with pytest.raises(ContainerError):
        make(container_id="there-is-none").open()


def test_mounts(make: Maker, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    tmp_path.joinpath("word.txt").write_text("from outside")
    with make(mounts=[f"{tmp_path}:/data:ro"]) as session:
        assert "from outside" == printed(session, "print(open('/data/word.txt').read())")
        assert 0 != session.run("open('/data/word.txt', 'w')").exit_code


def test_files_and_commands(make: Maker, tmp_path: Path) -> None:
    """The members that work on files, and the result of the first command that fails."""
    tmp_path.joinpath("a.txt").write_text("there and back")
    with make() as session:
        session.copy_to_runtime(tmp_path / "a.txt", "folder/a.txt")
        session.copy_from_runtime("folder/a.txt", tmp_path / "b.txt")
        archive, facts = session.get_archive("folder")
        assert "folder" == facts["name"]
        assert b"there and back" in archive
        failed = session.execute_commands(["echo $HOME && true", ("exit 4", "/tmp"), "echo never"])
        assert 4 == failed.exit_code
        assert (True, []) == session.is_safe("import os")
    assert "there and back" == tmp_path.joinpath("b.txt").read_text()
