"""The host's side of the file service against services that lie about a run's files."""

import os
import socket
import threading
import time

import pytest

from llm_sandbox.artifacts.files import artifacts_from_changes
from llm_sandbox.guest.bulk import Connection
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox.changes import WorkdirWatch
from llm_sandbox.sandbox.file_service import FileService
from llm_sandbox.sandbox.files import ModifiedFlag

HONEST = {"path": "f", "change": "created", "kind": "file", "size": 1, "stored": 512, "mtime_ns": 1}


class Liar:
    """A file service that answers each operation by a function of its name."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []
        self.service = FileService(self._connect, "test")
        self.watch = WorkdirWatch(self.service, "/sandbox", ModifiedFlag(), is_empty=True)

    def _connect(self):
        near, far = socket.socketpair()
        threading.Thread(target=self._answer, args=(far,), daemon=True).start()
        return near

    def _answer(self, far):
        with far:
            connection = Connection(far)
            try:
                while True:
                    request = connection.receive_record()
                    self.asked.append(request)
                    self.answers[request["op"]](connection, request)
            except (EOFError, OSError, KeyError):
                pass

    def collect(self, limits=None):
        self.watch.mark()
        try:
            return self.watch.collect(limits or Limits())
        finally:
            self.service.close()


def listing(*entries, **changes):
    record = {"at_ns": 1, "entries": list(entries), "is_complete": True, "is_compared": True}
    return lambda connection, request: connection.send_record(record | changes)


def content(data=b"x", **reply):
    def send(connection, request):
        if data:
            connection.send_chunk(data)
        connection.end_chunks()
        connection.send_record({"is_whole": True, "size": len(data), "mtime_ns": 1} | reply)

    return send


def test_an_honest_service_is_believed():
    """The control of all that follows."""
    changes = Liar(changes=listing(HONEST), fetch=content()).collect()
    assert [(file.path, file.content.bytes()) for file in changes.files] == [("f", b"x")]
    assert (changes.omitted, changes.notes) == (0, ())


@pytest.mark.parametrize(
    "lie",
    [
        {"path": "../../etc/passwd"},
        {"path": "/etc/passwd"},
        {"path": "a/../../b"},
        {"path": ".."},
        {"path": "."},
        {"path": "a//b"},
        {"path": "a/"},
        {"path": ""},
        {"path": "a\0b"},
        {"path": "\ud800"},
        {"path": "x" * 4097},
        {"path": 5},
        {"path": None},
        {"change": "deleted"},
        {"change": ["created"]},
        {"kind": "door"},
        {"kind": {}},
        {"kind": "link", "target": 5},
        {"kind": "link", "target": "x" * 1001},
        {"size": -1},
        {"size": 2**63},
        {"size": True},
        {"size": "1"},
        {"size": 1.5},
        {"stored": -1},
        {"stored": None},
    ],
    ids=str,
)
def test_an_entry_that_cannot_be_one_is_counted_and_never_asked_for(lie):
    liar = Liar(changes=listing(HONEST | lie, HONEST | {"path": "good"}), fetch=content())
    changes = liar.collect()
    assert [file.path for file in changes.files] == ["good"]
    assert (changes.omitted, len(changes.notes)) == (1, 1)
    assert [request.get("name") for request in liar.asked] == [None, "good"]


@pytest.mark.parametrize("entry", [None, 5, "f", [], {}, [HONEST]])
def test_what_is_no_entry_is_counted(entry):
    changes = Liar(changes=listing(entry, HONEST), fetch=content()).collect()
    assert ([file.path for file in changes.files], changes.omitted) == (["f"], 1)


def test_the_same_path_twice_is_one_file():
    changes = Liar(changes=listing(HONEST, HONEST | {"kind": "pipe"}), fetch=content()).collect()
    assert [(file.path, file.kind) for file in changes.files] == [("f", "file")]


def test_more_entries_than_were_asked_for_are_left_out():
    many = [HONEST | {"path": f"f{number}", "kind": "pipe"} for number in range(20_000)]
    changes = Liar(changes=listing(*many)).collect()
    assert (len(changes.files), changes.omitted) == (1_000, 19_000)


def test_a_million_entries_are_refused_as_one():
    def flood(connection, request):
        body = b'{"entries": [' + b"[]," * 10**6 + b"[]]}"
        connection.socket.sendall(len(body).to_bytes(4, "little") + body)

    changes = Liar(changes=flood).collect()
    assert (changes.files, len(changes.notes)) == ((), 1)


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"entries": None, "at_ns": 1},
        {"entries": "ff", "at_ns": 1},
        {"entries": []},
        {"entries": [], "at_ns": -1},
        {"entries": [], "at_ns": "1"},
        {"entries": [], "at_ns": 2**80},
        {"errno": 5, "message": "\x1b[2J"},
        {"errno": "x"},
    ],
    ids=str,
)
def test_an_answer_that_is_none_is_a_note(record):
    changes = Liar(changes=lambda connection, _: connection.send_record(record)).collect()
    assert changes.files == ()
    assert ["could not be listed" in note for note in changes.notes] == [True]
    assert "\x1b" not in changes.notes[0]


@pytest.mark.parametrize("number", [-5, 2**70, "9", None, True, 1.5])
def test_counts_that_cannot_be_ones_are_none(number):
    changes = Liar(changes=listing(omitted=number, deleted_count=number)).collect()
    assert (changes.omitted, changes.deleted_count, changes.notes) == (0, 0, ())


def test_removed_paths_are_checked_as_well():
    lies = ["../x", "/x", 5, None, "good", "a\0b"]
    changes = Liar(changes=listing(deleted=[*lies, *["y"] * 500])).collect()
    assert changes.deleted[0] == "good"
    assert len(changes.deleted) <= 100
    assert Liar(changes=listing(deleted="xyz")).collect().deleted == ()


# --- contents ------------------------------------------------------------------------------------


def test_more_bytes_than_were_asked_for_are_refused():
    many = [HONEST, HONEST | {"path": "g"}]
    changes = Liar(changes=listing(*many), fetch=content(b"x" * 10_000)).collect(
        Limits(artifact_bytes=5_000)
    )
    assert [file.content for file in changes.files] == [None, None]
    assert all("did not answer" in file.note for file in changes.files)


@pytest.mark.parametrize("claim", [False, None, "yes", 1])
def test_what_is_not_said_to_be_whole_is_a_beginning(claim):
    changes = Liar(changes=listing(HONEST), fetch=content(b"x" * 9_000, is_whole=claim)).collect()
    (file,) = changes.files
    assert (file.content, file.head) == (None, b"x" * 4096)


def test_what_is_said_to_be_whole_and_is_over_the_limit_is_not_kept():
    changes = Liar(changes=listing(HONEST | {"size": 2**60}), fetch=content(b"x" * 4_000)).collect(
        Limits(artifact_bytes=3_000)
    )
    (file,) = changes.files
    assert (file.content, len(file.head), file.size) == (None, 4_000, 2**60)
    assert artifacts_from_changes(changes)[0].size == 2**60


def test_the_size_is_that_of_what_came():
    entry = HONEST | {"size": 5_000_000}
    changes = Liar(changes=listing(entry), fetch=content(b"xyz", size=7)).collect()
    (file,) = changes.files
    assert (file.size, file.content.size) == (3, 3)
    assert "changed while" in file.note


def test_a_service_that_ends_halfway_costs_contents_only():
    def die(connection, request):
        connection.send_chunk(b"x")
        connection.socket.shutdown(socket.SHUT_RDWR)

    changes = Liar(changes=listing(HONEST, HONEST | {"path": "g"}), fetch=die).collect()
    assert [(file.path, file.content) for file in changes.files] == [("f", None), ("g", None)]


@pytest.mark.parametrize("silent", ["mark", "changes", "fetch"])
def test_silence_ends_with_the_time(monkeypatch, silent):
    monkeypatch.setattr("llm_sandbox.sandbox.changes._TOTAL_S", 0.3)
    answers = {
        "mark": lambda connection, _: connection.send_record({"at_ns": 1}),
        "changes": listing(*[HONEST | {"path": f"f{number}"} for number in range(50)]),
        "fetch": content(),
    }
    liar = Liar(**answers | {silent: lambda connection, request: None})
    liar.watch._is_known = silent != "mark"
    started = time.monotonic()
    changes = liar.collect()
    assert time.monotonic() - started < 2
    assert changes.notes or all(file.note for file in changes.files)


def test_nothing_on_this_machine_is_read_or_written(tmp_path, monkeypatch):
    """Whatever paths a service names, the host opens none of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("canary")
    names = ["f", "sub/f", "proc/self/environ"]
    opened = []
    os_open = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *rest, **more: opened.append(path) or os_open(path, *rest, **more)
    )
    entries = [HONEST | {"path": name} for name in names]
    changes = Liar(changes=listing(*entries), fetch=content(b"forged")).collect()
    artifacts_from_changes(changes)
    assert [file.content.bytes() for file in changes.files] == [b"forged"] * 3
    assert not {str(path) for path in opened} & {*names, *(str(tmp_path / name) for name in names)}
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "canary"
