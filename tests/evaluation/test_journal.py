"""Journals: what a crash, a full disk or a second process leave of a run's results."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.evaluation.journal import Journal, read_journal
from llm_sandbox.exceptions import (
    FileError,
    NoSpaceError,
    SandboxFileExistsError,
    ValidationError,
)
from tests.evaluation.made_results import HEADER, HOSTILE, make_result, wrong_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.evaluation.results import SampleResult

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from llm_sandbox.evaluation.journal import Journal
from tests.evaluation.made_results import HEADER, make_result

path, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Journal.open(path, HEADER, resume=True) as journal:
    print("open", flush=True)
    for number in range(count):
        result = make_result(f"t{number % 7}#{number}", meta={"padding": "x" * size})
        if not journal.is_done(result.id, result.key):
            journal.append(result)
            print(result.id, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def start(*arguments: object, program: str = PROGRAM) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def write(path: Path, *results: SampleResult, resume: bool = False) -> None:
    with Journal.open(path, HEADER, resume=resume) as journal:
        for result in results:
            journal.append(result)


def test_results_come_back_as_they_were(path: Path) -> None:
    results = [
        make_result("a#0", "WA", tests=(wrong_answer(text=HOSTILE),), meta={"x": [1, None]}),
        make_result("a#1", verdicts=(), flaky=True, weight=2.5),
        make_result("b\ud800\n#0", "CE", tests=(), error=HOSTILE),
    ]
    write(path, *results)
    found = read_journal(path)
    assert results == list(found)
    assert results == list(found)  # again, from the file
    assert 3 == len(found)
    assert HEADER == found.header
    assert 4 == len(path.read_bytes().splitlines())
    assert path.read_bytes().isascii()


def test_each_result_is_in_the_file_when_append_returns(path: Path) -> None:
    with Journal.open(path, HEADER) as journal:
        for number in range(5):
            journal.append(make_result(f"t#{number}"))
            assert number + 1 == len(read_journal(path)) == len(journal) == len(journal.results())


def test_done_samples_are_skipped_and_failures_of_the_sandbox_are_not(path: Path) -> None:
    done, failed = make_result("a#0", "WA"), make_result("a#1", "IE")
    write(path, done, failed)
    with Journal.open(path, HEADER, resume=True) as journal:
        assert journal.is_done(done.id, done.key)
        assert not journal.is_done(failed.id, failed.key)
        assert not journal.is_done(done.id, "other key")
        assert not journal.is_done("other", done.key)
        assert 1 == journal.resumed


def test_the_last_result_wins_unless_the_sandbox_failed(path: Path) -> None:
    accepted = make_result("a#0")
    write(path, make_result("a#0", "IE"), accepted, make_result("a#0", "IE"))
    assert [accepted] == list(read_journal(path))
    write(path, make_result("a#0", "WA"), resume=True)
    assert ["WA"] == [result.verdict for result in read_journal(path)]


def test_samples_with_the_same_code_are_two(path: Path) -> None:
    """pass@k counts equal completions, so an equal key does not make one of two samples."""
    write(path, make_result("a#0", key="same"), make_result("a#1", key="same"))
    assert ["a#0", "a#1"] == [result.id for result in read_journal(path)]


def test_a_result_of_changed_code_replaces_the_old_one(path: Path) -> None:
    write(path, make_result("a#0", key="old"), make_result("a#0", "IE", key="new"))
    assert ["new"] == [result.key for result in read_journal(path)]
    with Journal.open(path, HEADER, resume=True) as journal:
        assert not journal.is_done("a#0", "old")
        assert not journal.is_done("a#0", "new")


def test_a_half_line_is_cut_off_wherever_it_ends(path: Path) -> None:
    first, last, more = make_result("a#0"), make_result("a#1"), make_result("a#2")
    write(path, first, last)
    whole = path.read_bytes()
    start_of_last = whole.rindex(b"\n", 0, -1) + 1
    for end in [*range(start_of_last + 1, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:end])
        assert [first] == list(read_journal(path))
        with Journal.open(path, HEADER, resume=True) as journal:
            assert not journal.is_done(last.id, last.key)
            journal.append(more)
        assert [first, more] == list(read_journal(path))
        assert 0 == read_journal(path).unreadable


def test_a_half_line_longer_than_a_block_is_cut_off(path: Path) -> None:
    write(path, make_result("a#0"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"id": "' + b"x" * 300_000)
    with Journal.open(path, HEADER, resume=True):
        pass
    assert whole == path.read_bytes()


def test_a_half_header_is_begun_anew(path: Path) -> None:
    write(path)
    whole = path.read_bytes()
    for end in (0, 1, 20, len(whole) - 1):
        path.write_bytes(whole[:end])
        write(path, make_result("a#0"), resume=True)
        assert ["a#0"] == [result.id for result in read_journal(path)]


@pytest.mark.parametrize("content", [b"my thesis", b"my thesis\n", b'{"a": 1}\n', b"\0" * 100])
def test_other_files_stay_as_they_are(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ValidationError, match=r"run\.jsonl is something else"):
        Journal.open(path, HEADER, resume=True)
    with pytest.raises(SandboxFileExistsError, match="overwrite=True"):
        Journal.open(path, HEADER)
    with pytest.raises(ValidationError, match="invalid journal"):
        read_journal(path)
    assert content == path.read_bytes()


def test_damaged_lines_are_counted_and_done_again(path: Path) -> None:
    write(path, make_result("a#0"), make_result("a#1"), make_result("a#2"))
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"\0" * len(lines[2])
    lines.insert(3, b'{"id": 3, "key": "x", "verdict": "AC", "score": 1}')
    path.write_bytes(b"\n".join(lines))
    found = read_journal(path)
    assert (["a#0", "a#2"], 2) == ([result.id for result in found], found.unreadable)
    with Journal.open(path, HEADER, resume=True) as journal:
        again = make_result("a#1")
        assert not journal.is_done(again.id, again.key)
        assert 2 == journal.unreadable
        journal.append(again)
    assert {"a#0", "a#1", "a#2"} == {result.id for result in read_journal(path)}


def test_a_file_is_replaced_only_when_told(path: Path) -> None:
    write(path, make_result("a#0"))
    with pytest.raises(SandboxFileExistsError, match=r"run\.jsonl is not empty") as caught:
        Journal.open(path, HEADER)
    assert "resume=True" in str(caught.value.hint)
    with Journal.open(path, HEADER, overwrite=True) as journal:
        assert not len(journal)
    assert [] == list(read_journal(path))
    with pytest.raises(ValidationError, match="overwrite"):
        Journal.open(path, HEADER, resume=True, overwrite=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset_sha256": "e" * 64}, "dataset_sha256 was 'ddd"),
        ({"engine": "local 2.0"}, "engine was 'local 1.0', is 'local 2.0'"),
        ({"limits": {"cpu_time": 9.0, "memory": 512 << 20}}, r"limits\.cpu_time was 5\.0, is 9\.0"),
        ({"limits": {"memory": 512 << 20}}, r"limits\.cpu_time was 5\.0, is None"),
    ],
)
def test_another_run_does_not_resume(path: Path, change: dict[str, object], words: str) -> None:
    write(path, make_result("a#0"))
    before = path.read_bytes()
    with pytest.raises(ValidationError, match=words) as caught:
        Journal.open(path, {**HEADER, **change}, resume=True)
    assert "overwrite=True" in str(caught.value.hint)
    assert before == path.read_bytes()
    # Nothing is held: the file can be used at once.
    Journal.open(path, HEADER, resume=True).close()


def test_facts_of_the_host_may_change(path: Path) -> None:
    write(path, make_result("a#0"))
    with Journal.open(path, {**HEADER, "host": {"cores": 64}}, resume=True) as journal:
        assert {"cores": 2} == journal.header["host"]
        assert 1 == journal.resumed


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"engine": "x"}, "got no dataset_sha256, limits"),
        ({**HEADER, "version": 3}, "got version"),
        ({**HEADER, "host": object()}, "expected JSON"),
        ({**HEADER, "host": "x" * (1 << 20)}, "1048576 bytes"),
    ],
)
def test_invalid_headers_are_refused(path: Path, header: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Journal.open(path, header)
    assert not path.exists()


def test_a_journal_of_another_version_is_refused(path: Path) -> None:
    write(path, make_result("a#0"))
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2', 1))
    for call in (lambda: Journal.open(path, HEADER, resume=True), lambda: read_journal(path)):
        with pytest.raises(ValidationError, match="expected version 1"):
            call()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (make_result("a#0", key=""), "invalid key"),
        (make_result("", key="x"), "invalid id"),
        (make_result("a#0", meta={"x": object()}), "expected JSON"),
        (make_result("a#0", meta=MappingProxyType({})), "expected JSON"),
    ],
)
def test_invalid_results_are_refused(path: Path, result: SampleResult, words: str) -> None:
    with Journal.open(path, HEADER) as journal:
        with pytest.raises(ValidationError, match=words):
            journal.append(result)
        journal.append(make_result("b#0"))
    assert ["b#0"] == [result.id for result in read_journal(path)]


def test_a_closed_journal_takes_no_results(path: Path) -> None:
    journal = Journal.open(path, HEADER)
    journal.sync()
    journal.close()
    journal.close()
    for call in (lambda: journal.append(make_result("a#0")), journal.sync):
        with pytest.raises(FileError, match="is closed"):
            call()


def test_only_regular_files_are_journals(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(ValidationError, match="regular file"):
        Journal.open(fifo, HEADER)


def test_a_second_run_is_refused_until_the_first_ends(path: Path) -> None:
    """In the same process, in another one, and with overwrite as well."""
    with Journal.open(path, HEADER) as journal:
        journal.append(make_result("a#0"))
        for options in ({"resume": True}, {"overwrite": True}):
            with pytest.raises(FileError, match="in use by another run") as caught:
                Journal.open(path, HEADER, **options)
            assert "fuser" in str(caught.value.hint)
        read_journal(path)  # a reader closes the file, which must not unlock it
        command = [sys.executable, "-c", PROGRAM, str(path), "5", "0"]
        other = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        assert (1, "") == (other.returncode, other.stdout)
        assert "in use by another run" in other.stderr
        assert 1 == len(read_journal(path))
    Journal.open(path, HEADER, resume=True).close()


def test_threads_share_a_journal(path: Path) -> None:
    with Journal.open(path, HEADER) as journal:

        def add(name: str) -> None:
            for number in range(50):
                journal.append(make_result(f"{name}#{number}", meta={"x": name * 5000}))

        threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = read_journal(path)
    assert (200, 0) == (len(found), found.unreadable)
    assert 201 == len(path.read_bytes().splitlines())


@pytest.mark.slow
def test_a_killed_run_loses_nothing_that_was_finished(path: Path) -> None:
    """Killed in the middle again and again, it ends with each sample once."""
    chance = random.Random(7)
    count, size = 120, 100_000
    finished: set[str] = set()
    for _ in range(6):
        child = start(path, count, size)
        assert child.stdout is not None
        assert "open\n" == child.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        child.send_signal(signal.SIGKILL)
        # The last line may be cut short as well.
        output = child.stdout.read()
        finished |= {line[:-1] for line in output.splitlines(keepends=True) if line[-1] == "\n"}
        child.stdout.close()
        assert -signal.SIGKILL == child.wait() or count == len(finished)
        assert finished <= {result.id for result in read_journal(path)}
    with start(path, count, size) as child:
        child.communicate()
        assert 0 == child.returncode
    expected = {f"t{number % 7}#{number}" for number in range(count)}
    lines = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    assert expected == {line["id"] for line in lines}
    assert count == len(lines)
    padding = {"padding": "x" * size}
    assert {make_result(id, meta=padding).key for id in expected} == {
        r.key for r in read_journal(path)
    }


FULL = """
import resource, sys
from llm_sandbox.evaluation.journal import Journal
from llm_sandbox.exceptions import NoSpaceError
from tests.evaluation.made_results import HEADER, make_result

path, most = sys.argv[1], int(sys.argv[2])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
with Journal.open(path, HEADER, resume=True) as journal:
    for number in range(1000):
        try:
            journal.append(make_result(f"t#{number}", meta={"padding": "x" * 3000}))
        except NoSpaceError as error:
            print(error)
            # A shorter result may still fit; nothing before is harmed by the attempt.
            try:
                journal.append(make_result("short#0"))
            except NoSpaceError:
                pass
            sys.exit(3)
        print(number)
"""


def fill(path: Path, most: int) -> set[str]:
    """Write results until there is no space; return the ids of those that were finished."""
    with start(path, most, program=FULL) as child:
        output, _ = child.communicate()
    assert 3 == child.returncode
    assert f"no space for {path}" in output
    assert "resume=True" in output
    assert path.read_bytes().endswith(b"}\n")
    return {f"t#{line}" for line in output.splitlines() if line.isdigit()}


def check_full(path: Path, finished: set[str]) -> None:
    found = read_journal(path)
    assert finished
    assert finished == {result.id for result in found} - {"short#0"}
    assert 0 == found.unreadable


def test_a_size_limit_loses_nothing_that_was_finished(path: Path) -> None:
    finished = fill(path, 50_000)
    check_full(path, finished)
    with Journal.open(path, HEADER, resume=True) as journal:
        assert len(finished) <= journal.resumed
        journal.append(make_result("later#0"))
    assert finished < {result.id for result in read_journal(path)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.root
def test_a_full_disk_loses_nothing_that_was_finished(small_disk: Path) -> None:
    path = small_disk / "run.jsonl"
    finished = fill(path, 0)
    check_full(path, finished)
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    with Journal.open(path, HEADER, resume=True) as journal:
        assert all(journal.is_done(id, make_result(id).key) for id in finished)
        journal.append(make_result("later#0"))
    check_full(path, finished | {"later#0"})


@pytest.mark.root
def test_a_run_that_cannot_even_begin_says_so(small_disk: Path) -> None:
    (small_disk / "other").write_bytes(b"x" * (64 << 10))
    path = small_disk / "run.jsonl"
    with pytest.raises(NoSpaceError, match="no space for"):
        Journal.open(path, HEADER)
    (small_disk / "other").unlink()
    Journal.open(path, HEADER).close()


def test_a_signal_between_write_and_return_leaves_a_sound_file(path: Path) -> None:
    """The next append looks where the file ends, and cuts off a half line first."""
    with Journal.open(path, HEADER) as journal:
        journal.append(make_result("a#0"))
        with path.open("ab") as other:
            other.write(b'{"id": "half')
        journal.append(make_result("a#1"))
        assert ["a#0", "a#1"] == [result.id for result in journal.results()]
    assert 0 == read_journal(path).unreadable


def test_results_that_vanish_while_they_are_read_are_an_error(path: Path) -> None:
    write(path, make_result("a#0"), make_result("a#1"))
    found = read_journal(path)
    write_over = Journal.open(path, HEADER, overwrite=True)
    write_over.close()
    with pytest.raises(FileError, match="changed while it was read"):
        list(found)
