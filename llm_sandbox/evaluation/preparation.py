"""Preparation of samples: code, tests and limits of a sample and its task, and their hashes."""

import ast
import hashlib
import json
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import Any

from llm_sandbox.evaluation.datasets.references import (
    EXPECTED_FROM_REFERENCE,
    reference_calls,
    reference_key,
)
from llm_sandbox.evaluation.extraction import extract_code
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.evaluation.sample_runner import Candidate
from llm_sandbox.exceptions import SandboxError, ValidationError
from llm_sandbox.language_handlers import registry
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.session import transfer

__all__ = ["Prepared", "Preparer", "ReferenceFailedError", "handler_of"]

_MOST_HASHES = 10_000


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Sample that is ready to be evaluated."""

    sample: Sample
    task: Task | None
    candidate: Candidate
    tests: tuple[Test, ...]
    score: ScorePolicy
    code_sha256: str
    tests_sha256: str
    key: str
    """Hash of all that the result depends on."""
    left_out: str = ""
    """Why the sample cannot be evaluated: the reference of its task does not work here."""


class ReferenceFailedError(SandboxError):
    """Reference solution that does not work here; its task is left out."""


class Preparer:
    """Maker of prepared samples.

    Args:
        tasks: Tasks by id.
        tests: Tests of samples that name neither tests nor a task.
        limits: Limits where neither sample nor task has some.
        language: Language where neither sample nor task has one.
        score: Policy where the task has none.
        engine: Name and version of the engine, a part of each key.
        fill: Completes a task whose expected values are those of its reference.
    """

    def __init__(
        self,
        *,
        tasks: Mapping[str, Task],
        tests: Sequence[Test] | None,
        limits: EvalLimits,
        language: str,
        score: ScorePolicy,
        engine: str,
        fill: Callable[[Task], Task] = lambda task: task,
    ) -> None:
        self._tasks = tasks
        self._tests = tests
        self._limits = limits
        self._language = language
        self._score = score
        self._engine = engine
        self._fill = fill
        self._known: dict[str, Task] = {}
        self._hashes: dict[int, tuple[object, str]] = {}

    def prepare(self, sample: Sample, task: Task | None = None) -> Prepared:
        """Return a sample with its code, tests and limits.

        Args:
            sample: The sample.
            task: Its task; None for the one that it names.

        Raises:
            ValidationError: The sample is not valid; the message says what is missing.
        """
        named = self._task_of(sample) if task is None else task
        fill = self._filled if task is None else self._fill
        task, left_out = named, ""
        if named is not None and sample.tests is None:
            try:
                task = fill(named)
            except ReferenceFailedError as error:
                task, left_out = replace(named, tests=()), error.message
        language = sample.language or (task.language if task else None) or self._language
        tests = sample.tests
        if tests is None:
            tests = task.tests if task is not None else self._tests
        if tests is None:
            raise ValidationError(
                f"invalid sample {sample.id!r}: expected tests or a task, got neither",
                parameter="tests",
                hint="pass tests=[...] to Sample, or its task and tasks= to the evaluator",
            )
        candidate = Candidate(
            code=_code_of(sample, task, language),
            handler=handler_of(language),
            setup="\n".join(part for part in (task.setup if task else "", sample.setup) if part),
            files={
                path: data.encode() if isinstance(data, str) else data
                for path, data in {**(task.files if task else {}), **sample.files}.items()
            },
            limits=sample.limits or (task.limits if task else None) or self._limits,
        )
        code_sha256 = hashlib.sha256(candidate.program).hexdigest()
        # Before the reference was run, so that the key is the same where it is not.
        hashed = tests if named is None or sample.tests is not None else named.tests
        tests_sha256 = self._hash_of(hashed, named)
        parts = [
            sample.id,
            task.id if task else None,
            code_sha256,
            tests_sha256,
            language,
            asdict(candidate.limits),
            {path: hashlib.sha256(data).hexdigest() for path, data in candidate.files.items()},
            self._engine,
        ]
        return Prepared(
            sample=sample,
            task=task,
            candidate=candidate,
            tests=tuple(tests),
            score=(task.score if task else None) or self._score,
            code_sha256=code_sha256,
            tests_sha256=tests_sha256,
            left_out=left_out,
            key=hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest(),
        )

    def _task_of(self, sample: Sample) -> Task | None:
        if sample.task is None:
            return None
        task = self._tasks.get(sample.task)
        if task is None and sample.tests is None:
            some = ", ".join(list(self._tasks)[:3])
            count = len(self._tasks)
            expected = f"one of {count} ({some}, ...)" if some else "none, as no tasks are given"
            raise ValidationError(
                f"invalid task of sample {sample.id!r}: expected {expected}, got {sample.task!r}",
                parameter="task",
                hint="give the tasks with their tests: tasks=load_dataset(...)",
            )
        return task

    def _filled(self, task: Task) -> Task:
        found = self._known.get(task.id)
        if found is None:
            found = self._known[task.id] = self._fill(task)
        return found

    def _hash_of(self, tests: Sequence[Test], task: Task | None) -> str:
        known = self._hashes.get(id(tests))
        # The same tests serve many samples; the reference keeps the number from another use.
        if known is not None and known[0] is tests:
            return known[1]
        digest = hashlib.sha256()
        for test in tests:
            digest.update(_encode_test(test))
        if task is not None and tests is task.tests and reference_calls(task):
            digest.update(reference_key(task).encode())
        found = digest.hexdigest()
        if len(self._hashes) >= _MOST_HASHES:
            self._hashes.clear()
        self._hashes[id(tests)] = (tests, found)
        return found


@cache
def handler_of(language: str) -> AbstractLanguageHandler:
    """Return the handler of a language.

    Raises:
        LanguageNotSupportedError: There is none.
    """
    return registry.load(language)()


def _code_of(sample: Sample, task: Task | None, language: str) -> str:
    if (sample.code is None) == (sample.completion is None):
        raise ValidationError(
            f"invalid sample {sample.id!r}: expected either code or completion, got "
            f"{'neither' if sample.code is None else 'both'}",
            parameter="code",
        )
    if sample.code is not None:
        return sample.code
    completion = sample.completion or ""
    code = extract_code(completion, language).code
    prefix = task.prefix if task is not None else ""
    if not prefix or code.startswith(prefix.rstrip()):
        return code
    name = sample.entry_point or (task.entry_point if task is not None else None)
    if name is not None and re.search(
        rf"^(?:async )?(?:def|class) {re.escape(name)}\b", code, re.M
    ):
        # The whole function once more: the prefix has what it imports, and a first version of it.
        return f"{prefix.rstrip()}\n\n\n{code}" if _is_code(prefix) else code
    # A continuation, whose first line may be indented.
    is_bare = extract_code(completion, language).kind == "heuristic"
    return prefix + (completion if is_bare and "</think>" not in completion else code)


def _is_code(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _encode_test(test: Test) -> bytes:
    """Return bytes that are the same for the same test."""
    parts: list[bytes] = [test.kind.encode()]
    for item in fields(test):
        value: Any = getattr(test, item.name)
        if isinstance(value, types.FunctionType):
            code = value.__code__
            parts += [value.__qualname__.encode(), code.co_code, repr(code.co_consts).encode()]
            continue
        if callable(value) or value is EXPECTED_FROM_REFERENCE:
            value = repr(value)
        parts += [item.name.encode(), *transfer.write(_plain(value))]
    return b"\0".join(b"%d:%s" % (len(part), part) for part in parts)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
