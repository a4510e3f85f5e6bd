"""An engine, or somebody at it, does what nobody hopes for: every end is a typed error that says
what to do, what the code had put out is kept, and nothing stays behind.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import docker
import pytest

from llm_sandbox import __version__
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.containers.gc.removal import wait_until_removed
from llm_sandbox.backends.docker.backend import DockerBackend
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.runtime import describe_runtime
from llm_sandbox.const import StateOutcome
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    ImageNotFoundError,
    ImagePullError,
    NoSpaceError,
    SandboxError,
    SandboxTimeoutError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.settings import get_settings
from tests.containers.conftest import wait_for
from tests.containers.engine_proxy import EngineProxy, socket_of
from tests.containers.own_engine import OwnEngine
from tests.containers.seen import container_of, counted, exists, ours

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine("docker", image="python"),
    # docker-py closes no socket that it could not connect.
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
    ),
]

IMAGE = f"llm-sandbox/python:{__version__}"
COUNT = "import time\nfor n in range(600):\n    print(n, flush=True)\n    time.sleep(0.1)"
SOON_S = 20.0
"""Against 60 s, and for ever: what a busy machine needs for some seconds of work."""


@pytest.fixture(autouse=True)
def _settings(monkeypatch):
    """A setting of one test is none of the next."""
    yield
    monkeypatch.undo()
    get_settings.cache_clear()


@pytest.fixture
def api():
    """The engine, as somebody else reaches it."""
    return get_backend("docker").engine.api


@pytest.fixture
def proxy():
    """Between the client and the engine."""
    made = EngineProxy(socket_of(get_backend("docker").engine.client))
    yield made
    # What is still being removed by way of it, is, before it goes.
    made.clear()
    made.thaw()
    made.restore()
    assert wait_until_removed(100)  # a busy engine takes a minute
    made.close()
    gc.collect()


@pytest.fixture
def client(proxy):
    """A client that reaches the engine through the proxy."""
    with contextlib.closing(docker.DockerClient(proxy.address, timeout=60)) as made:
        yield made


@pytest.fixture
def backend(client):
    """The same as a backend."""
    return DockerBackend(ContainerOptions(image=IMAGE), client)


@pytest.fixture
def later():
    """Does something while the code runs."""
    timers = []

    def start(act, after_s=1.5):
        timer = threading.Timer(after_s, act)
        timer.start()
        timers.append(timer)

    yield start
    for timer in timers:
        timer.join()


# --- the engine


def test_no_engine(tmp_path, monkeypatch):
    """An engine that is not there is named, with what to type."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    with pytest.raises(BackendUnavailableError, match="No such file") as caught:
        Sandbox.create(backend=DockerBackend())
    assert "systemctl start docker" in caught.value.hint


def test_an_engine_that_fails(proxy, backend):
    """Its own words are in the error, and it is asked again the next time."""
    proxy.answer("containers/create", 500, "the disk of the engine is on fire")
    with pytest.raises(BackendError, match="on fire"):
        Sandbox.create(backend=backend)
    proxy.clear()
    Sandbox.create(backend=backend).destroy()


def test_an_engine_that_fails_at_the_start(proxy, backend, api):
    """A container that could be made and not started does not stay."""
    before = ours(api)
    proxy.answer("POST .*/start", 500, "no more processes")
    with pytest.raises(BackendError, match="no more processes"):
        Sandbox.create(backend=backend)
    assert wait_for(lambda: ours(api) <= before, SOON_S)


def test_an_engine_that_ends_during_a_run(proxy, client, api, later):
    """The result has the output until then, and what comes after says that all is gone."""
    with ArtifactSandboxSession("docker", client=client) as session:
        container = container_of(session)
        later(proxy.cut)
        result = session.run(COUNT, timeout=50)
        assert counted(result.stdout)
        assert result.state is StateOutcome.LOST
        assert not result.timed_out
        with pytest.raises(ContainerGoneError, match="has ended") as caught:
            session.run("1")
        assert "new session" in caught.value.hint
        with pytest.raises(ContainerGoneError) as caught:
            session.execute_command("true")
        assert caught.value.hint
        begun = time.monotonic()
    assert time.monotonic() - begun < SOON_S
    # Process 1 ends with its connection, without anybody's help.
    assert wait_for(lambda: not exists(api, container), SOON_S)


def test_an_engine_that_was_restarted(proxy, backend):
    """The same backend works again when the engine does."""
    with Sandbox.create(backend=backend) as before:
        proxy.cut()
        with pytest.raises(BackendUnavailableError):
            Sandbox.create(backend=backend)
        proxy.restore()
        with Sandbox.create(backend=backend) as sandbox:
            assert "hi\n" == sandbox.check("echo", "hi").stdout
        with pytest.raises(ContainerGoneError):
            before.check("true")


def test_an_engine_that_is_slow_to_remove(proxy, backend, api):
    """Whoever closes does not wait for it, and the container goes all the same."""
    proxy.delay("^DELETE", 4)
    sandbox = Sandbox.create(backend=backend)
    process = sandbox.exec("sleep", "300")
    begun = time.monotonic()
    sandbox.destroy()
    assert time.monotonic() - begun < 3
    assert process.wait(10) is not None
    assert wait_for(lambda: not ours(api), 60)


def test_an_engine_that_removes_the_image_as_well(proxy, backend, api):
    """Podman answers so for a moment; what is removed afterwards is removed all the same."""
    before = ours(api)
    sandboxes = [Sandbox.create(backend=backend) for _ in range(2)]
    proxy.answer("GET .*/containers/.*/json", 500, "image not known")
    sandboxes[0].destroy()
    assert wait_for(lambda: any("/json" in line for line in proxy.seen[-3:]))
    assert not wait_until_removed(1)
    proxy.clear()
    sandboxes[1].destroy()
    assert wait_until_removed(100)
    assert wait_for(lambda: ours(api) <= before)


def test_a_client_that_fails_in_its_own_way(client, backend, api, monkeypatch):
    """Such as by a KeyError, when a thread changes the environment that the client reads."""
    before = ours(api)
    sandbox = Sandbox.create(backend=backend)
    asked = []

    def fail(container):
        asked.append(container)
        raise KeyError("NO_PROXY")

    with monkeypatch.context() as patch:
        patch.setattr(client.api, "inspect_container", fail)
        sandbox.destroy()
        assert wait_for(lambda: asked)
    assert wait_until_removed(100)
    assert wait_for(lambda: ours(api) <= before)


def test_a_connection_that_freezes(proxy, client, api):
    """Nothing comes, and nothing is refused: a timeout is kept all the same."""
    with ArtifactSandboxSession("docker", client=client) as session:
        container = container_of(session)
        assert session.run("print(1)").stdout == "1\n"
        proxy.freeze()
        begun = time.monotonic()
        with pytest.raises(SandboxTimeoutError) as caught:
            session.run(COUNT, timeout=2)
        assert time.monotonic() - begun < 50
        assert caught.value.result.timed_out
        proxy.thaw()
    assert wait_for(lambda: not exists(api, container), SOON_S)


@pytest.fixture
def own_engine():
    """An engine that may be stopped."""
    if os.geteuid() != 0 or not (shutil.which("dockerd") and shutil.which("unshare")):
        pytest.skip("an engine to stop: only root can start one, with dockerd and unshare")
    folder = Path(tempfile.mkdtemp(prefix="docker-engine-own-"))
    made = OwnEngine(folder)
    yield made
    assert wait_until_removed(100)
    made.stop()
    gc.collect()
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.2)


def test_an_engine_that_is_stopped_and_started(own_engine):
    """A real one: what a program wrote is kept, and the same backend works with its successor."""
    with contextlib.closing(docker.DockerClient(own_engine.address)) as client:
        backend = DockerBackend(ContainerOptions(image="nothing:1"), client)
        python = describe_runtime(backend.engine.architecture).command
        with Sandbox.create(backend=backend) as sandbox:
            process = sandbox.exec(*python, "-c", COUNT)
            assert next(iter(process.stdout.lines())) == "0"
            own_engine.stop()
            result = process.collect(timeout=60)
            assert counted(result.stdout)
            assert result.exit_code == 137
            with pytest.raises(ContainerGoneError) as caught:
                sandbox.exec("true")
            assert caught.value.hint
            with pytest.raises(BackendUnavailableError):
                Sandbox.create(backend=backend)
        own_engine.start()
        with Sandbox.create(backend=backend) as sandbox:
            assert "42\n" == sandbox.check(*python, "-c", "print(42)").stdout


# --- somebody else


def test_a_container_that_is_removed_during_a_run(api, later):
    """As when the engine ends."""
    with ArtifactSandboxSession("docker") as session:
        container = container_of(session)
        later(lambda: api.remove_container(container, force=True))
        result = session.run(COUNT, timeout=50)
        assert counted(result.stdout)
        assert result.state is StateOutcome.LOST
        with pytest.raises(ContainerGoneError) as caught:
            session.run("1")
        assert caught.value.hint


def test_a_container_that_is_removed_between_runs(api):
    """The next use of any kind says so, at once."""
    with ArtifactSandboxSession("docker") as session:
        session.run("x = 1")
        api.remove_container(container_of(session), force=True)
        begun = time.monotonic()
        for use in (
            lambda: session.run("x"),
            lambda: session.execute_command("true"),
            lambda: session.sandbox.files.read_bytes("x"),
        ):
            with pytest.raises(SandboxError) as caught:
                use()
            assert "ended" in caught.value.message
        assert time.monotonic() - begun < SOON_S


def test_a_container_that_is_paused_during_a_run(api, later):
    """The timeout is kept, and what cannot be stopped inside ends with its container."""
    with ArtifactSandboxSession("docker") as session:
        container = container_of(session)
        later(lambda: api.pause(container))
        begun = time.monotonic()
        with pytest.raises(SandboxTimeoutError) as caught:
            session.run(COUNT, timeout=4)
        assert time.monotonic() - begun < 4 + SOON_S
        assert counted(caught.value.result.stdout)
        assert any("paused" in note for note in caught.value.result.notes)
    assert wait_for(lambda: not exists(api, container), SOON_S)


def test_a_container_that_is_paused_during_a_command(api, later):
    """Its timeout is kept from here when nobody keeps it inside."""
    with ArtifactSandboxSession("docker") as session:
        container = container_of(session)
        later(lambda: api.pause(container))
        begun = time.monotonic()
        with pytest.raises(SandboxTimeoutError) as caught:
            session.execute_command("echo begun; sleep 300", timeout=3)
        assert time.monotonic() - begun < 3 + SOON_S
        assert "begun\n" == caught.value.result.stdout
    assert wait_for(lambda: not exists(api, container), SOON_S)


def test_a_paused_container_says_how_it_goes_on(api):
    """Requests meanwhile fail with the command to type; after that they work."""
    with Sandbox.create(backend="docker") as sandbox:
        container = sandbox._machine.container
        api.pause(container)
        begun = time.monotonic()
        with pytest.raises(BackendError, match="paused") as caught:
            sandbox.exec("true")
        assert time.monotonic() - begun < SOON_S
        assert f"docker unpause {container[:12]}" == caught.value.hint
        assert caught.value.retryable
        api.unpause(container)
        assert "hi\n" == sandbox.check("echo", "hi").stdout
        api.pause(container)
        begun = time.monotonic()
    assert time.monotonic() - begun < SOON_S
    assert wait_for(lambda: not exists(api, container), SOON_S)


# --- images


def test_a_missing_image_is_refused(monkeypatch):
    """With a policy of no pulls, the error says how to pull by hand."""
    monkeypatch.setenv("LLM_SANDBOX_MISSING_IMAGES", "refuse")
    get_settings.cache_clear()
    with pytest.raises(ImageNotFoundError) as caught:
        Sandbox.create(backend="docker", image="llm-sandbox-test/none:1")
    assert "docker pull llm-sandbox-test/none:1" == caught.value.hint


def test_an_image_that_cannot_be_pulled(proxy, client):
    """The engine's words, and the command to try."""
    proxy.answer("images/create", 500, "no route to host")
    options = ContainerOptions(image="registry.invalid/none:1")
    with pytest.raises(ImagePullError, match="no route to host") as caught:
        Sandbox.create(backend=DockerBackend(options, client))
    assert "docker pull registry.invalid/none:1" in caught.value.hint


# --- what is asked for


def test_what_the_engine_refuses(api):
    """A value that only the engine can judge is refused in its words."""
    before = ours(api)
    with pytest.raises(BackendError, match=r"(?i)cpu") as caught:
        ArtifactSandboxSession("docker", runtime_configs={"cpuset_cpus": "4000"}).open()
    assert caught.value.op
    assert wait_for(lambda: ours(api) <= before, SOON_S)


def test_a_runtime_that_there_is_not(api):
    """The error names it, and nothing stays."""
    before = ours(api)
    with pytest.raises(SandboxError, match="nonesuch"):
        ArtifactSandboxSession("docker", runtime_configs={"runtime": "nonesuch"}).open()
    assert wait_for(lambda: ours(api) <= before, SOON_S)


@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_an_exec_that_is_refused(engine, container, proxy, client):
    """In somebody's container, whose engine will not start anything more."""
    theirs = container(IMAGE)
    theirs.start()
    proxy.answer(r"/exec ", 500, "no more execs")
    backend = DockerBackend(ContainerOptions(container_id=theirs.id), client)
    with pytest.raises(BackendError, match="no more execs"):
        Sandbox.create(backend=backend)
    theirs.reload()
    assert "running" == theirs.status
    proxy.clear()
    with Sandbox.create(backend=backend) as sandbox:
        assert "hi\n" == sandbox.check("echo", "hi").stdout


def test_a_full_disk():
    """The code hears of it as on any system; the session goes on when a file is removed."""
    limits = Limits(workdir_bytes=8 << 20)
    with ArtifactSandboxSession("docker", limits=limits) as session:
        result = session.run("print('begun')\nopen('big', 'wb').write(bytes(16 << 20))")
        assert "begun\n" == result.stdout
        assert "OSError" == result.error.name
        assert "No space left" in result.error.value
        assert result.state is StateOutcome.KEPT
        with pytest.raises(NoSpaceError):
            session.sandbox.files.write_bytes("more", bytes(16 << 20))
        again = session.run("import os\nos.remove('big')\nopen('small', 'w').write('x' * 9)")
        assert again.exit_code == 0
        assert b"x" * 9 == session.sandbox.files.read_bytes("small")
