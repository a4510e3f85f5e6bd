"""Content of files that a run changed: within limits, whatever they are."""

import os
import socket
import time

import pytest

from llm_sandbox.artifacts.files import ChangedFile, FileChanges, artifacts_from_changes
from llm_sandbox.guest import changes as guest_changes
from llm_sandbox.limits import Limits
from llm_sandbox.results.contents import Content


def listed(changes):
    return [(file.path, file.change, file.kind) for file in changes.files]


# --- limits --------------------------------------------------------------------------------------


def test_over_the_limit_it_is_listed_with_its_kind_told_by_its_beginning(place):
    place.limits = Limits(artifact_bytes=10_000)
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20_000)
    changes = place.after(lambda: (place.path / "x.txt").write_bytes(png))
    (file,) = changes.files
    assert (file.content, file.size, file.head) == (None, len(png), png[:4096])
    assert "limits.artifact_bytes" in file.note
    assert artifacts_from_changes(changes)[0].content is None


def test_all_files_together_are_bounded_and_smaller_ones_still_come(place):
    place.limits = Limits(artifact_bytes=1_000)

    def work():
        for number in range(6):
            (place.path / f"f{number}").write_bytes(bytes(900))
        (place.path / "small").write_bytes(b"x")

    changes = place.after(work)
    assert [file.content is not None for file in changes.files] == [True] * 4 + [False] * 2 + [True]
    assert "together" in changes.files[4].note


def test_the_number_of_contents_is_bounded(place):
    place.limits = Limits(artifacts=2)
    changes = place.after(lambda: [(place.path / f"f{n}").write_text("x") for n in range(4)])
    assert [file.content is not None for file in changes.files] == [True, True, False, False]
    assert "limits.artifacts" in changes.files[2].note
    assert [file.size for file in changes.files] == [1] * 4


@pytest.mark.parametrize("name", ["artifact_bytes", "artifacts"])
def test_zero_keeps_nothing_and_lists_everything(place, name):
    place.limits = Limits(**{name: 0})

    def work():
        (place.path / "empty").write_bytes(b"")
        (place.path / "f").write_bytes(b"x")

    changes = place.after(work)
    assert [(file.path, file.content) for file in changes.files] == [("empty", None), ("f", None)]
    assert all("not kept" in file.note for file in changes.files)


def test_a_look_ends_at_its_bound_and_says_so(place, monkeypatch):
    monkeypatch.setattr(guest_changes, "MAX_ENTRIES", 50)
    monkeypatch.setattr(guest_changes, "MAX_REPORTED", 20)

    def work():
        for number in range(120):
            (place.path / f"f{number:03}").write_text("")
        # The clock of files goes in steps.
        time.sleep(0.03)

    changes = place.after(work)
    assert (len(changes.files), changes.omitted) == (20, 30)
    assert "more files in the working directory" in changes.notes[1]
    # What was not seen before is not new because it is seen now.
    changes = place.after(lambda: [path.unlink() for path in place.path.glob("f0*")])
    assert changes.files == ()


def test_a_look_ends_with_its_time(place):
    for number in range(2_000):
        (place.path / f"f{number}").write_text("")
    assert not guest_changes.take_snapshot(str(place.path), 0.0).is_complete
    assert guest_changes.take_snapshot(str(place.path), 30.0).is_complete


# --- what is no ordinary file --------------------------------------------------------------------


def test_what_is_no_file_is_named_and_never_opened(place):
    def work():
        (place.path / "link.png").symlink_to("/etc/passwd")
        (place.path / "folder").symlink_to("/etc")
        os.mkfifo(place.path / "pipe.png")
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(place.path / "socket"))

    changes = place.after(work)
    assert listed(changes) == [
        ("folder", "created", "link"),
        ("link.png", "created", "link"),
        ("pipe.png", "created", "pipe"),
        ("socket", "created", "socket"),
    ]
    assert [file.target for file in changes.files] == ["/etc", "/etc/passwd", None, None]
    assert all(file.content is None and file.note for file in changes.files)
    kinds = [artifact.mime for artifact in artifacts_from_changes(changes)]
    assert kinds == ["inode/symlink", "inode/symlink", "inode/fifo", "inode/socket"]


def test_a_sparse_giant_is_listed_at_once(place):
    with (place.path / "giant.png").open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.truncate(1 << 40)
    started = time.monotonic()
    (file,) = place.after().files
    assert time.monotonic() - started < 2
    assert (file.size, file.content) == (1 << 40, None)
    assert file.stored_bytes < 1 << 20
    assert "stored" in file.note


def test_what_lies_too_deep_is_one_entry(place):
    names = ["d"] * (guest_changes.MAX_DEPTH + 20)
    place.path.joinpath(*names).mkdir(parents=True)
    place.path.joinpath(*names, "bottom").write_text("x")
    (file,) = place.after().files
    assert (file.kind, file.path) == ("folder", "/".join(["d"] * guest_changes.MAX_DEPTH))


@pytest.mark.parametrize("victim", ["d/f", "d"], ids=["the file", "its folder"])
def test_a_link_that_appears_after_the_look_is_not_followed(place, tmp_path, victim):
    """As a control, an open that follows links reads the other file."""
    secret = tmp_path / "other" / "f"
    (place.path / "d").mkdir()
    secret.parent.mkdir()
    for path in (secret, place.path / "d" / "f"):
        path.write_text(path.parent.name)
    swapped = place.path / victim
    call = place.service.call

    def swap(op, *words, **named):
        if op == "fetch":
            swapped.rename(tmp_path / "aside")
            swapped.symlink_to(secret if victim == "d/f" else secret.parent)
        return call(op, *words, **named)

    place.service.call = swap
    (file,) = place.after().files
    assert (place.path / "d" / "f").read_text() == "other"
    assert (file.content, file.head) == (None, b"")
    assert "in its place" in file.note


def test_a_file_that_changes_between_look_and_fetch_is_what_came(place):
    call = place.service.call

    def grow(op, *words, **named):
        if op == "fetch":
            with (place.path / "f").open("a") as file:
                file.write("more")
        return call(op, *words, **named)

    place.service.call = grow
    (file,) = place.after(lambda: (place.path / "f").write_text("x")).files
    assert (file.size, file.content) == (5, Content.of(b"xmore"))
    assert "changed while" in file.note


def test_every_name_comes_as_it_is(place):
    names = [b"new\nline", b"\xff\xfe", b"x" * 255, b"a..b", b"...", b" ", b"*", b"-rf"]

    def work():
        for name in names:
            (place.path / os.fsdecode(name)).write_bytes(name)

    changes = place.after(work)
    assert {os.fsencode(file.path) for file in changes.files} == set(names)
    for file in changes.files:
        assert file.content.bytes() == os.fsencode(file.path)
        assert artifacts_from_changes(FileChanges((file,)))[0].paths == (file.path,)


def test_no_changes_need_nothing_that_tells_what_files_are():
    assert artifacts_from_changes(FileChanges()) == ()
    assert artifacts_from_changes(FileChanges((ChangedFile("f", "created", "file"),)))[0].size == 0
