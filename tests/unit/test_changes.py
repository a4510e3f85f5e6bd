"""New, changed and removed files in a directory, as the file service reports them."""

import os
import time

import pytest

from llm_sandbox.artifacts.files import FileChanges
from llm_sandbox.results.contents import Content
from llm_sandbox.sandbox.changes import WorkdirWatch
from llm_sandbox.sandbox.files import ModifiedFlag


def listed(changes):
    return [(file.path, file.change, file.kind) for file in changes.files]


# --- before and after ----------------------------------------------------------------------------


def test_created_changed_and_deleted_are_told_apart(place):
    (place.path / "old").write_text("1")
    (place.path / "same").write_text("1")
    (place.path / "gone").write_text("1")
    place.after()

    def work():
        (place.path / "new").write_text("new")
        (place.path / "old").write_text("2")
        (place.path / "gone").unlink()

    changes = place.after(work)
    assert listed(changes) == [("new", "created", "file"), ("old", "changed", "file")]
    assert (changes.deleted, changes.deleted_count) == (("gone",), 1)
    assert changes.notes == ()
    assert place.after() == FileChanges()


def test_content_comes_with_its_own_digest(place):
    changes = place.after(lambda: (place.path / "f.bin").write_bytes(b"\0" * 100_000))
    (file,) = changes.files
    assert (file.size, file.note, file.head) == (100_000, "", b"")
    assert file.content == Content.of(bytes(100_000))


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("xx"),
        lambda path: (path.write_text("y"), os.utime(path, (1, 1))),
        lambda path: (path.unlink(), path.write_text("x"), os.utime(path, (1, 1))),
        lambda path: path.with_name("other").replace(path),
    ],
    ids=["longer", "same size, time put back", "made anew", "replaced"],
)
def test_a_change_is_seen_however_it_hides(place, change):
    (place.path / "f").write_text("x")
    (place.path / "other").write_text("x")
    os.utime(place.path / "f", (1, 1))
    os.utime(place.path / "other", (1, 1))
    place.after()
    changes = place.after(lambda: change(place.path / "f"))
    assert ("f", "changed", "file") in listed(changes)


def test_a_change_of_the_same_size_right_after_a_look_is_seen(place):
    """The clock of files goes in steps, and two changes may fall into one."""
    path = place.path / "f"
    for number in range(30):
        changes = place.after(lambda text=str(number % 10): path.write_text(text))
        assert [file.path for file in changes.files] == ["f"], number
        assert place.after() == FileChanges()
        place.files.write_text("f", "x")


def test_reading_and_touching_a_folder_change_nothing(place):
    (place.path / "d").mkdir()
    (place.path / "d" / "f").write_text("x")
    place.after()

    def work():
        (place.path / "d" / "f").read_text()
        (place.path / "d").chmod(0o700)
        (place.path / "empty").mkdir()

    assert place.after(work) == FileChanges()


def test_what_nobody_means_is_left_out(place):
    def work():
        for folder in (".cache", "__pycache__", ".git", "a/node_modules", "a/.ipynb_checkpoints"):
            (place.path / folder).mkdir(parents=True)
            (place.path / folder / "f").write_text("x")
        (place.path / ".hidden-file").write_text("x")
        (place.path / "a" / ".inner").mkdir()
        (place.path / "a" / ".inner" / "f").write_text("x")

    found = [path for path, _, _ in listed(place.after(work))]
    assert found == [".hidden-file", "a/.inner/f"]


def test_those_nearest_to_the_top_come_first(place):
    def work():
        (place.path / "a" / "b").mkdir(parents=True)
        for name in ("a/b/1", "a/2", "z", "b"):
            (place.path / name).write_text(name)

    assert [path for path, _, _ in listed(place.after(work))] == ["b", "z", "a/2", "a/b/1"]


# --- whose change it is --------------------------------------------------------------------------


def test_what_the_host_writes_between_runs_is_no_runs(place):
    place.after()
    place.files.write_text("uploaded", "x")
    place.files.mkdir("d")
    changes = place.after(lambda: (place.path / "own").write_text("x"))
    assert listed(changes) == [("own", "created", "file")]


def test_reading_through_the_host_needs_no_second_look(place):
    """A mark is asked for only when something may have changed."""
    asked = []
    call = place.service.call
    place.service.call = lambda op, *words, **named: asked.append(op) or call(op, *words, **named)
    place.after(lambda: (place.path / "f").write_text("x"))
    place.files.read_bytes("f")
    place.after()
    assert asked == ["changes", "fetch", "read", "changes"]
    place.files.write_text("f", "y")
    assert place.after() == FileChanges()
    assert asked[-2:] == ["mark", "changes"]


class Program:
    ended = None

    def get(self):
        return self.ended


def test_a_program_counts_until_it_was_seen_to_have_ended():
    modified, program = ModifiedFlag(), Program()
    assert not modified.take()
    modified.follow(program)
    assert modified.take()
    assert modified.take()
    program.ended = "exit"
    assert modified.take()
    assert not modified.take()


def test_a_run_that_was_never_collected_is_not_the_next_ones(place):
    place.watch.mark()
    (place.path / "lost").write_text("x")
    assert place.after() == FileChanges()


def test_a_folder_that_is_not_empty_at_first_needs_a_mark(place):
    (place.path / "there").write_text("x")
    place.watch = WorkdirWatch(place.service, str(place.path), place.modified, is_empty=False)
    assert place.after() == FileChanges()


def test_a_service_that_was_hung_up_on_is_told_again(place):
    """An operation of the host's own that ends in the middle costs a mark, and no truth."""
    (place.path / "old").write_text("x" * 100)
    place.after()
    with pytest.raises(RuntimeError):
        place.service.call("read", str(place.path / "old"), timeout_s=5, talk=_fail, limit=1000)
    changes = place.after(lambda: (place.path / "new").write_text("x"))
    assert (listed(changes), changes.notes) == ([("new", "created", "file")], ())


def _fail(line):
    raise RuntimeError


# --- a service that was ended --------------------------------------------------------------------


def test_without_a_service_times_decide(place):
    (place.path / "old").write_text("x")
    place.after()
    time.sleep(0.05)
    place.watch.mark()
    (place.path / "new").write_text("x")
    (place.path / "old").unlink()
    place.lines[-1].close()
    place.service._line = None

    changes = place.collect()
    assert listed(changes) == [("new", "changed", "file")]
    assert "ended during the run" in changes.notes[0]
    assert place.after() == FileChanges()


def test_without_a_service_all_of_a_first_run_is_created(place):
    place.watch.mark()
    (place.path / "new").write_text("x")
    changes = place.collect()
    assert (listed(changes), changes.notes) == ([("new", "created", "file")], ())
