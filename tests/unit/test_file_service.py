"""The host's side of the file service against services that lie, stall and die."""

import os
import socket
import struct
import threading
import time

import pytest

from llm_sandbox.exceptions import (
    FileError,
    NoSpaceError,
    OutputLimitError,
    PathError,
    ProtocolError,
    SandboxFileNotFoundError,
    SandboxTimeoutError,
    TransportError,
)
from llm_sandbox.guest import files as guest_files
from llm_sandbox.guest.bulk import Connection
from llm_sandbox.sandbox.file_service import FileService, file_error
from llm_sandbox.sandbox.files import SandboxFiles


class Liar:
    """A file service whose answers are a script."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.requests = []

    def connect(self):
        near, far = socket.socketpair()
        script = self.scripts.pop(0)
        threading.Thread(target=self._answer, args=(far, script), daemon=True).start()
        return near

    def _answer(self, far, script):
        with far:
            connection = Connection(far)
            try:
                self.requests.append(connection.receive_record())
                script(connection)
                # Until the host hangs up.
                while far.recv(1 << 16):
                    pass
            except (EOFError, OSError):
                pass


def files_of(*scripts):
    liar = Liar(*scripts)
    service = FileService(liar.connect, "test")
    return SandboxFiles(service, "/sandbox"), service, liar


def tree(*entries):
    """A script that sends records, and bytes as the chunks of the file before."""

    def script(connection):
        for entry in entries:
            if isinstance(entry, bytes):
                connection.send_chunk(entry)
                connection.end_chunks()
            else:
                connection.send_record(entry)
        connection.send_record({})
        connection.send_record({})

    return script


ROOT = {"path": "", "kind": "directory"}


@pytest.fixture
def served(tmp_path):
    """The real service, on a directory of this machine."""

    def connect():
        near, far = socket.socketpair()

        def serve():
            with far:
                guest_files.serve(far)

        threading.Thread(target=serve, daemon=True).start()
        return near

    umask = os.umask(0o022)
    service = FileService(connect, "test")
    yield SandboxFiles(service, str(tmp_path))
    service.close()
    os.umask(umask)


# --- hostile trees -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "../evil",
        "/evil",
        "a/../../evil",
        "..",
        ".",
        "a//b",
        "a/./b",
        "nul\0",
        "x" * 256,
        "\ud800",
        "d/",
    ],
)
def test_no_name_leads_out_of_the_destination(tmp_path, path):
    script = tree(ROOT, {"path": path, "kind": "file", "mode": 0o644}, b"evil")
    files, service, _ = files_of(script)
    report = files.download("d", tmp_path / "copy")
    service.close()

    assert [skipped.path for skipped in report.skipped] == [path]
    assert [entry.name for entry in tmp_path.rglob("*")] == ["copy"]


def test_depth_is_bounded(tmp_path):
    path = "/".join(["d"] * 65)
    files, service, _ = files_of(tree(ROOT, {"path": path, "kind": "file"}, b"x"))
    report = files.download("d", tmp_path / "copy")
    service.close()

    assert "deep" in report.skipped[0].reason


@pytest.mark.parametrize(
    "entries",
    [
        ({"path": "a", "kind": "file"}, b"x", {"path": "a/b", "kind": "file"}, b"evil"),
        ({"path": "a/b", "kind": "file"}, b"x", {"path": "a", "kind": "file"}, b"evil"),
    ],
)
def test_a_file_in_place_of_a_directory_is_left_out(tmp_path, entries):
    files, service, _ = files_of(tree(ROOT, *entries))
    report = files.download("d", tmp_path / "copy")
    service.close()

    assert (report.files, len(report.skipped)) == (1, 1)


def test_the_same_name_twice_is_the_last(tmp_path):
    entry = {"path": "a", "kind": "file"}
    files, service, _ = files_of(tree(ROOT, entry, b"first", entry, b"second"))
    files.download("d", tmp_path / "copy")
    service.close()

    assert (tmp_path / "copy" / "a").read_bytes() == b"second"


def test_what_arrives_is_counted_whatever_is_claimed(tmp_path):
    script = tree(ROOT, {"path": "a", "kind": "file", "size": 1}, b"x" * 1000)
    files, service, _ = files_of(script)
    with pytest.raises(OutputLimitError):
        files.download("d", tmp_path / "copy", limit=999)
    service.close()

    assert list(tmp_path.iterdir()) == []


def test_what_is_left_out_is_bounded_too(tmp_path):
    files, service, _ = files_of(tree(ROOT, {"path": "..", "kind": "file"}, b"x" * 1000))
    with pytest.raises(OutputLimitError):
        files.download("d", tmp_path / "copy", limit=999)
    service.close()


@pytest.mark.parametrize(
    "first",
    [
        {"path": "a", "kind": "file"},
        {"path": "", "kind": "link"},
        {"kind": "directory"},
        {"path": 5, "kind": "file"},
    ],
)
def test_a_tree_without_a_root_is_refused(tmp_path, first):
    files, service, _ = files_of(tree(first))
    with pytest.raises(ProtocolError):
        files.download("d", tmp_path / "copy")
    service.close()


@pytest.mark.parametrize("entry", [{"path": 5, "kind": "file"}, {"path": "a"}, {"kind": "file"}])
def test_an_entry_that_is_none_is_refused(tmp_path, entry):
    files, service, _ = files_of(tree(ROOT, entry))
    with pytest.raises(ProtocolError):
        files.download("d", tmp_path / "copy")
    service.close()

    assert list(tmp_path.iterdir()) == []


# --- hostile answers -----------------------------------------------------------------------------


def raw(data):
    return lambda connection: connection.socket.sendall(data)


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack("<I", 0x7FFFFFFF),
        struct.pack("<I", 5) + b"{bad}",
        struct.pack("<I", 2) + b"[]",
        struct.pack("<I", 200_000) + b"[" * 200_000,
    ],
)
def test_an_answer_that_is_none_is_an_error(answer):
    files, service, _ = files_of(raw(answer), raw(answer))
    with pytest.raises(TransportError):
        files.stat("x")
    service.close()


@pytest.mark.parametrize(
    "entry",
    [None, 5, {}, {"name": 5}, {"name": "x", "kind": "door", "size": 1, "mode": 1, "mtime": 1}],
)
def test_a_description_that_is_none_is_an_error(entry):
    files, service, _ = files_of(lambda connection: connection.send_record({"entry": entry}))
    with pytest.raises(ProtocolError):
        files.stat("x")
    service.close()


def test_more_than_was_asked_for_is_refused():
    def script(connection):
        connection.send_chunk(b"x" * 100)
        connection.end_chunks()
        connection.send_record({})

    files, service, _ = files_of(script)
    with pytest.raises(OutputLimitError):
        files.read_bytes("x", limit=99)
    service.close()


def test_silence_ends_at_the_deadline():
    _, service, _ = files_of(lambda connection: None)
    started = time.monotonic()
    with pytest.raises(SandboxTimeoutError):
        service.call("stat", "x", timeout_s=0.2, talk=lambda line: None)

    assert time.monotonic() - started < 5
    service.close()


def test_drops_do_not_stretch_the_deadline():
    def drip(connection):
        for byte in struct.pack("<I", 100) + b"x" * 100:
            connection.socket.sendall(bytes([byte]))
            time.sleep(0.05)

    _, service, _ = files_of(drip)
    started = time.monotonic()
    with pytest.raises(SandboxTimeoutError):
        service.call("stat", "x", timeout_s=0.5, talk=lambda line: None)

    assert time.monotonic() - started < 3
    service.close()


def test_a_dead_service_is_asked_again_once():
    def answer(connection):
        entry = {"name": "x", "kind": "file", "size": 1, "mode": 1, "mtime": 1.0}
        connection.send_record({"entry": entry})

    files, service, liar = files_of(lambda connection: connection.socket.close(), answer)

    assert files.stat("x").name == "x"
    assert len(liar.requests) == 2
    service.close()


def test_what_cannot_be_repeated_is_not():
    files, service, liar = files_of(lambda connection: connection.socket.close())
    with pytest.raises(TransportError):
        files.remove("x")

    assert len(liar.requests) == 1
    service.close()


def test_errors_are_the_ones_that_the_library_promises():
    cases = {2: SandboxFileNotFoundError, 28: NoSpaceError, 40: PathError, 5: FileError}
    for number, kind in cases.items():
        error = file_error({"errno": number, "message": "why"}, "p", "read")
        assert type(error) is kind
        assert "'p': why" in str(error)
    assert type(file_error({"errno": "2"}, "p", "read")) is ProtocolError


# --- the real service ----------------------------------------------------------------------------


def test_the_service_reads_what_it_wrote(served, tmp_path):
    served.write_bytes("a/b", b"x" * 1_000_000)

    assert (tmp_path / "a" / "b").read_bytes() == served.read_bytes("a/b") == b"x" * 1_000_000


def test_a_failed_write_leaves_the_conversation_in_step(served, tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(IsADirectoryError):
        served.write_bytes("d", b"x" * 3_000_000)

    served.write_text("after", "x")
    assert served.read_text("after") == "x"


def test_a_failed_upload_leaves_the_conversation_in_step(served, tmp_path):
    (tmp_path / "source" / "d").mkdir(parents=True)
    (tmp_path / "source" / "d" / "f").write_bytes(b"x" * 1_000_000)
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "d").write_text("in the way")
    with pytest.raises(FileExistsError):
        served.upload(tmp_path / "source", "target")

    assert served.read_text("target/d") == "in the way"


def test_trees_go_there_and_back(served, tmp_path):
    source = tmp_path / "source"
    (source / "a" / "b").mkdir(parents=True)
    (source / "a" / "b" / "f").write_bytes(os.urandom(600_000))
    (source / "a" / "empty").write_bytes(b"")
    served.upload(source, "inside")
    served.download("inside", tmp_path / "back")

    for path in ("a/b/f", "a/empty"):
        assert (tmp_path / "back" / path).read_bytes() == (source / path).read_bytes()
