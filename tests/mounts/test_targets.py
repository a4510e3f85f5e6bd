"""Mount points that every backend refuses."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import llm_sandbox
from llm_sandbox import Bind, SecurityError, Tmpfs, ValidationError, Volume
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.mounts import find_mounts
from llm_sandbox.host.paths import user_folder


@pytest.mark.parametrize(
    "target",
    [
        *("", "data", "relative/data", "/", "/.", "//", "/data/../etc", "/a\0b", "/a:b", "/a,b"),
        *("/proc", "/proc/1/x", "/sys/x", "/dev/shm", "/etc", "/etc/ssl", "/usr/lib/x", "/bin"),
        *("/opt", "/opt/llm_sandbox", "/opt/layers/x", "/run", "/var", "/tmp", "/var/tmp"),
        *("/work", 7, None),
    ],
)
def test_a_place_that_would_hide_something_is_refused(target):
    with pytest.raises(ValidationError) as caught:
        MachineSpec(workdir="/work/dir", mounts={target: Tmpfs(4096)})
    assert "mounts" == caught.value.parameter


@pytest.mark.parametrize(
    "target", ["/data", "/work/dir", "/work/dir/x/y", "/work/directory", "/a/"]
)
def test_other_places_are_fine(target):
    spec = MachineSpec(workdir="/work/dir", mounts={target: Tmpfs(4096)})
    assert [target.rstrip("/")] == list(spec.mounts)


@pytest.mark.parametrize(
    "mounts",
    [
        {"/a": Tmpfs(1), "/a/b": Tmpfs(1)},
        {"/a": Tmpfs(1), "//a/": Tmpfs(1)},
        {"/a": Volume("v"), "/b": Volume("v", read_only=True)},
        {"/a": "/some/folder"},
        {"/a": None},
        ["/a"],
        {f"/{number}": Tmpfs(1) for number in range(65)},
    ],
)
def test_mounts_that_contradict_each_other_or_are_none(mounts):
    with pytest.raises(ValidationError):
        MachineSpec(mounts=mounts)


@pytest.mark.parametrize("size", [0, -1, "", "lots", "1x", True, None, 1.5, 2**63])
def test_a_size_that_is_none(size):
    with pytest.raises(ValidationError):
        Tmpfs(size)


def test_sizes_are_bytes():
    assert Tmpfs("64m") == Tmpfs(64 << 20)
    assert 64 << 20 == Tmpfs("64 MiB").size_bytes


@pytest.mark.parametrize("source", ["", "a\0b", None, 7, b"/data"])
def test_a_source_that_is_no_path(source):
    with pytest.raises(ValidationError):
        Bind(source)


def test_a_relative_source_is_made_absolute_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "x") == Bind("x").source


def _home() -> str:
    return str(Path.home())


@pytest.mark.parametrize(
    "source",
    [
        *("/", "/proc", "/proc/self", "/sys", "/dev", "/etc", "/etc/ssl", "/run", "/var", "/home"),
        *("/var/run/docker.sock", "/run/podman/podman.sock", "/var/lib/docker", "//etc", "/boot"),
        *("~", "~/.ssh", "~/.config/x", "state", "state/kept", "data/volumes", "config"),
    ],
)
def test_dangerous_places_are_refused_by_name_and_by_link(source, tmp_path, monkeypatch):
    """And those above them; each is given only when it is said to be dangerous."""
    own = {
        "state": user_folder("XDG_STATE_HOME", ".local/state"),
        "data": user_folder("XDG_DATA_HOME", ".local/share"),
        "config": user_folder("XDG_CONFIG_HOME", ".config"),
    }
    first, _, rest = source.partition("/")
    path = str(own[first] / rest) if first in own else source.replace("~", _home())
    link = tmp_path / "link"
    link.symlink_to(path)
    # A link in the middle of the path, too.
    inner = tmp_path / "inner"
    inner.symlink_to(Path(path).parent)
    around = inner / Path(path).name
    for named in (path, link, around):
        with pytest.raises(SecurityError) as caught:
            find_mounts({"/data": Bind(named)})
        assert "dangerous=True" in caught.value.hint
        assert {"parameter": "mounts"} == dict(caught.value.context)


def test_own_folders_are_dangerous_wherever_they_are(tmp_path, monkeypatch):
    """A state folder that was moved: it, what it holds, what holds it; and nothing beside it."""
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    (tmp_path / "a" / "c").mkdir()
    find_mounts({"/data": Bind(tmp_path / "a")})
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
    for source in (tmp_path / "a", place, place / "llm-sandbox", place / "llm-sandbox" / "kept"):
        with pytest.raises(SecurityError, match="this library"):
            find_mounts({"/data": Bind(source)})
    find_mounts({"/data": Bind(tmp_path / "a" / "c")})


def test_sockets_and_pipes_are_dangerous(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SecurityError, match="neither a folder nor a file"):
        find_mounts({"/data": Bind(tmp_path / "pipe")})
    assert find_mounts({"/data": Bind(tmp_path / "pipe", dangerous=True)})


SYSTEM = (
    *("/", "/bin", "/sbin", "/lib", "/usr", "/usr/bin", "/usr/lib", "/usr/lib/systemd"),
    *("/usr/local", "/usr/local/bin", "/usr/share", "/opt", "/etc", "/var", "/var/spool"),
    *("/var/lib", "/var/lib/dpkg", "/var/log", "/var/cache", "/mnt", "/srv", "/media", "/home"),
    *("/root", "/tmp", "/var/tmp", "/usr/../usr/lib", "/usr/bin/env", "//usr//lib/"),
    *(sys.prefix, sys.base_prefix, str(Path(sys.executable).parent), sysconfig.get_path("purelib")),
    *(sysconfig.get_path("stdlib"), str(Path(llm_sandbox.__file__).parent)),
    str(Path(llm_sandbox.__file__).parent / "guest"),
)
READABLE = ("/usr", "/usr/lib", "/usr/share", "/opt", sys.prefix)


@pytest.mark.redteam
@pytest.mark.parametrize("source", SYSTEM)
@pytest.mark.parametrize("by_link", [False, True])
def test_what_is_not_the_callers_is_not_written(source, by_link, tmp_path):
    """Nor by a link to it; to read some of it is fine, and what is named dangerous is given."""
    if by_link:
        (tmp_path / "link").symlink_to(source)
        source = str(tmp_path / "link")
    with pytest.raises(SecurityError, match="is not mounted") as caught:
        find_mounts({"/data": Bind(source, read_only=False)})
    assert "read_only=False, dangerous=True" in caught.value.hint
    if Path(source).exists():
        assert find_mounts({"/data": Bind(source, read_only=False, dangerous=True)})


def test_some_of_it_can_be_read():
    for source in READABLE:
        if Path(source).is_dir() and not os.path.relpath(source, Path.home()).startswith("."):
            assert find_mounts({"/data": Bind(source)})


def test_what_is_the_callers_is_written(tmp_path, monkeypatch):
    """Below the temporary folder, and the working directory, whose ends are no system's."""
    (tmp_path / "project" / "out").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    for source in (tmp_path / "project", "out", "."):
        assert find_mounts({"/data": Bind(source, read_only=False)})


@pytest.mark.root
def test_whose_it_is_counts_elsewhere(monkeypatch):
    """For root: a person's folder, not root's own and not a service's, outside of the system."""
    elsewhere = Path(f"/llm-sandbox-test-{os.getpid()}")
    (elsewhere / "data").mkdir(parents=True)
    try:
        for owner, possible in ((1000, True), (4711, True), (0, False), (33, False)):
            os.chown(elsewhere / "data", owner, owner)
            if possible:
                assert find_mounts({"/data": Bind(elsewhere / "data", read_only=False)})
                continue
            with pytest.raises(SecurityError, match="it belongs to"):
                find_mounts({"/data": Bind(elsewhere / "data", read_only=False)})
        monkeypatch.chdir(elsewhere)
        os.chown(elsewhere / "data", 0, 0)
        assert find_mounts({"/data": Bind("data", read_only=False)})
    finally:
        shutil.rmtree(elsewhere)


@pytest.mark.root
@pytest.mark.redteam
def test_a_bind_mount_of_a_place_is_that_place(tmp_path):
    """In a mount namespace of the test's own; without the mount, the folder is the caller's."""
    point = tmp_path / "point"
    point.mkdir()
    program = """
import sys
from llm_sandbox import Bind, SecurityError
from llm_sandbox.backends.mounts import find_mounts
for source in sys.argv[1:]:
    try:
        print(bool(find_mounts({"/data": Bind(source, read_only=False)})))
    except SecurityError as error:
        print(error.message.rpartition(": ")[2])
"""
    inside = f'mount --bind / "{point}" && exec "$@"'
    sources = [point, point / "usr" / "lib", point / "etc", point / "srv"]
    said = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, "sh", sys.executable, "-c", program, *sources],
        **{"capture_output": True, "text": True, "check": True},
    ).stdout.splitlines()
    assert len(sources) == len(said)
    assert "True" not in said
    assert find_mounts({"/data": Bind(point, read_only=False)})


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: (folder / "loop").symlink_to("loop") or "loop",
        lambda folder: "x" * 300,
        lambda folder: "/".join(["x" * 200] * 40),
        lambda folder: (folder / "file").touch() or "file/below",
        lambda folder: "missing",
    ],
    ids=["loop", "long name", "long path", "below a file", "missing"],
)
@pytest.mark.parametrize("dangerous", [False, True])
def test_what_cannot_be_found_is_an_error_of_ours(make, dangerous, tmp_path):
    name = make(tmp_path)
    with pytest.raises(ValidationError) as caught:
        find_mounts({"/data": Bind(tmp_path / name, dangerous=dangerous)})
    assert "mounts" == caught.value.parameter
    assert caught.value.hint


@pytest.mark.parametrize("source", ["a\0b", "\ud800", "", 7, None, b"bytes"])
def test_what_is_no_path_is_none(source):
    with pytest.raises(ValidationError):
        Bind(source)
