"""IOI problems of open-r1: each record is one subtask.

Fields: ``year``, ``id``, ``subtask``, ``score``, ``test_names``, ``test_cases``, ``time_limit``
(seconds), ``memory_limit`` (bytes), ``problem``, ``grader_files``.

The subtasks of a problem become one task, with a group of tests for each; the weights of a group's
tests sum to the subtask's score, and the score is that of groups. The tests are in a data set of
their own: they have to be put into ``test_cases``, as ``{name: [input, output]}`` or a list in the
order of ``test_names``. Problems with graders that are linked with the solution, or with managers,
are refused.
"""

from dataclasses import replace
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields, mismatch
from llm_sandbox.evaluation.datasets.pairs import program_text
from llm_sandbox.evaluation.datasets.record_limits import limits_of, memory_of, seconds_of
from llm_sandbox.evaluation.kinds import StdioTest
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["merge_subtasks", "read_ioi"]


def read_ioi(record: Fields, _line: int) -> Task:
    """Return the task of one subtask; see `merge_subtasks`.

    Raises:
        ValidationError: A field is missing or of another type, or the problem has graders.
    """
    if any(_has_content(one) for one in record.items("grader_files")):
        raise ValidationError(
            "invalid grader_files: expected none, got some: solutions that are linked with a "
            "grader are not supported",
            parameter="grader_files",
        )
    subtask, names = record.label("subtask"), record.texts("test_names")
    cases = _cases(record, names)
    score = record.number("score")
    weight = (1.0 if score is None else score) / max(1, len(names))
    problem = record.label("id")
    return Task(
        id=f"{record.label('year')}/{problem}" if "year" in record else problem,
        tests=tuple(
            StdioTest(given, wanted, name=f"{subtask}/{name}", group=subtask, weight=weight)
            for name, (given, wanted) in zip(names, cases, strict=True)
        ),
        prompt=record.text("problem", ""),
        language="cpp",
        limits=limits_of(
            seconds_of("time_limit", record.any("time_limit")),
            memory_of("memory_limit", record.any("memory_limit"), 1),
        ),
        score="groups",
    )


def merge_subtasks(first: Task, second: Task) -> Task:
    """Return the task of a problem with one more subtask; the longer statement stays.

    Raises:
        ValidationError: The subtask was there already.
    """
    groups = {test.group for test in second.tests}
    if groups & {test.group for test in first.tests}:
        raise ValidationError(
            f"invalid subtask: expected another than before for {first.id}, got the same",
            parameter="subtask",
        )
    prompt = max(first.prompt, second.prompt, key=len)
    return replace(first, tests=(*first.tests, *second.tests), prompt=prompt)


def _has_content(file: Any) -> bool:
    return isinstance(file, list | tuple) and len(file) == 2 and bool(file[1])


def _cases(record: Fields, names: list[str]) -> list[tuple[str, str]]:
    found = record.any("test_cases")
    if not names or found is None:
        raise ValidationError(
            "invalid test_cases: expected the tests of test_names, got none",
            parameter="test_cases",
            hint="join the tests, which are in another data set, by their names",
        )
    if isinstance(found, dict):
        found = [found.get(name) for name in names]
    if not isinstance(found, list | tuple) or len(found) != len(names):
        raise mismatch("test_cases", "one test for each of test_names", found)
    cases = []
    for name, case in zip(names, found, strict=True):
        if not isinstance(case, list | tuple) or len(case) != 2:
            raise mismatch(f"test_cases[{name}]", "an input and an output", case)
        cases.append((program_text(name, case[0]), program_text(name, case[1])))
    return cases
