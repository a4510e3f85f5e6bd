"""Files of data sets: kinds of files, recognition, and lines that cannot be read."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest

from llm_sandbox.evaluation.datasets import Dataset, load_dataset
from llm_sandbox.evaluation.datasets.formats import FORMATS
from llm_sandbox.evaluation.kinds import StdioTest
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import MissingDependencyError, ValidationError

if TYPE_CHECKING:
    from pathlib import Path

UNICODE = "Grüße \u2028 世界 \N{GRINNING FACE}"
GOOD: list[dict[str, Any]] = [
    {"id": "a", "tests": [{"kind": "stdio", "stdin": "1\n", "expected": "1\n"}]},
    {"id": UNICODE, "tests": [{"kind": "stdio", "stdin": UNICODE, "expected": "2"}]},
]


def lines(*records: object) -> bytes:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    return text.encode()


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def write_jsonl(folder: Path, *records: object) -> Path:
    return write(folder / "data.jsonl", lines(*records))


def write_every_kind(folder: Path) -> list[Path]:
    (folder / "data.jsonl.gz").write_bytes(gzip.compress(lines(*GOOD)))
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(GOOD), folder / "data.parquet")
    return [
        write_jsonl(folder, *GOOD),
        folder / "data.jsonl.gz",
        write(folder / "data.json", json.dumps(GOOD).encode()),
        folder / "data.parquet",
    ]


def test_every_kind_of_file_gives_the_same_tasks(tmp_path: Path) -> None:
    for path in write_every_kind(tmp_path):
        dataset = load_dataset(path)
        assert ["a", UNICODE] == list(dataset)
        assert UNICODE == dataset[UNICODE].tests[0].stdin  # type: ignore[attr-defined]
        assert "own" == dataset.format
        assert () == dataset.problems
        assert hashlib.sha256(path.read_bytes()).hexdigest() == dataset.sha256


def test_a_path_may_be_text(tmp_path: Path) -> None:
    assert 2 == len(load_dataset(str(write_jsonl(tmp_path, *GOOD))))


def test_empty_lines_line_ends_and_a_byte_order_mark_are_of_no_account(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + lines(GOOD[0]).replace(b"\n", b"\r\n") + b"\n  \n" + lines(GOOD[1])
    assert 2 == len(load_dataset(write(tmp_path / "data.jsonl", data.rstrip(b"\n"))))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{oops", "expected JSON, got Expecting property name"),
        (b"[1, 2]", "expected an object, got a list"),
        (b"null", "expected an object, got null"),
        (b"\xff\xfe", "expected JSON, got bytes that are not UTF-8"),
        (b"[" * 200_000, "expected JSON, got nesting that is too deep"),
        (b"1" * 400_000, "expected JSON, got an integer of more than"),
        (b'{"id": "b"}', "invalid tests: expected a value, got none"),
        (b'{"id": "b", "tests": []}', "expected at least one, got none"),
        (b'{"id": "a", "tests": [{"kind": "stdio"}]}', "invalid id: expected another"),
        (b'{"id": "b", "tests": [{"kind": "magic"}]}', r"invalid tests\[0\].kind: expected one"),
        (b'{"id": "\\ud800", "tests": [{"kind": "stdio"}]}', "got a lone surrogate at 0"),
        (b'{"id": "b", "tests": [{"kind": "stdio"}], "colour": 1}', "got 'colour'"),
    ],
)
def test_a_malformed_line_is_named_by_its_number(tmp_path: Path, line: bytes, message: str) -> None:
    data = lines(GOOD[0]) + b"\n" + line + b"\n" + lines(GOOD[1])
    path = write(tmp_path / "data.jsonl", data)
    with pytest.raises(ValidationError, match=r"data.jsonl, line 3: .*" + message) as caught:
        load_dataset(path)
    assert "on_error" in (caught.value.hint or "")
    dataset = load_dataset(path, on_error="skip")
    assert ["a", UNICODE] == list(dataset)
    assert [3] == [problem.line for problem in dataset.problems]


def test_a_malformed_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", b"oops\n" + lines(*GOOD))
    assert "own" == load_dataset(path, on_error="skip").format


def test_items_of_a_list_are_counted_from_one(tmp_path: Path) -> None:
    path = write(tmp_path / "data.json", json.dumps([GOOD[0], 7]).encode())
    with pytest.raises(ValidationError, match=r"line 2: .*expected an object, got a number"):
        load_dataset(path)


def test_rows_of_parquet_are_counted_from_one(tmp_path: Path) -> None:
    bad = {"id": "b", "tests": []}
    table = pyarrow.Table.from_pylist([*GOOD, bad])
    pyarrow.parquet.write_table(table, tmp_path / "data.parquet")
    with pytest.raises(ValidationError, match=r"line 3: .*expected at least one"):
        load_dataset(tmp_path / "data.parquet")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("data.json", b'{"id": 1}', "expected a list of objects, got an object"),
        ("data.json", b"oops", "expected JSON"),
        ("data.json", b"[]", "expected at least one record"),
        ("data.jsonl", b"\n\n", "expected at least one record"),
        ("data.jsonl", b"", "expected at least one record"),
        ("data.jsonl.gz", b"no gzip", "expected gzip data, got damage"),
        ("data.jsonl.gz", gzip.compress(lines(*GOOD))[:-9], "expected gzip data, got damage"),
        ("data.parquet", b"PAR1 no parquet", "expected parquet"),
        ("data.parquet", b"", "expected parquet"),
        ("data.csv", b"a,b", "expected a file name that ends with .jsonl"),
    ],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_file_that_is_damaged_as_a_whole_is_refused(
    tmp_path: Path, name: str, data: bytes, message: str, on_error: Any
) -> None:
    with pytest.raises(ValidationError, match=message):
        load_dataset(write(tmp_path / name, data), on_error=on_error)


@pytest.mark.parametrize("path", ["absent.jsonl", "https://example.org/data.jsonl", "."])
def test_only_local_files_are_read(path: str) -> None:
    with pytest.raises(ValidationError, match="invalid path"):
        load_dataset(path)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").mkdir()
    with pytest.raises(ValidationError, match="expected a local file"):
        load_dataset(tmp_path / "data.jsonl")


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_every_kind(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="pyarrow, which is not installed") as caught:
        load_dataset(tmp_path / "data.parquet")
    assert "install" in (caught.value.hint or "")
    assert 2 == len(load_dataset(tmp_path / "data.jsonl"))


def test_fields_of_no_format_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="got a record with answer, question") as caught:
        load_dataset(write_jsonl(tmp_path, {"question": "?", "answer": "!"}))
    assert "humaneval" in (caught.value.hint or "")


def test_a_wish_for_a_format_wins_over_recognition(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, *GOOD)
    with pytest.raises(ValidationError, match="line 1: invalid prompt: expected text"):
        load_dataset(path, "humaneval")
    with pytest.raises(ValidationError, match="invalid format: expected one of own, "):
        load_dataset(path, "csv")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="invalid on_error: expected raise or skip"):
        load_dataset(path, on_error="ignore")  # type: ignore[arg-type]


def test_every_format_is_recognised_by_its_own_fields() -> None:
    from llm_sandbox.evaluation.datasets.formats import recognise_format

    for name, one in FORMATS.items():
        for fields in one.fields:
            assert name == recognise_format(fields)


def test_a_dataset_is_a_mapping_of_unique_ids() -> None:
    task = Task(id="a", tests=(StdioTest("1", "1"),))
    dataset = Dataset([task])
    assert {"a": task} == dict(dataset)
    assert "a" in dataset
    assert "b" not in dataset
    assert "<Dataset own: 1 tasks>" == repr(dataset)
    with pytest.raises(KeyError):
        dataset["b"]
    with pytest.raises(ValidationError, match="expected unique ids, got 'a' twice"):
        Dataset([task, task])


def test_groups_are_selected() -> None:
    one, other = StdioTest("1", "1", group="public"), StdioTest("2", "2", group="private")
    dataset = Dataset([Task(id="a", tests=(one, other)), Task(id="b", tests=(other,))])
    public = dataset.with_groups("public")
    assert ["a"] == list(public)
    assert (one,) == public["a"].tests
    assert ["a", "b"] == list(dataset.with_groups("private", "public"))
    with pytest.raises(ValidationError, match="expected some of private, public"):
        dataset.with_groups("base")


def test_messages_hold_no_content_of_the_file(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path, {"task_id": "t", "code": "", "test_list": ["secret", {"s": 1}]})
    with pytest.raises(ValidationError, match=r"invalid test_list\[1\]: expected text") as caught:
        load_dataset(path)
    assert "secret" not in str(caught.value)
