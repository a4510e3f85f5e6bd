"""What cannot be mounted, whatever the backend."""

import os
from pathlib import Path

import pytest

from llm_sandbox import Bind, SecurityError, Tmpfs, ValidationError, Volume
from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.mounts import find_mounts
from llm_sandbox.mounts.store import user_folder


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
