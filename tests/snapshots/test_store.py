"""The folder that snapshots are kept in."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import Sandbox, Snapshot
from llm_sandbox.backends.file_snapshots import FileSnapshots
from llm_sandbox.backends.snapshot import expiry
from llm_sandbox.exceptions import (
    ImageNotFoundError,
    SecurityError,
    UnsupportedError,
    ValidationError,
)
from tests.commands import invoke
from tests.snapshots.conftest import archive, folder, saved

DATA = archive(folder(), ("top/file", {"mode": 0o600}, b"content"))


def test_it_is_private_to_the_last_file(store: FileSnapshots) -> None:
    one = saved(store, DATA)
    place = Path(store.path) / one.ref
    assert 0o700 == stat.S_IMODE(Path(store.path).stat().st_mode)
    assert 0o700 == stat.S_IMODE(place.stat().st_mode)
    assert {0o400} == {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()}


@pytest.mark.parametrize("kind", ["link", "open"])
def test_a_folder_that_others_may_reach_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "snapshots"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.mkdir()
        path.chmod(0o750)
    with pytest.raises(SecurityError, match=str(path)):
        FileSnapshots(str(path))


def test_what_was_not_finished_is_nothing(store: FileSnapshots) -> None:
    with store.begin() as saving:
        saving.add("workdir", DATA)
    assert not store.list()
    assert {"store.id"} >= {path.name for path in Path(store.path).iterdir()}


def test_a_sweep_removes_what_nobody_writes_and_nothing_else(store: FileSnapshots) -> None:
    left = Path(store.path) / ".new-0123456789abcdef"
    left.mkdir()
    (left / "workdir.tar").write_bytes(DATA)
    with store.begin() as saving:
        saving.add("workdir", DATA)
        store.sweep()
        assert not left.exists()
        one = saving.finish(Snapshot("local", "", "", "", created_at=1.0))
    assert [one] == [found.snapshot for found in store.list()]


def test_expired_ones_are_refused_and_removed(store: FileSnapshots) -> None:
    one = saved(store, DATA, expires_at=1000000000.0)
    with pytest.raises(ValidationError, match="expired at 2001-09-09 01:46:40 UTC"):
        Sandbox.create(backend="bubblewrap", image=one)
    # What was noted counts, and not what a name says.
    lying = Snapshot.from_dict({**one.to_dict(), "expires_at": None})
    with pytest.raises(ValidationError, match="expired at"):
        Sandbox.create(backend="bubblewrap", image=lying)
    assert not Snapshot.list("local")
    Sandbox.gc()
    with pytest.raises(ImageNotFoundError, match="was deleted, or expired"):
        Sandbox.create(backend="bubblewrap", image=one)


def test_another_store_is_told_from_this_one(store: FileSnapshots, tmp_path: Path) -> None:
    one = saved(store, DATA)
    with FileSnapshots(str(tmp_path / "another")) as another:
        assert another.identity != store.identity
        with pytest.raises(UnsupportedError, match="another store"):
            another.get(one)
        with FileSnapshots(another.path) as again:
            assert another.identity == again.identity
    moved = Snapshot.from_dict({**one.to_dict(), "store": "files:0"})
    for call in (moved.delete, lambda: Sandbox.create(backend="bubblewrap", image=moved)):
        with pytest.raises(UnsupportedError, match="another store"):
            call()


def test_a_changed_archive_is_not_restored(store: FileSnapshots) -> None:
    one = saved(store, DATA)
    path = Path(store.path) / one.ref / "workdir.tar"
    path.chmod(0o600)
    path.write_bytes(DATA.replace(b"content", b"CONTENT"))
    with pytest.raises(SecurityError, match="is not what was saved"):
        Sandbox.create(backend="bubblewrap", image=one)


@pytest.mark.parametrize("ref", ["../elsewhere", "store.id", "", ".new-0123456789abcdef"])
def test_a_name_leads_nowhere_else(store: FileSnapshots, ref: str) -> None:
    assert store.find(ref) is None
    assert not store.delete(ref)


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"format": 1, "snapshot": 3, "parts": {}}'])
def test_a_record_that_is_none(store: FileSnapshots, text: bytes) -> None:
    one = saved(store, DATA)
    path = Path(store.path) / one.ref / "snapshot.json"
    path.chmod(0o600)
    path.write_bytes(text)
    assert store.find(one.ref) is None
    assert store.delete(one.ref)


@pytest.mark.parametrize(
    "change",
    [
        {"snapshot": {"path": "../../elsewhere"}},
        {"snapshot": {"path": "/sandbox/../etc"}},
        {"snapshot": {"kind": "memory"}},
        {"snapshot": {"ref": "snap-0123456789abcdef"}},
        {"parts": {}},
        {},
    ],
)
def test_a_record_that_was_forged(store: FileSnapshots, change: dict[str, Any]) -> None:
    """It is none, and hides none of the others; the one that was changed in nothing is one."""
    one, other = saved(store, DATA), saved(store, DATA)
    path = Path(store.path) / one.ref / "snapshot.json"
    record = json.loads(path.read_bytes())
    record["snapshot"].update(change.get("snapshot", {}))
    record["parts"] = change.get("parts", record["parts"])
    path.chmod(0o600)
    path.write_text(json.dumps(record))
    assert (store.find(one.ref) is None) == bool(change)
    assert other.ref in {found.snapshot.ref for found in store.list()}
    assert store.delete(one.ref)


def test_names_survive_json_and_nothing_else_does(store: FileSnapshots) -> None:
    one = saved(store, DATA)
    data = json.loads(json.dumps(one.to_dict()))
    assert one == Snapshot.from_dict(data)
    for change in ({"kind": "memory"}, {"size": "1"}, {"ref": None}, {"more": 1}):
        with pytest.raises(ValidationError):
            Snapshot.from_dict({**data, **change})


def test_deleted_twice(store: FileSnapshots) -> None:
    one = saved(store, DATA)
    assert one.delete()
    assert not one.delete()


@pytest.mark.parametrize("ttl", [0, -1, True, "1", float("nan")])
def test_times_to_live_that_are_none(ttl: float) -> None:
    with pytest.raises(ValidationError, match="ttl"):
        expiry(ttl)


def test_a_time_to_live() -> None:
    assert expiry(None) is None
    ends = expiry(60)
    assert ends is not None
    assert 0 < ends - time.time() <= 60


def test_on_the_command_line(store: FileSnapshots) -> None:
    one = saved(store, DATA, expires_at=time.time() + 7200)
    listed = json.loads(invoke("snapshots", "list", "--backend", "local", "--json")[1])
    assert [one.to_dict()] == listed
    _, shown = invoke("snapshots", "list")
    assert one.ref in shown
    assert " 120m " in shown
    assert 0 == invoke("snapshots", "delete", one.ref)[0]
    assert not store.list()
    code, said = invoke("snapshots", "delete", one.ref)
    assert 125 == code
    assert f"there is no snapshot '{one.ref}'" in said
