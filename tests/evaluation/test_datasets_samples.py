"""Files of samples."""

from __future__ import annotations

import gzip
import itertools
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox.evaluation.datasets import Dataset, load_samples
from llm_sandbox.evaluation.kinds import StdioTest
from llm_sandbox.evaluation.sample import Sample, Task
from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from pathlib import Path

COMPLETION = {"task_id": "HumanEval/0", "completion": "    return 1\n"}


def write(folder: Path, *records: object) -> Path:
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_completions_are_numbered_by_task(tmp_path: Path) -> None:
    other = {"task_id": 7, "completion": "ü"}
    samples = list(load_samples(write(tmp_path, COMPLETION, other, COMPLETION)))
    assert [
        Sample("HumanEval/0/0", completion="    return 1\n", task="HumanEval/0"),
        Sample("7/0", completion="ü", task="7"),
        Sample("HumanEval/0/1", completion="    return 1\n", task="HumanEval/0"),
    ] == samples


def test_a_solution_is_whole_code(tmp_path: Path) -> None:
    record = {**COMPLETION, "solution": "def f(): pass", "model": "m", "raw": "x" * 2000, "n": 3}
    (sample,) = load_samples(write(tmp_path, record))
    assert ("def f(): pass", None) == (sample.code, sample.completion)
    assert {"model": "m", "n": 3} == sample.meta


def test_a_list_of_codes_is_several_samples(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    path.write_text(
        json.dumps(
            [
                {"question_id": "abc1", "code_list": ["print(1)", ""], "output_list": ["a", "b"]},
                {"question_id": "abc2", "code_list": []},
                {"question_id": "abc1", "code_list": ["print(2)"]},
            ]
        )
    )
    assert [("abc1/0", "print(1)"), ("abc1/1", ""), ("abc1/2", "print(2)")] == [
        (sample.id, sample.code) for sample in load_samples(path)
    ]


def test_our_own_have_every_field_of_a_sample(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"id": "s1", "task": "t", "code": "x = 1", "language": "cpp", "meta": {"a": [1]}},
        {"id": 2, "completion": "y", "tests": [{"kind": "stdio", "stdin": "1", "expected": "1"}]},
        {"task": "t", "code": "z"},
        {"task": "t", "code": "z", "limits": {"cpu_time": 1}},
    ]
    first, second, third, fourth = load_samples(write(tmp_path, *records))
    assert Sample("s1", code="x = 1", task="t", language="cpp", meta={"a": [1]}) == first
    assert Sample("2", completion="y", tests=(StdioTest("1", "1"),)) == second
    assert ("t/0", "t/1") == (third.id, fourth.id)
    assert fourth.limits is not None
    assert 1 == fourth.limits.cpu_time


def test_numbers_avoid_ids_of_the_file(tmp_path: Path) -> None:
    records = [{"id": "t/1", "task": "t", "code": "a"}, {"task": "t", "code": "b"}] * 1
    records += [{"task": "t", "code": "c"}]
    assert ["t/1", "t/0", "t/2"] == [one.id for one in load_samples(write(tmp_path, *records))]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"task_id": "t"}, "expected solution or completion, got neither"),
        ({"task_id": "t", "completion": 7}, "invalid completion: expected text, got a number"),
        ({"task_id": "t", "solution": ["a"]}, "got a list: repeat the line for each"),
        ({"task_id": "", "solution": "a"}, "invalid task_id: expected text, got an empty one"),
        ({"task_id": "t", "solution": "\ud800"}, "got a lone surrogate"),
        ({"question_id": "q", "code_list": "a"}, "invalid code_list: expected a list"),
        ({"question_id": "q", "code_list": [None]}, r"invalid code_list\[0\]: expected text"),
        ({"question_id": "q"}, "expected the fields task_id, .* got question_id"),
        ({"answer": 42}, "expected the fields task_id, .* got answer"),
        ({}, "expected the fields task_id, .* got none"),
        ({"id": "x", "code": "a"}, "expected a task or tests, got neither"),
        ({"id": "x", "task": "t"}, "expected code or completion, got neither"),
        ({"id": "x", "task": "t", "code": "", "completion": ""}, "code or completion, got both"),
        ({"id": "first", "task": "t", "code": ""}, "invalid id: expected one that is not used"),
        ({"tests": [{"kind": "stdio"}], "code": ""}, "expected one, as there is no task"),
        ({"id": "x", "task": "t", "code": "", "colour": 1}, "got 'colour'"),
        ({"id": "x", "task": "t", "code": "", "weight": -1}, "invalid weight"),
        ([1], "expected an object, got a list"),
    ],
)
def test_a_malformed_line_is_named_by_its_number(
    tmp_path: Path, record: object, message: str
) -> None:
    first = {"id": "first", "task": "t", "code": "a"}
    path = write(tmp_path, first, record, COMPLETION)
    with pytest.raises(ValidationError, match="samples.jsonl, line 2: .*" + message):
        list(load_samples(path))
    samples = load_samples(path, on_error="skip")
    assert ["first", "HumanEval/0/0"] == [sample.id for sample in samples]
    assert [2] == [problem.line for problem in samples.problems]


def test_samples_before_a_malformed_line_are_given(tmp_path: Path) -> None:
    samples = iter(load_samples(write(tmp_path, COMPLETION, {})))
    assert "HumanEval/0/0" == next(samples).id
    with pytest.raises(ValidationError, match="line 2"):
        next(samples)


def test_each_iteration_is_the_same(tmp_path: Path) -> None:
    samples = load_samples(write(tmp_path, COMPLETION, {}, COMPLETION), on_error="skip")
    assert list(samples) == list(samples)
    assert 1 == len(samples.problems)
    assert "<Samples samples.jsonl>" == repr(samples)


def test_samples_of_unknown_tasks_are_problems(tmp_path: Path) -> None:
    dataset = Dataset([Task(id="t", tests=(StdioTest("1", "1"),))])
    records = [
        {"task": "t", "code": "a"},
        {"task": "u", "code": "b"},
        {"id": "own", "code": "c", "tests": [{"kind": "stdio"}]},
    ]
    path = write(tmp_path, *records)
    with pytest.raises(ValidationError, match=r"line 2: invalid task: .* got 'u'"):
        list(load_samples(path, tasks=dataset))
    known = load_samples(path, tasks=dataset, on_error="skip")
    assert ["t/0", "own"] == [sample.id for sample in known]


def test_a_missing_file_and_a_wrong_option_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="expected a local file"):
        load_samples(tmp_path / "absent.jsonl")
    with pytest.raises(ValidationError, match="invalid on_error"):
        load_samples(write(tmp_path, COMPLETION), on_error="ignore")  # type: ignore[arg-type]


def test_compressed_files_have_the_same_samples_and_another_hash(tmp_path: Path) -> None:
    path = write(tmp_path, COMPLETION, COMPLETION)
    compressed = tmp_path / "samples.jsonl.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    plain, packed = load_samples(path), load_samples(compressed)
    assert list(plain) == list(packed)
    assert 64 == len(plain.sha256)
    assert plain.sha256 != packed.sha256


def test_a_line_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(json.dumps(COMPLETION).encode() + b"\n")
        for _ in range(100):
            file.write(b"0" * 2**20)
    samples = iter(load_samples(path, on_error="skip"))
    assert "HumanEval/0/0" == next(samples).id
    with pytest.raises(ValidationError, match=r"expected at most 67108864 bytes, got more"):
        next(samples)


def test_samples_are_read_as_they_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl.gz"
    line = json.dumps({"task_id": "t", "completion": "x" * 20_000}).encode() + b"\n"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(2000):  # 40 MB
            file.write(line)
    tracemalloc.start()
    try:
        count = sum(1 for _ in load_samples(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 2000 == count
    assert peak < 8_000_000
    assert ["t/0", "t/1"] == [one.id for one in itertools.islice(load_samples(path), 2)]
