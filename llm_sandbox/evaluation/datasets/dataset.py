"""Data sets: tasks of a local file."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from llm_sandbox.evaluation.datasets.fields import Fields
from llm_sandbox.evaluation.datasets.formats import DatasetFormat, find_format, recognise_format
from llm_sandbox.evaluation.datasets.problems import OnError, Problem, ProblemLog
from llm_sandbox.evaluation.datasets.reading import file_sha256, find_file, read_rows
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["Dataset", "load_dataset"]


class Dataset(Mapping[str, Task]):
    """Tasks by their ids, in the order of the file.

    Args:
        tasks: The tasks.
        format: Name of the file's format.
        sha256: SHA-256 of the file.
        problems: Lines that were left out.

    Raises:
        ValidationError: Two tasks have the same id.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        *,
        format: str = "own",
        sha256: str = "",
        problems: Iterable[Problem] = (),
    ) -> None:
        self._tasks: dict[str, Task] = {}
        for task in tasks:
            if task.id in self._tasks:
                raise ValidationError(
                    f"invalid tasks: expected unique ids, got {task.id!r:.80} twice",
                    parameter="tasks",
                )
            self._tasks[task.id] = task
        self.format = format
        self.sha256 = sha256
        self.problems = tuple(problems)

    def __getitem__(self, id: str) -> Task:
        return self._tasks[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    def __repr__(self) -> str:
        problems = f", {len(self.problems)} problems" if self.problems else ""
        return f"<Dataset {self.format}: {len(self)} tasks{problems}>"

    def with_groups(self, *groups: str) -> "Dataset":
        """Return the data set with only the tests of some groups, without tasks that have none.

        Args:
            groups: Names such as ``base`` of EvalPlus and MBPP, or ``public``.

        Raises:
            ValidationError: No test has such a group.
        """
        kept = (
            replace(task, tests=tuple(test for test in task.tests if test.group in groups))
            for task in self._tasks.values()
        )
        tasks = [task for task in kept if task.tests]
        if not tasks:
            known = sorted({test.group for task in self._tasks.values() for test in task.tests})
            raise ValidationError(
                f"invalid groups: expected some of {', '.join(known) or 'none'}, got others",
                parameter="groups",
            )
        return Dataset(tasks, format=self.format, sha256=self.sha256, problems=self.problems)


def load_dataset(
    path: str | os.PathLike[str],
    format: DatasetFormat | None = None,
    *,
    on_error: OnError = "raise",
) -> Dataset:
    """Return the tasks of a local file.

    Nothing is fetched from a network, and nothing of the file is run or unpickled.

    Args:
        path: A file of JSON lines (``.jsonl``, ``.jsonl.gz``), a JSON list (``.json``) or
            ``.parquet``.
        format: Format of the records; None to recognise it by the fields of the first one.
        on_error: ``raise`` for an error at the first line that cannot be read, with its number;
            ``skip`` to leave such lines out, and name them in `problems`.

    Raises:
        ValidationError: The file is not there or damaged, its format is not known, or a line cannot
            be read.
        MissingDependencyError: It is a parquet file, and pyarrow is not installed.
    """
    file = find_file(path)
    log = ProblemLog(file, on_error)
    reader = None if format is None else find_format(format)
    name: str = format or ""
    tasks: dict[str, Task] = {}
    empty = True
    for row in read_rows(file):
        empty = False
        if row.record is None:
            log.add(row.line, row.error)
            continue
        if reader is None:
            name = recognise_format(row.record)
            reader = find_format(name)
        try:
            task = reader.read(Fields(row.record), row.line)
            if task.id in tasks:
                if reader.merge is None:
                    raise ValidationError("invalid id: expected another than before, got the same")
                task = reader.merge(tasks[task.id], task)
        except ValidationError as error:
            log.add(row.line, error.message)
            continue
        tasks[task.id] = task
    if empty:
        raise ValidationError(f"invalid file {file.name}: expected at least one record, got none")
    return Dataset(tasks.values(), format=name, sha256=file_sha256(file), problems=log.problems)
