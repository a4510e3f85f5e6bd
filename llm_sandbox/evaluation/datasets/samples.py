"""Samples of a local file, read as they are needed.

Lines are recognised one by one, by their fields:

- ``task_id`` with ``solution`` (whole code) or ``completion`` (HumanEval, EvalPlus, BigCodeBench),
- ``question_id`` with ``code_list``: one sample for each code (LiveCodeBench),
- ``task`` or ``tests`` with ``code`` or ``completion``, and the other fields of `Sample`: our own.

Samples without an ``id`` are numbered by task: ``task/0``, ``task/1``.
"""

import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import Any

from llm_sandbox.evaluation.datasets.fields import Fields, check_text
from llm_sandbox.evaluation.datasets.own_format import sample_from_json
from llm_sandbox.evaluation.datasets.problems import OnError, Problem, ProblemLog
from llm_sandbox.evaluation.datasets.reading import file_sha256, find_file, read_rows
from llm_sandbox.evaluation.sample import Sample
from llm_sandbox.exceptions import ValidationError

__all__ = ["Samples", "load_samples"]

_MOST_META_CHARS = 1000
_MOST_LINE = 64 * 2**20  # models wrote it


class Samples(Iterable[Sample]):
    """Samples of a file; each iteration reads it anew, one line at a time.

    Args:
        path: The file.
        tasks: Ids of known tasks, such as a `Dataset`; None for any.
        on_error: What a line that cannot be read does.

    Raises:
        ValidationError: The file is not there, or `on_error` is invalid; raised by iteration for a
            line that cannot be read, if so wished.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tasks: Container[str] | None = None,
        on_error: OnError = "raise",
    ) -> None:
        self.path = find_file(path)
        self._tasks, self._on_error = tasks, on_error
        self._log = ProblemLog(self.path, on_error)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Lines that the latest iteration has left out so far."""
        return self._log.problems

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, which is read for it."""
        return file_sha256(self.path)

    def __repr__(self) -> str:
        return f"<Samples {self.path.name}>"

    def __iter__(self) -> Iterator[Sample]:
        log = self._log = ProblemLog(self.path, self._on_error)
        ids = _Ids()
        for row in read_rows(self.path, most_line=_MOST_LINE):
            if row.record is None:
                log.add(row.line, row.error)
                continue
            try:
                found = _read(row.record, ids)
                self._check_tasks(found)
            except ValidationError as error:
                log.add(row.line, error.message)
                continue
            yield from found

    def _check_tasks(self, samples: Iterable[Sample]) -> None:
        for sample in samples:
            if self._tasks is None or sample.task is None or sample.task in self._tasks:
                continue
            raise ValidationError(
                f"invalid task: expected one of the data set, got {sample.task!r:.80}",
                parameter="task",
            )


def load_samples(
    path: str | os.PathLike[str],
    *,
    tasks: Container[str] | None = None,
    on_error: OnError = "raise",
) -> Samples:
    """Return the samples of a local file; lines are read while they are iterated.

    Args:
        path: A file of JSON lines (``.jsonl``, ``.jsonl.gz``), a JSON list (``.json``) or
            ``.parquet``.
        tasks: Ids of known tasks, such as a `Dataset`; samples of others are problems of their
            lines. None for any.
        on_error: ``raise`` for an error at the first line that cannot be read, with its number;
            ``skip`` to leave such lines out, and name them in `problems`.

    Raises:
        ValidationError: The file is not there, or `on_error` is invalid.
    """
    return Samples(path, tasks=tasks, on_error=on_error)


class _Ids:
    """Ids that were given away."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: Counter[str] = Counter()

    def number(self, task: str) -> str:
        """Return the next id of a task that is free."""
        while True:
            found = f"{task}/{self._counts[task]}"
            self._counts[task] += 1
            if found not in self._taken:
                self._taken.add(found)
                return found

    def take(self, id: str) -> str:
        """Take an id of the file.

        Raises:
            ValidationError: It was taken.
        """
        if id in self._taken:
            raise ValidationError(
                f"invalid id: expected one that is not used before, got {id!r:.80}", parameter="id"
            )
        self._taken.add(id)
        return id


def _read(record: dict[str, Any], ids: _Ids) -> list[Sample]:
    """Return the samples of a line."""
    fields = Fields(record)
    if "question_id" in fields and "code_list" in fields:
        task = fields.label("question_id")
        return [
            Sample(ids.number(task), code=code, task=task) for code in fields.texts("code_list")
        ]
    if "task_id" in fields:
        return [_by_task_id(fields, ids)]
    if not {"id", "task", "tests"} & record.keys():
        shown = ", ".join(sorted(record)[:20]) or "none"
        raise ValidationError(
            "invalid sample: expected the fields task_id, question_id with code_list, or id with "
            f"task, got {shown:.300}"
        )
    numbered = "id" not in fields
    sample = sample_from_json({**record, "id": "new" if numbered else fields.label("id")})
    if not numbered:
        ids.take(sample.id)
        return [sample]
    if sample.task is None:
        raise ValidationError("invalid id: expected one, as there is no task, got none")
    return [replace(sample, id=ids.number(sample.task))]


def _by_task_id(fields: Fields, ids: _Ids) -> Sample:
    name = "solution" if "solution" in fields else "completion"
    if name not in fields:
        raise ValidationError(
            "invalid sample: expected solution or completion, got neither", parameter="completion"
        )
    value: Any = fields.any(name)
    if isinstance(value, list):
        raise ValidationError(
            f"invalid {name}: expected text, got a list: repeat the line for each", parameter=name
        )
    text = check_text(name, value)
    task = fields.label("task_id")
    return Sample(
        ids.number(task),
        code=text if name == "solution" else None,
        completion=text if name == "completion" else None,
        task=task,
        meta=_meta(fields),
    )


def _meta(fields: Fields) -> dict[str, Any]:
    """Return the further fields that are short; results repeat them."""
    found = {name: fields.any(name) for name in fields}
    return {
        name: value
        for name, value in found.items()
        if name not in ("task_id", "solution", "completion")
        and (
            isinstance(value, bool | int | float)
            or (isinstance(value, str) and len(value) <= _MOST_META_CHARS)
        )
    }
