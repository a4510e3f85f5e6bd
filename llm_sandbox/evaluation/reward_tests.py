"""Tests of rewards: tasks from what the columns of data sets hold."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields, mismatch
from llm_sandbox.evaluation.datasets.formats import find_format, recognise_format
from llm_sandbox.evaluation.datasets.json_text import parse_json
from llm_sandbox.evaluation.datasets.own_format import test_from_json
from llm_sandbox.evaluation.kinds import AssertTest, Test
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["to_task"]

_ID = "reward"
_KEPT = 256


def to_task(value: Any) -> Task:
    """Return the task that a value of a data set describes.

    Args:
        value: A task, a test or a sequence of tests; or, as an object or its JSON text, a record of
            any format that `load_dataset` reads, ``verification_info`` of open-r1,
            ``ground_truth`` of verl, a list of assertions, or a list of tests as `test_to_json`
            writes them.

    Raises:
        ValidationError: It is none of these.
    """
    if isinstance(value, Task):
        return value
    if isinstance(value, Test):
        return Task(id=_ID, tests=(value,))
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, Mapping):
        return _of_record(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return _of_items(value)
    raise mismatch("tests", "tests, or an object or JSON text that describes some", value)


@lru_cache(_KEPT)
def _parsed(text: str) -> Task:
    # A group of completions has the same text, and each epoch has it again.
    value = parse_json(text, "tests")
    if isinstance(value, dict):
        return _of_record(value)
    if isinstance(value, list):
        return _of_items(value)
    raise mismatch("tests", "an object or a list", value)


def _of_record(record: Mapping[str, Any]) -> Task:
    if "kind" in record:
        return Task(id=_ID, tests=(test_from_json(record),))
    if "test_cases" in record:
        record = {"verification_info": record}
    elif "tests" in record and "id" not in record:
        record = {"id": _ID, **record}
    # Rows of a table have the fields of all rows, and null where this one has none.
    known = {name: value for name, value in record.items() if value is not None}
    return find_format(recognise_format(known)).read(Fields(known), 1)


def _of_items(items: Sequence[Any]) -> Task:
    if not items:
        raise ValidationError("invalid tests: expected at least one, got none", parameter="tests")
    tests: list[Test] = []
    for index, item in enumerate(items):
        if isinstance(item, Test):
            tests.append(item)
        elif isinstance(item, str):
            tests.append(AssertTest(item))
        elif isinstance(item, Mapping):
            tests.append(test_from_json(item))
        else:
            raise mismatch(f"tests[{index}]", "a test, an object or an assertion", item)
    return Task(id=_ID, tests=tuple(tests))
