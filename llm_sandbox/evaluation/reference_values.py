"""Expected values that a task's reference solution gives, computed in a sandbox and kept."""

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.datasets.references import fill_expected, reference_calls, reference_key
from llm_sandbox.evaluation.graders.call import grade_call
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.preparation import ReferenceFailedError, handler_of
from llm_sandbox.evaluation.runner import CallRun
from llm_sandbox.evaluation.sample import Task
from llm_sandbox.evaluation.sample_runner import Candidate, CompileFailed, SampleRunner
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.session import transfer

__all__ = ["ReferenceValues"]

_FACTOR = 4.0
"""A reference may take this many times the time of a sample."""


class ReferenceValues:
    """Expected values of tasks, computed once for each reference and its inputs.

    Args:
        backend: Backend of the sandboxes.
        limits: Limits of tasks that have none.
        folder: Folder in which values are kept between runs.
        preload: Libraries that the references find loaded.
    """

    def __init__(
        self, backend: Backend, limits: EvalLimits, folder: Path, preload: Sequence[str] = ()
    ) -> None:
        self._backend = backend
        self._limits = limits
        self._folder = folder
        self._preload = preload
        self._lock = threading.Lock()
        self._filled: dict[str, Task | ReferenceFailedError] = {}

    def fill(self, task: Task) -> Task:
        """Return a task whose tests have all of their expected values.

        Raises:
            ReferenceFailedError: The reference does not work here.
            SandboxError: The sandbox failed.
        """
        calls = reference_calls(task)
        if not calls:
            return task
        key = reference_key(task)
        with self._lock:
            found = self._filled.get(key)
            if found is None:
                try:
                    found = fill_expected(task, self._values(task, key))
                except ReferenceFailedError as error:
                    found = error
                self._filled[key] = found
        if isinstance(found, ReferenceFailedError):
            raise found
        return found

    def _values(self, task: Task, key: str) -> list[object]:
        path = self._folder / key[:2] / key
        with suppress(OSError, ValueError, SandboxError):
            data = path.read_bytes()
            size = int.from_bytes(data[:8], "little")
            value = transfer.read([memoryview(data)[8 : 8 + size], memoryview(data)[8 + size :]])
            if isinstance(value, list):
                return value
        values = self._compute(task)
        header, blob = transfer.write(values)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_bytes(len(header).to_bytes(8, "little") + header + blob)
        new.replace(path)
        return values

    def _compute(self, task: Task) -> list[object]:
        if task.reference is None:
            raise ValidationError(
                f"invalid task {task.id!r}: expected a reference for its expected values, got none",
                parameter="reference",
            )
        limits = task.limits or self._limits
        candidate = Candidate(
            code=task.reference,
            handler=handler_of(task.language),
            setup=task.setup,
            limits=limits.scaled(_FACTOR),
        )
        runner = SampleRunner(self._backend, candidate, self._preload)
        values: list[object] = []
        try:
            for index, test in enumerate(reference_calls(task)):
                run = runner.call(test.fn, test.args, test.kwargs)
                failed = grade_call(run)
                if failed is not None or not isinstance(run, CallRun):
                    words = failed.error if failed is not None else "it did not load"
                    raise ReferenceFailedError(
                        f"the reference of task {task.id!r} failed in call {index} of {test.fn}: "
                        f"{words or 'its value is not plain data'}"
                    )
                values.append(run.value)
        except CompileFailed as error:
            raise ReferenceFailedError(
                f"the reference of task {task.id!r} does not compile: {error}"
            ) from None
        finally:
            runner.close()
        return values
