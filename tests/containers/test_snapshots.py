"""Saving a sandbox as an image, and beginning from it."""

import json

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import SessionClosedError, UnsupportedError, ValidationError
from llm_sandbox.sandbox import Sandbox
from tests.containers.conftest import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.engine]

_LIST = "find . -mindepth 1 | sort | xargs stat -c '%n %A %u %s'"


@pytest.fixture
def remove(engine):
    """Removes images after the test, once no container uses them."""
    names = []
    yield names.append

    def gone(name):
        try:
            engine.client.images.remove(name)
        except Exception as error:  # noqa: BLE001 - podman and docker say it differently
            return "no such image" in str(error).lower() or "not known" in str(error).lower()
        return True

    for name in names:
        assert wait_for(lambda name=name: gone(name)), name


def test_files_come_back_as_they_were(engine, remove):
    with Sandbox.create(backend=engine.name) as sandbox:
        sandbox.check(
            *("sh", "-c"),
            "mkdir -p a/b && echo hi > a/b/file && ln -s a/b/file link && echo x > locked"
            " && chmod 400 locked && chmod 755 a/b/file && touch -d @1000000000 a/b/file",
        )
        listing = sandbox.check(
            "sh", "-c", "find . -mindepth 1 | sort | xargs stat -c '%n %A %u %s'"
        )
        snapshot = sandbox.snapshot()
        remove(snapshot.name)
        sandbox.files.write_bytes("later", b"")
    with Sandbox.create(image=snapshot) as again:
        found = again.check("sh", "-c", _LIST)
        assert listing.stdout == found.stdout
        assert "hi\n" == again.check("cat", "link").stdout
        assert "1000000000" == again.check("stat", "-c", "%Y", "a/b/file").stdout.strip()
        again.files.write_bytes("a/b/more", b"")
    with Sandbox.create(image=snapshot) as third:
        assert not third.files.exists("a/b/more")  # a snapshot does not change


def test_it_survives_json(engine, remove):
    with Sandbox.create(backend=engine.name) as sandbox:
        snapshot = sandbox.snapshot("llm-sandbox-test/named:one")
        remove(snapshot.name)
    assert "llm-sandbox-test/named:one" == snapshot.name
    again = Snapshot.from_dict(json.loads(json.dumps(snapshot.to_dict())))
    assert again == snapshot
    Sandbox.create(image=again).destroy()
    with pytest.raises(ValidationError):
        Snapshot.from_dict({"image": "x"})


def test_no_secret_and_no_owner_is_in_it(engine, remove):
    secret = "very-secret-value"
    with Sandbox.create(backend=engine.name, secrets={"TOKEN": secret}) as sandbox:
        assert secret == sandbox.check("printenv", "TOKEN").stdout.strip()
        snapshot = sandbox.snapshot()
        remove(snapshot.name)
    facts = engine.api.inspect_image(snapshot.ref)
    assert secret not in json.dumps([facts, engine.api.history(snapshot.ref)])
    assert not facts["Config"]["Labels"].get("llm-sandbox.owner")


def test_another_engine_is_refused(engine):
    elsewhere = Snapshot(engine.name, "another", "sha256:0", "x:1")
    with pytest.raises(UnsupportedError, match="another engine"):
        Sandbox.create(image=elsewhere)


def test_a_sandbox_that_has_ended(engine):
    sandbox = Sandbox.create(backend=engine.name)
    sandbox.destroy()
    with pytest.raises(SessionClosedError):
        sandbox.snapshot()


def test_backends_without_images_refuse():
    with pytest.raises(UnsupportedError, match="no images"):
        Sandbox.create(backend="bubblewrap", image="anything")


def test_a_writable_root_is_saved_too(engine, remove):
    options = {"read_only": False, "user": "0:0"}
    with ArtifactSandboxSession(
        engine.name,
        runtime_configs=options,
        allow_unsafe=["user"],
        commit_container=True,
        commit_image_tag="llm-sandbox-test/writable:1",
    ) as session:
        session.execute_command("echo changed > /etc/motd && echo here > file")
    remove(session.committed_image)
    with Sandbox.create(backend=engine.name, image=session.committed_image) as again:
        assert "changed\n" == again.check("cat", "/etc/motd").stdout
        assert "here\n" == again.check("cat", "file").stdout


def test_commit_keeps_files_and_libraries(engine, remove):
    with ArtifactSandboxSession(
        engine.name,
        commit_container=True,
        commit_image_tag="llm-sandbox-test/committed:1",
        libraries=["tabulate"],
    ) as session:
        session.run("open('data', 'w').write('kept')")
        assert session.committed_image is None
    remove("llm-sandbox-test/committed:1")
    assert "llm-sandbox-test/committed:1" == session.committed_image
    with ArtifactSandboxSession(engine.name, image="llm-sandbox-test/committed:1") as again:
        result = again.run("import tabulate; print(open('data').read())")
        assert "kept\n" == result.stdout
        assert 0 == again.execute_command(["python3", "-c", "import tabulate"]).exit_code
    with ArtifactSandboxSession(engine.name) as plain:  # the control
        assert "ModuleNotFoundError" == plain.run("import tabulate").error.name
