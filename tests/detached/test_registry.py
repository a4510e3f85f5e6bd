"""Finding sandboxes, and what is found that should not be believed."""

# ruff: noqa: PTH101, PTH104, PTH116, PTH208
# Because: hostile files are made and looked at by the calls that do it.

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, SecurityError, ValidationError
from llm_sandbox.exceptions import BackendError, NameInUseError, SandboxNotFoundError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.sandbox.detached.registry import live_records
from llm_sandbox.sandbox.detached.state_dir import StateDir
from tests.detached.conftest import until

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "s3cr3t-value-of-a-test"


@pytest.fixture(scope="module")
def three(registry: Any) -> Iterator[list[Sandbox]]:
    """Three sandboxes, oldest first."""
    made = [
        Sandbox.create(
            backend="bubblewrap", name="first", tags={"team": "a", "kind": "x"}, on_exit="keep",
            secrets={"TOKEN": SECRET}, env={"PLAIN": "p1ain-value"},
        ),
        Sandbox.create(
            "sh", "-c", f"sleep 600; echo {SECRET}",
            backend="bubblewrap", name="second", tags={"team": "a"}, on_exit="keep",
        ),
        Sandbox.create(
            backend="bubblewrap", name="first", namespace="other", tags={"team": "b", "kind": "x"},
            on_exit="keep",
        ),
    ]  # fmt: skip
    yield made
    for sandbox in made:
        sandbox.destroy()


def ids(found: list[Sandbox]) -> list[str]:
    return [one.id for one in found]


def test_list_has_all_tags_and_the_newest_first(three: list[Sandbox]) -> None:
    first, second, other = (one.id for one in three)
    assert ids(Sandbox.list()) == [other, second, first]
    assert ids(Sandbox.list(tags={"team": "a"})) == [second, first]
    assert ids(Sandbox.list(tags={"team": "a", "kind": "x"})) == [first]
    assert ids(Sandbox.list(tags={"team": "a", "kind": "y"})) == []
    assert ids(Sandbox.list({"kind": "x"}, namespace="other")) == [other]
    assert ids(Sandbox.list(namespace="nobody")) == []


def test_names_are_taken_and_released(three: list[Sandbox]) -> None:
    assert Sandbox.from_name("first").id == three[0].id
    assert Sandbox.from_name("first", namespace="other").id == three[2].id
    with pytest.raises(NameInUseError) as caught:
        Sandbox.create(backend="bubblewrap", name="first")
    assert (caught.value.name, caught.value.namespace) == ("first", "default")
    with pytest.raises(SandboxNotFoundError):
        Sandbox.from_name("third")
    for _ in range(2):
        with Sandbox.create(backend="bubblewrap", name="third") as sandbox:
            assert Sandbox.from_name("third").id == sandbox.id


def test_tags_are_replaced_and_cleared(three: list[Sandbox]) -> None:
    sandbox, other = three[2], Sandbox.attach(three[2].id)
    sandbox.set_tags({"new": "1"})
    assert until(lambda: dict(other.tags) == {"new": "1"})
    assert ids(Sandbox.list(tags={"new": "1"})) == [sandbox.id]
    assert ids(Sandbox.list(tags={"team": "b"})) == []
    other.set_tags({})
    assert until(lambda: dict(sandbox.tags) == {})
    with pytest.raises(ValidationError):
        sandbox.set_tags({"a": None})  # type: ignore[dict-item]
    sandbox.set_tags({"team": "b", "kind": "x"})


def test_secrets_are_written_nowhere(three: list[Sandbox], registry: Any) -> None:
    """Neither values nor arguments are in files, nor in the daemons' arguments and environment;
    a client has them.
    """
    assert three[0].check("sh", "-c", "echo $TOKEN").stdout == f"{SECRET}\n"
    daemons = {registry.daemon_of(sandbox) for sandbox in three}
    assert until(lambda: daemons == set(registry.daemons()))
    seen = b"".join(
        Path(f"/proc/{pid}/{what}").read_bytes()
        for pid in daemons
        for what in ("cmdline", "environ")
    )
    names = [name for name in registry.files() if not name.endswith(".sock")]
    seen += b"".join((registry.folder / name).read_bytes() for name in names)
    assert b"second" in seen  # what is written is looked at
    assert b"XDG_STATE_HOME" in seen
    assert SECRET.encode() not in seen
    assert b"p1ain-value" not in seen
    assert (os.stat(registry.folder).st_mode & 0o777) == 0o700
    for name in registry.files():
        assert os.stat(registry.folder / name).st_mode & 0o077 == 0 or name.endswith(".sock")


def test_variables_of_the_client_stay_with_it(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for those that say where engines are, and the settings."""
    for name in ("SOME_API_KEY", "DOCKER_PASSWORD", "LLM_SANDBOX_MCP_TOKEN"):
        monkeypatch.setenv(name, "another-s3cr3t")
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "1")
    with Sandbox.create(backend="bubblewrap", name="environment") as sandbox:
        environ = Path(f"/proc/{registry.daemon_of(sandbox)}/environ").read_bytes()
        assert b"PATH=" in environ
        assert b"LLM_SANDBOX_PREFORK=1" in environ
        assert b"another-s3cr3t" not in environ


HOSTILE = ["json", "fields", "huge", "types", "link", "pipe", "folder", "id", "tags"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_records_are_not_believed(
    kind: str, three: list[Sandbox], registry: Any, tmp_path: Path
) -> None:
    """Each is left out of the list, cannot be attached to, and takes no other's place."""
    good = registry.record(three[0].id)
    fake = "sb-" + "f" * 16
    path = registry.folder / f"{fake}.json"
    good |= {"id": fake, "name": "hostile", "created_at": time.time() + 999}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text(json.dumps(good))
    match kind:
        case "json":
            path.write_text("{" * 5000)
        case "fields":
            path.write_text(json.dumps(good | {"more": 1}))
        case "huge":
            path.write_text(json.dumps(good | {"command": "x" * 300_000}))
        case "types":
            path.write_text(json.dumps(good | {"created_at": "1", "daemon": {}}))
        case "link":
            path.symlink_to(elsewhere)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "id":
            path.write_text(json.dumps(good | {"id": three[0].id}))
        case "tags":
            path.write_text(json.dumps(good | {"tags": {"a": 1}}))
    # A lock that is held: only the record says that it is none.
    lock = os.open(registry.folder / f"{fake}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert len(Sandbox.list()) == len(three)
        with pytest.raises(SandboxNotFoundError):
            Sandbox.from_name("hostile")
        with pytest.raises(SandboxNotFoundError):
            Sandbox.attach(fake)
    finally:
        os.close(lock)
    if kind == "folder":
        path.rmdir()
    Sandbox.gc()
    assert not [name for name in registry.files() if name.startswith(fake)]
    assert len(Sandbox.list()) == len(three)
    assert elsewhere.exists()


def test_a_good_record_that_nobody_keeps_is_not_listed(three: list[Sandbox], registry: Any) -> None:
    """The control of the above: such a record is read, and only its lock speaks against it."""
    fake = "sb-" + "e" * 16
    good = registry.record(three[0].id) | {"id": fake, "name": "hostile"}
    (registry.folder / f"{fake}.json").write_text(json.dumps(good))
    assert len(Sandbox.list()) == len(three)
    with pytest.raises(SandboxNotFoundError):
        Sandbox.attach(fake)
    assert Sandbox.gc() == [fake]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "sb-../../../etc/xx", "", "x", "sb-" + "A" * 16]
)
def test_what_is_no_id_is_refused(name: str, registry: Any) -> None:
    with pytest.raises(ValidationError):
        Sandbox.attach(name)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
def test_another_users_socket_is_refused(three: list[Sandbox], registry: Any) -> None:
    """A socket that is another user's, or a link to one, is not talked to."""
    sandbox_id = three[1].id
    path = registry.folder / f"{sandbox_id}.sock"
    moved = registry.folder / "moved"
    path.rename(moved)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(moved) + "2")
            listener.listen()
            os.rename(str(moved) + "2", path)
            os.chown(path, 65534, 65534)
            with pytest.raises(SecurityError):
                Sandbox.attach(sandbox_id)
            path.unlink()
        path.symlink_to(moved)
        with pytest.raises(SecurityError):
            Sandbox.attach(sandbox_id)
        path.unlink()
    finally:
        moved.rename(path)
    Sandbox.attach(sandbox_id).detach()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_not_served(three: list[Sandbox], registry: Any) -> None:
    """It cannot reach the socket; one that does is hung up on."""
    name = f"{three[0].id}.sock"

    def ask(uid: int) -> bytes:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            answer = b"failed"
            try:
                os.chdir(registry.folder)
                if uid:
                    os.setuid(uid)
                with socket.socket(socket.AF_UNIX) as sock:
                    sock.settimeout(20)
                    sock.connect(name)
                    channel = ControlChannel(sock)
                    try:
                        channel.send({"op": "hello", "id": 1})
                        record = channel.receive()
                    except BrokenPipeError:
                        record = None
                    answer = b"hung up" if record is None else b"answered"
            except OSError as error:
                answer = str(error).encode()
            finally:
                os.write(write, answer)
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as file:
            return file.read()

    assert b"denied" in ask(65534)
    # Even where nothing stands in its way.
    os.chmod(registry.folder / name, 0o777)
    os.chmod(registry.folder, 0o711)
    try:
        assert ask(65534) == b"hung up"
        assert ask(0) == b"answered"
    finally:
        os.chmod(registry.folder, 0o700)


@pytest.mark.parametrize("kind", ["link", "open", "file", "other user"])
def test_a_registry_that_is_not_private_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "llm-sandbox" / "kept"
    folder.parent.mkdir()
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    match kind:
        case "link":
            folder.symlink_to(target)
        case "open":
            folder.mkdir()
            folder.chmod(0o755)
        case "file":
            folder.write_text("")
        case "other user":
            if os.geteuid() != 0:
                pytest.skip("only root can make files of others")
            folder.mkdir(mode=0o700)
            os.chown(folder, 65534, 65534)
    for refused in (
        Sandbox.list,
        lambda: Sandbox.create(backend="bubblewrap", name="n"),
        lambda: Sandbox.attach("sb-" + "0" * 16),
    ):
        with pytest.raises(SecurityError):
            refused()
    assert os.listdir(target) == []


def test_a_daemon_of_an_earlier_version_is_refused_in_words(
    three: list[Sandbox], registry: Any
) -> None:
    """It is listed with others' records, and whoever attaches is told how to end it."""
    old = three[0]
    path = registry.folder / f"{old.id}.json"
    content = path.read_text()
    record = json.loads(content)
    pid = record.pop("daemon")
    path.write_text(json.dumps(record | {"keeper": pid, "format": 1}))
    try:
        with pytest.raises(BackendError, match="expected protocol 2, got 1") as refused:
            Sandbox.attach(old.id)
        assert f"kill {pid}" in str(refused.value.hint)
        assert old.id not in {one.id for one in Sandbox.list()}
        with StateDir() as state_dir:
            (found,) = [one for one in live_records(state_dir) if one.id == old.id]
        assert pid == found.daemon
    finally:
        path.write_text(content)
    assert old.id == Sandbox.attach(old.id).id
