"""`container_id`: working in a container that somebody else has made."""

import pytest

from llm_sandbox import __version__
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    KernelNotReadyError,
    UnsupportedError,
)
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.settings import get_settings
from tests.containers.conftest import wait_for
from tests.containers.wheels import make_wheel, only_from

pytestmark = [pytest.mark.slow, pytest.mark.engine]

IMAGE = f"llm-sandbox/python:{__version__}"


def attach(engine, container, **options):
    """A backend whose machines are that container."""
    return type(get_backend(engine.name))(ContainerOptions(container_id=container.id, **options))


def inside(container, command):
    """What a shell in the container says, past our library."""
    return container.exec_run(["sh", "-c", command], user="0").output.decode()


def test_code_runs_in_it_and_it_stays(engine, container):
    theirs = container(IMAGE)
    theirs.start()
    with ArtifactSandboxSession(attach(engine, theirs)) as session:
        result = session.run("x = 6 * 7\nopen('answer', 'w').write(str(x))\nprint(x)")
        assert "42\n" == result.stdout
        assert "43\n" == session.run("print(x + 1)").stdout
        assert "42" == session.execute_command("cat answer").stdout
    theirs.reload()
    assert "running" == theirs.status
    assert "42" == inside(theirs, "cat /sandbox/answer")


def test_it_is_left_as_it_was(engine, container):
    theirs = container(IMAGE)
    theirs.start()
    before = inside(theirs, "ls -a /opt")
    with Sandbox.create(backend=attach(engine, theirs)) as sandbox:
        sandbox.sh("sleep 1000 & setsid sleep 1000 & sleep 1000")
        during = inside(theirs, "ls -a /opt")
        assert wait_for(lambda: "3\n" == inside(theirs, "pgrep -fxc 'sleep 1000'"))
    assert during != before  # the control: our code was there
    assert wait_for(lambda: before == inside(theirs, "ls -a /opt"), 30)
    assert "0\n" == inside(theirs, "pgrep -fxc 'sleep 1000'")
    assert "defunct" not in inside(theirs, "ps ax")


def test_programs_run_as_the_containers_user(engine, container):
    theirs = container(IMAGE, user="1234:4321")
    theirs.start()
    with Sandbox.create(backend=attach(engine, theirs), workdir="/tmp/work") as sandbox:
        assert "1234 4321" == " ".join(sandbox.check("sh", "-c", "id -u; id -g").stdout.split())
        sandbox.files.write_bytes("made", b"x")
        assert "1234" == sandbox.check("stat", "-c", "%u", "made").stdout.strip()


def test_programs_run_as_the_user_that_was_asked_for(engine, container):
    theirs = container(IMAGE)
    theirs.start()
    backend = attach(engine, theirs, runtime_configs={"user": "nobody"})
    with Sandbox.create(backend=backend, workdir="/tmp") as sandbox:
        assert "nobody" == sandbox.check("id", "-un").stdout.strip()


def test_a_stopped_container_is_started(engine, container):
    theirs = container(IMAGE)
    with Sandbox.create(backend=attach(engine, theirs)) as sandbox:
        assert "ok" == sandbox.check("echo", "-n", "ok").stdout
    theirs.reload()
    assert "running" == theirs.status


def test_an_image_without_python_runs_commands(engine, container, bare_image):
    theirs = container(bare_image)
    theirs.start()
    backend = attach(engine, theirs)
    with Sandbox.create(backend=backend) as sandbox:
        assert 3 == sandbox.sh("exit 3").wait()
        assert "12" == sandbox.check("sh", "-c", "expr 5 + 7").stdout.strip()
        sandbox.files.write_bytes("a", b"bytes")
        assert b"bytes" == sandbox.files.read_bytes("a")
    with pytest.raises(KernelNotReadyError, match="no Python"):
        ArtifactSandboxSession(backend).open()


def test_two_sessions_share_it(engine, container):
    theirs = container(IMAGE)
    theirs.start()
    backend = attach(engine, theirs)
    with Sandbox.create(backend=backend) as one, Sandbox.create(backend=backend) as other:
        one.files.write_bytes("note", b"for the other")
        assert b"for the other" == other.files.read_bytes("note")
        one.destroy()
        assert "still" == other.check("echo", "-n", "still").stdout


def test_no_such_container(engine):
    backend = type(get_backend(engine.name))(ContainerOptions(container_id="nonesuch"))
    with pytest.raises(ContainerGoneError, match="no container 'nonesuch'") as caught:
        Sandbox.create(backend=backend)
    assert "ps --all" in caught.value.hint


def test_one_that_ends_at_once(engine, container):
    theirs = container(IMAGE, ("true",))
    with pytest.raises(ContainerGoneError, match="ended at once"):
        Sandbox.create(backend=attach(engine, theirs))


def test_a_paused_one(engine, container):
    theirs = container(IMAGE)
    theirs.start()
    theirs.pause()
    try:
        with pytest.raises(BackendError, match="is paused") as caught:
            Sandbox.create(backend=attach(engine, theirs))
        assert "unpause" in caught.value.hint
    finally:
        theirs.unpause()


def test_a_read_only_one_is_refused(engine, container):
    theirs = container(IMAGE, read_only=True)
    theirs.start()
    with pytest.raises(UnsupportedError, match="nothing can be copied into it"):
        Sandbox.create(backend=attach(engine, theirs))


def test_the_report_says_what_its_maker_saw_to(engine, container):
    closed, opened = container(IMAGE, mem_limit="256m"), container(IMAGE, network_mode="bridge")
    closed.start()
    opened.start()
    with Sandbox.create(backend=attach(engine, closed)) as sandbox:
        assert "enforced" == sandbox.isolation.state("network")
        assert "enforced" == sandbox.isolation.state("memory")
    with Sandbox.create(backend=attach(engine, opened)) as sandbox:
        assert "absent" == sandbox.isolation.state("network")
        assert "approximated" == sandbox.isolation.state("memory")


def test_libraries_are_brought_and_taken_away(engine, container, tmp_path, monkeypatch):
    """They are installed for its image's Python, and go with the session."""
    make_wheel(tmp_path / "wheels", "brought_demo", {"brought_demo.py": "VALUE = 7"})
    only_from(tmp_path / "wheels", monkeypatch)
    monkeypatch.setenv("LLM_SANDBOX_CACHE_DIR", str(tmp_path / "cache"))
    get_settings.cache_clear()
    theirs = container(IMAGE)
    theirs.start()
    before = inside(theirs, "ls -a /opt")
    try:
        with ArtifactSandboxSession(attach(engine, theirs)) as session:
            session.install(["brought-demo"])
            assert "7" == session.run("import brought_demo; brought_demo.VALUE").value
            code = "import brought_demo; print(brought_demo.VALUE)"
            assert "7\n" == session.execute_command(["python3", "-c", code]).stdout
    finally:
        get_settings.cache_clear()
    assert wait_for(lambda: before == inside(theirs, "ls -a /opt"), 30)
    assert "ModuleNotFoundError" in inside(theirs, "python3 -c 'import brought_demo' 2>&1")
