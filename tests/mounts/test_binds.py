"""Folders of the host in sandboxes of each backend."""

import pytest

from llm_sandbox import Bind, Sandbox, SecurityError, Tmpfs, UnsupportedError, ValidationError
from tests.mounts.conftest import IS_ROOT, mount_lines, owner_of, run

pytestmark = pytest.mark.slow


def test_one_sandbox_has_everything_that_was_asked_for(make, backend, folder, tmp_path):
    """Read-only, writable, a file, memory and a place in the working directory, all at once."""
    rw = tmp_path / "rw"
    rw.mkdir()
    sandbox = make(
        backend=backend,
        mounts={
            "/data": Bind(folder),
            "/deep/er/rw": Bind(rw, read_only=False),
            "/scratch": Tmpfs("2m"),
            "/sandbox/in/one.txt": Bind(folder / "a.txt"),
        },
    )
    assert ("of the host\n", 0) == run(sandbox, "cat /data/a.txt")
    assert ("of the host\n", 0) == run(sandbox, "cat in/one.txt")

    said, code = run(sandbox, "echo no > /data/b")
    assert code != 0
    assert "Read-only file system" in said
    assert ["a.txt"] == [path.name for path in folder.iterdir()]
    assert run(sandbox, "echo no >> in/one.txt")[1] != 0

    # What it makes belongs to the folder's owner, who can use and remove it.
    assert ("", 0) == run(sandbox, "cd /deep/er/rw && mkdir -p x/y && echo yes > x/y/z")
    assert "yes\n" == (rw / "x" / "y" / "z").read_text()
    for made in (rw / "x", rw / "x" / "y", rw / "x" / "y" / "z"):
        assert owner_of(rw) == owner_of(made)
    (rw / "x" / "y" / "z").unlink()

    # The size is one that holds: filled to the end, and not a byte more.
    said, code = run(sandbox, "head -c 3000000 /dev/zero > /scratch/zeros; wc -c < /scratch/zeros")
    assert "No space left" in said
    assert str(2 << 20) == said.split()[-1]


def test_the_report_names_what_was_given_and_what_has_no_size(make, backend, folder):
    sandbox = make(backend=backend, mounts={"/data": Bind(folder, read_only=False)})
    files, disk = (sandbox.isolation.controls[name] for name in ("files", "disk"))
    assert "approximated" == files.state
    assert "/data" in files.by
    assert "writable" in files.by
    assert "approximated" == disk.state
    assert "/data" in disk.by
    without = make(backend=backend).isolation.controls
    assert "enforced" == without["files"].state
    assert "/data" not in without["files"].by


def test_a_folder_can_be_the_working_directory(make, backend, folder):
    mounts = {"/sandbox": Bind(folder, read_only=False)}
    sandbox = make(backend=backend, mounts=mounts)
    assert ("of the host\n", 0) == run(sandbox, "cat a.txt && echo new > b.txt")
    assert "new\n" == (folder / "b.txt").read_text()
    sandbox.files.write_bytes("c.txt", b"by the host's hand")
    assert b"by the host's hand" == (folder / "c.txt").read_bytes()
    assert owner_of(folder) == owner_of(folder / "c.txt")


def test_the_sandbox_finds_no_second_way_to_what_it_was_given(make, backend, folder):
    """Where bubblewrap holds folders for a machine to take, none of them can be read or written."""
    sandbox = make(backend=backend, mounts={"/data": Bind(folder)})
    said, _ = run(sandbox, "find / -name a.txt -not -path '/proc/*' 2>/dev/null")
    assert ["/data/a.txt"] == said.split()


def test_nothing_is_left_mounted_on_the_host(make, backend, folder):
    before = mount_lines()
    sandbox = make(backend=backend, mounts={"/data": Bind(folder, read_only=False)})
    assert str(folder) not in mount_lines()
    sandbox.destroy()
    assert before.count(str(folder)) == mount_lines().count(str(folder))


def test_a_missing_folder_is_an_error_and_is_not_made(make, backend, tmp_path):
    missing = tmp_path / "not" / "there"
    with pytest.raises(ValidationError, match=str(missing)) as caught:
        make(backend=backend, mounts={"/data": Bind(missing)})
    assert "mkdir" in caught.value.hint
    assert not missing.parent.exists()


def test_what_is_dangerous_is_refused_and_can_be_named(make, backend, tmp_path):
    """A link to /etc is /etc; said to be dangerous, it is given."""
    link = tmp_path / "harmless"
    link.symlink_to("/etc")
    with pytest.raises(SecurityError, match="passwords") as caught:
        make(backend=backend, mounts={"/data": Bind(link)})
    assert "dangerous=True" in caught.value.hint
    sandbox = make(backend=backend, mounts={"/data": Bind(link, dangerous=True)})
    said, code = run(sandbox, "head -c 5 /data/passwd")
    assert (5, 0) == (len(said), code)


def test_a_kept_sandbox_carries_its_mounts(backend, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own" / "state"))
    mounts = {"/data": Bind(folder, read_only=False), "/memory": Tmpfs("1m")}
    with Sandbox.create(backend=backend, tags={"a": "b"}, mounts=mounts) as sandbox:
        attached = Sandbox.attach(sandbox.id)
        assert ("of the host\n", 0) == run(attached, "cat /data/a.txt; echo x > /data/kept")
        said, _ = run(attached, "head -c 2000000 /dev/zero > /memory/z; wc -c < /memory/z")
        assert str(1 << 20) == said.split()[-1]
        attached.detach()
        assert owner_of(folder) == owner_of(folder / "kept")
    with pytest.raises(SecurityError, match="/etc"):
        Sandbox.create(backend=backend, tags={"a": "b"}, mounts={"/data": Bind("/etc")})


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a folder to somebody else")
def test_the_sandbox_has_the_owners_rights_and_nobody_elses(make, backend, folder):
    """In a folder of user 4711, what that user may do; what is root's there stays root's."""
    import os

    (folder / "roots").write_text("root's")
    (folder / "roots").chmod(0o600)
    for path in (folder, folder / "a.txt"):
        os.chown(path, 4711, 4712)
    sandbox = make(backend=backend, mounts={"/data": Bind(folder, read_only=False)})
    assert ("of the host\n", 0) == run(sandbox, "cat /data/a.txt && echo x > /data/new")
    assert (4711, 4712) == owner_of(folder / "new")
    said, code = run(sandbox, "cat /data/roots")
    assert code != 0
    assert "Permission denied" in said


@pytest.mark.parametrize("name", ["local", "gvisor"])
@pytest.mark.parametrize("mount", [Bind("/usr/share"), Tmpfs("1m")])
def test_other_backends_refuse_and_say_what_to_use(name, mount):
    with pytest.raises(UnsupportedError, match="/data") as caught:
        Sandbox.create(backend=name, mounts={"/data": mount})
    assert "bubblewrap" in caught.value.hint
