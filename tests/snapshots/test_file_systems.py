"""The file system of a sandbox of bubblewrap's, saved as what was changed in it."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Limits, Sandbox, Snapshot
from llm_sandbox.exceptions import UnsupportedError, ValidationError

if TYPE_CHECKING:
    from llm_sandbox.backends.file_snapshots import FileSnapshots

CHANGE = """
echo conf > /etc/own.conf && mkdir -p /usr/local/bin /var/lib/own /srv/a /home/b
printf '#!/bin/sh\\necho tool' > /usr/local/bin/own-tool && chmod +x /usr/local/bin/own-tool
rmdir /usr/local/src && rm -rf /usr/local/etc && mkdir /usr/local/etc
echo work > file && echo t > /tmp/t && echo s > /dev/shm/s
"""


@pytest.fixture(scope="module")
def writable(home: Path) -> None:
    """Skips where this kernel makes no root writable, and says why."""
    try:
        Sandbox.create(backend="bubblewrap", writable_root=True).destroy()
    except UnsupportedError as error:
        pytest.skip(error.message)


@pytest.mark.usefixtures("writable")
def test_what_was_changed_comes_back(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap", writable_root=True) as sandbox:
        sandbox.check("sh", "-c", CHANGE)
        one = sandbox.snapshot()
        assert "tool\n" == sandbox.check("own-tool").stdout  # it goes on
        sandbox.check("rm", "/etc/own.conf")
    assert ("filesystem", "bubblewrap") == (one.kind, one.backend)
    with Sandbox.create(image=one) as again:
        assert "bubblewrap" == again.backend
        assert "tool\n" == again.check("own-tool").stdout
        assert "conf\nwork\n" == again.check("cat", "/etc/own.conf", "file").stdout
        left = again.check("sh", "-c", "ls /tmp /dev/shm /usr/local/etc").stdout
        assert "/dev/shm:\n\n/tmp:\n\n/usr/local/etc:\n" == left


@pytest.mark.usefixtures("writable")
def test_what_was_deleted_stays_so_in_each_generation(store: FileSnapshots) -> None:
    """A deleted file and a folder made anew hide what is below them, twice over."""
    with Sandbox.create(backend="bubblewrap", writable_root=True) as sandbox:
        sandbox.check("sh", "-c", CHANGE)
        first = sandbox.snapshot()
    with Sandbox.create(image=first) as sandbox:
        assert not sandbox.files.exists("/usr/local/src")
        sandbox.check("sh", "-c", "rm /etc/own.conf && echo 2 > /etc/second && echo 2 > file")
        second = sandbox.snapshot()
    first.delete()  # the later one does not need it
    with Sandbox.create(image=second, name="third") as sandbox:
        assert not sandbox.files.exists("/usr/local/src")
        assert not sandbox.files.exists("/etc/own.conf")
        assert "2\n2\ntool\n" == sandbox.check("sh", "-c", "cat file /etc/second; own-tool").stdout
        third = sandbox.snapshot()  # by a daemon
    with Sandbox.create(image=third) as sandbox:
        assert not sandbox.files.exists("/usr/local/src")
        assert "2\n" == sandbox.files.read_text("/etc/second")


def test_one_with_a_closed_root_is_its_working_directory(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap") as sandbox:
        assert 0 != sandbox.exec("touch", "/etc/own.conf").wait()
        sandbox.files.write_text("file", "x")
        one = sandbox.snapshot()
    with Sandbox.create(image=one) as again:
        assert "x" == again.files.read_text("file")
        assert 0 != again.exec("touch", "/etc/own.conf").wait()


@pytest.mark.redteam
@pytest.mark.usefixtures("writable")
def test_what_the_supervisor_runs_cannot_be_changed(store: FileSnapshots) -> None:
    """Nor the root that it is found by. The control: their neighbours can."""
    places = ["/", "/opt", "/opt/llm_sandbox", "/opt/llm_sandbox/guest", "/usr", "/usr/lib", "/bin"]
    attack = "for d in %s; do touch $d/x && echo $d; done; mv /opt /opt2 && echo moved; true"
    with Sandbox.create(backend="bubblewrap", writable_root=True) as sandbox:
        done = sandbox.check("sh", "-c", attack % " ".join([*places, "/etc", "/var"]))
    assert "/etc\n/var\n" == done.stdout


@pytest.mark.redteam
@pytest.mark.usefixtures("writable")
def test_sandboxes_and_this_machine_are_left_alone(store: FileSnapshots) -> None:
    with (
        Sandbox.create(backend="bubblewrap", writable_root=True) as one,
        Sandbox.create(backend="bubblewrap", writable_root=True) as other,
    ):
        one.check("sh", "-c", "echo x > /etc/own.conf && echo x > /usr/local/own")
        assert one.files.exists("/etc/own.conf")
        assert not other.files.exists("/etc/own.conf")
        assert not other.files.list("/mnt")
        assert 0 != other.exec("umount", "/mnt").wait()
        assert not any(Path(place).exists() for place in ("/etc/own.conf", "/usr/local/own"))


@pytest.mark.usefixtures("writable")
def test_it_holds_no_more_than_it_may(store: FileSnapshots) -> None:
    limits = Limits(workdir_bytes=2 << 20)
    with Sandbox.create(backend="bubblewrap", writable_root=True, limits=limits) as sandbox:
        filled = sandbox.sh("head -c 4000000 /dev/zero > /var/big").collect()
        assert "No space left" in filled.stderr
        assert sandbox.files.stat("/var/big").size < 4000000


@pytest.mark.usefixtures("writable")
def test_no_secret_is_in_it(store: FileSnapshots) -> None:
    value = "very-secret-value"
    with Sandbox.create(
        backend="bubblewrap", writable_root=True, secrets={"TOKEN": value}
    ) as sandbox:
        sandbox.check("sh", "-c", 'test -n "$TOKEN" && echo mark > /etc/own.conf')
        one = sandbox.snapshot()
    data = b"".join(path.read_bytes() for path in (Path(store.path) / one.ref).iterdir())
    assert b"mark" in data
    assert value.encode() not in data
    for part in ("root", "workdir"):
        with tarfile.open(Path(store.path) / one.ref / f"{part}.tar") as archive:
            assert {(0, 0, "", "")} == {(m.uid, m.gid, m.uname, m.gname) for m in archive}


@pytest.mark.filterwarnings("ignore:backend 'local'")
def test_backends_without_one(store: FileSnapshots) -> None:
    with pytest.raises(UnsupportedError, match="writable_root is not supported by backend 'local'"):
        Sandbox.create(backend="local", writable_root=True)
    with (
        Sandbox.create(backend="local") as sandbox,
        pytest.raises(UnsupportedError, match="file system") as caught,
    ):
        sandbox.snapshot()
    assert caught.value.hint is not None
    assert "kind='directory'" in caught.value.hint
    with pytest.raises(ValidationError):
        Sandbox.create(backend="bubblewrap", writable_root=1)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:backend 'local'")
def test_another_backend_cannot_begin_from_it(store: FileSnapshots) -> None:
    with Sandbox.create(backend="bubblewrap") as sandbox:
        one = sandbox.snapshot()
    with pytest.raises(UnsupportedError, match="a sandbox of bubblewrap"):
        Sandbox.create(backend="local", image=one)
    # What was noted counts, and not what a name says.
    lying = Snapshot.from_dict({**one.to_dict(), "kind": "directory", "backend": "local"})
    with pytest.raises(UnsupportedError, match="a sandbox of bubblewrap"):
        Sandbox.create(backend="local", image=lying)
