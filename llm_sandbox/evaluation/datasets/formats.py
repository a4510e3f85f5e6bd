"""Formats of data sets, and their recognition by the fields of a record."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from llm_sandbox.evaluation.datasets.apps import read_apps
from llm_sandbox.evaluation.datasets.code_contests import read_code_contests
from llm_sandbox.evaluation.datasets.codeforces import read_codeforces
from llm_sandbox.evaluation.datasets.completions import read_bigcodebench, read_humaneval
from llm_sandbox.evaluation.datasets.evalplus import read_evalplus
from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.ioi import merge_subtasks, read_ioi
from llm_sandbox.evaluation.datasets.livecodebench import read_livecodebench
from llm_sandbox.evaluation.datasets.mbpp import read_mbpp
from llm_sandbox.evaluation.datasets.own_format import task_from_json
from llm_sandbox.evaluation.datasets.verl import read_verification_info, read_verl
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["FORMATS", "DatasetFormat", "Format", "find_format", "recognise_format"]

DatasetFormat: TypeAlias = Literal[
    "own",
    "evalplus",
    "bigcodebench",
    "humaneval",
    "mbpp",
    "livecodebench",
    "ioi",
    "codeforces",
    "code_contests",
    "open_r1",
    "apps",
    "verl",
]
"""Name of a format; TACO is ``apps``."""


@dataclass(frozen=True)
class Format:
    """Format of a data set."""

    fields: tuple[frozenset[str], ...]
    """Sets of fields, one of which every record has."""
    read: Callable[[Fields, int], Task]
    """Returns the task of a record on a line."""
    merge: Callable[[Task, Task], Task] | None = None
    """Returns the task of two records with the same id; None where ids are unique."""


def _any_of(*alternatives: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in alternatives)


def _read_own(record: Fields, _line: int) -> Task:
    return task_from_json({name: record.any(name) for name in record})


# The first that fits wins: those whose fields others have as well come later.
FORMATS: Mapping[str, Format] = {
    "own": Format(_any_of("id tests"), _read_own),
    "evalplus": Format(_any_of("task_id entry_point base_input plus_input"), read_evalplus),
    "bigcodebench": Format(_any_of("task_id complete_prompt test"), read_bigcodebench),
    "humaneval": Format(_any_of("task_id prompt entry_point test"), read_humaneval),
    "mbpp": Format(_any_of("task_id code test_list"), read_mbpp),
    "livecodebench": Format(
        _any_of("question_id public_test_cases private_test_cases"), read_livecodebench
    ),
    "ioi": Format(_any_of("subtask test_names"), read_ioi, merge_subtasks),
    "codeforces": Format(_any_of("id official_tests"), read_codeforces),
    "code_contests": Format(_any_of("name public_tests private_tests"), read_code_contests),
    "open_r1": Format(_any_of("verification_info"), read_verification_info),
    "apps": Format(_any_of("question input_output"), read_apps),
    "verl": Format(
        _any_of("reward_model", "ground_truth", "inputs outputs", "assert_case"), read_verl
    ),
}
"""Formats by name; `DatasetFormat` has the same names."""


def find_format(name: str) -> Format:
    """Return a format.

    Raises:
        ValidationError: There is no such format.
    """
    found = FORMATS.get(name)
    if found is None:
        raise ValidationError(
            f"invalid format: expected one of {', '.join(get_args(DatasetFormat))}, got {name!r}",
            parameter="format",
        )
    return found


def recognise_format(names: Iterable[str]) -> str:
    """Return the name of the format whose fields a record has.

    Args:
        names: Fields of the record.

    Raises:
        ValidationError: It has those of none.
    """
    has = set(names)
    for name, one in FORMATS.items():
        if any(wanted <= has for wanted in one.fields):
            return name
    shown = ", ".join(sorted(has)[:20]) or "none"
    raise ValidationError(
        f"invalid data set: expected the fields of a known format, got a record with {shown:.500}",
        parameter="format",
        hint=f'known are {", ".join(FORMATS)}; a task of our own has "id" and "tests"',
    )
