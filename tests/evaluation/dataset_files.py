"""Data sets that tests write and read back, and the tests of their tasks by kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from llm_sandbox.evaluation.datasets import Dataset, load_dataset
from llm_sandbox.evaluation.kinds import CallTest, StdioTest

if TYPE_CHECKING:
    from pathlib import Path

    from llm_sandbox.evaluation.sample import Task


def load(folder: Path, *records: dict[str, Any]) -> Dataset:
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return load_dataset(path)


def one(folder: Path, record: dict[str, Any]) -> Task:
    (task,) = load(folder, record).values()
    return task


def calls(task: Task) -> list[CallTest]:
    found = [test for test in task.tests if isinstance(test, CallTest)]
    assert len(task.tests) == len(found)
    return found


def programs(task: Task) -> list[StdioTest]:
    found = [test for test in task.tests if isinstance(test, StdioTest)]
    assert len(task.tests) == len(found)
    return found
