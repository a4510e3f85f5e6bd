"""Content: bytes that results refer to."""

import gc
import os
import pickle
import threading
from pathlib import Path

import pytest

from llm_sandbox.results.contents import Content

LARGE = 1 << 20


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, LARGE])
def test_bytes_come_back_whatever_their_number(size: int) -> None:
    data = os.urandom(size)
    content = Content.of(data)
    assert (content.bytes(), content.size, len(content.sha256)) == (data, size, 64)
    assert content.head(10) == data[:10]


def test_equal_bytes_are_one_object() -> None:
    data = os.urandom(LARGE)
    assert Content.of(data) is Content.of(bytearray(data))
    assert Content.of(data) != Content.of(data[1:])


def test_large_content_is_not_held_in_memory() -> None:
    contents = [Content.of(os.urandom(8 * LARGE)) for _ in range(8)]
    held = gc.get_referents(*contents)
    assert sum(len(item) for item in held if isinstance(item, bytes)) == 0
    assert sum(content.size for content in contents) == 64 * LARGE


def test_descriptors_do_not_grow_with_the_number_of_contents() -> None:
    before = open_descriptors()
    contents = [Content.of(os.urandom(1 << 17)) for _ in range(300)]
    assert open_descriptors() <= before + 2
    assert len({content.sha256 for content in contents}) == 300


def test_files_are_closed_when_nothing_refers_to_them() -> None:
    before = open_descriptors()
    contents = [Content.of(os.urandom(65 << 20)) for _ in range(3)]
    assert open_descriptors() >= before + 3
    del contents
    gc.collect()
    assert open_descriptors() <= before + 1


def test_no_file_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    content = Content.of(os.urandom(65 << 20))
    assert list(tmp_path.iterdir()) == []
    assert content.size == 65 << 20


def test_a_full_disk_costs_memory_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    data = os.urandom(65 << 20)
    monkeypatch.setattr(os, "pwrite", fail)
    assert Content.of(data).bytes() == data


def test_a_forked_child_writes_over_nothing_of_its_parent() -> None:
    first = os.urandom(LARGE)
    kept = Content.of(first)
    child = os.fork()
    if child == 0:
        Content.of(os.urandom(LARGE))
        os._exit(0)
    os.waitpid(child, 0)
    second = os.urandom(LARGE)
    assert (Content.of(second).bytes(), kept.bytes()) == (second, first)


def test_threads_may_add_at_once() -> None:
    found: list[tuple[bytes, Content]] = []

    def add() -> None:
        for _ in range(20):
            data = os.urandom(100_000)
            found.append((data, Content.of(data)))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    assert all(content.bytes() == data for data, content in found)


def test_text_base64_pickle_and_save(tmp_path: Path) -> None:
    content = Content.of(b"a\xff\n")
    assert (content.text(), content.base64()) == ("a\\xff\n", "Yf8K")
    assert pickle.loads(pickle.dumps(content)) is content
    assert content.save(tmp_path / "x").read_bytes() == b"a\xff\n"
