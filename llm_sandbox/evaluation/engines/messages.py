"""Messages between the driver and its workers: JSON, and never pickles."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.datasets.own_format import (
    sample_from_json,
    sample_to_json,
    task_from_json,
    task_to_json,
    test_from_json,
    test_to_json,
)
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.sample import Sample, Task
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.security import SecurityPolicy

__all__ = ["decode", "encode", "encode_setup", "make_evaluator", "read_sample", "write_sample"]

_HINT = "run it in this process, with engine=None"
_NO_TASK = "-"
_CODES = ("code", "completion", "setup")
"""Fields with the text of models, which may have lone surrogates: a file cannot, and JSON can."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the bytes of a message."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def decode(message: bytes) -> dict[str, Any]:
    """Return the message of bytes.

    Raises:
        ValueError: They are none.
    """
    found = json.loads(message)
    if not isinstance(found, dict):
        raise ValueError("invalid message: expected an object")
    return found


def encode_setup(
    options: Mapping[str, Any],
    *,
    tasks: Mapping[str, Task],
    tests: Sequence[Test] | None,
    limits: EvalLimits | None,
    security_policy: SecurityPolicy | None = None,
) -> bytes:
    """Return what a worker is made of.

    Args:
        options: Further arguments of `Evaluator` but `workers`, as JSON.
        tasks: Tasks by id.
        tests: Tests of samples that have neither tests nor a task.
        limits: Limits of samples that have none.
        security_policy: Policy of `Evaluator`.

    Raises:
        ValidationError: A test is not JSON, such as one whose checker is a function.
    """
    written = {
        name: _written(f"task {name!r:.80}", task_to_json, task) for name, task in tasks.items()
    }
    return _encode(
        "the options or tasks",
        {
            "options": dict(options),
            "tasks": written,
            "tests": None if tests is None else [_written("test", test_to_json, t) for t in tests],
            "limits": None if limits is None else asdict(limits),
            "security_policy": security_policy and security_policy.model_dump(mode="json"),
        },
    )


def make_evaluator(setup: bytes, workers: int | None, backend: Backend | None = None) -> Evaluator:
    """Return the evaluator of a worker.

    Args:
        setup: Made by `encode_setup`.
        workers: Number of tests at the same time; None for the CPUs of this process.
        backend: Backend in place of the one that the setup names.

    Raises:
        BackendUnavailableError: The backend does not work here.
        ToolchainNotFoundError: The language's programs are not installed.
        ValidationError: The setup is invalid.
    """
    message = decode(setup)
    tests, policy = message["tests"], message["security_policy"]
    return Evaluator(
        tasks={name: task_from_json(task) for name, task in message["tasks"].items()},
        tests=None if tests is None else [test_from_json(test) for test in tests],
        limits=None if message["limits"] is None else EvalLimits(**message["limits"]),
        workers="auto" if workers is None else workers,
        security_policy=None if policy is None else SecurityPolicy.model_validate(policy),
        **(message["options"] | ({} if backend is None else {"backend": backend})),
    )


def write_sample(sample: Sample) -> dict[str, Any]:
    """Return a sample as JSON.

    Raises:
        ValidationError: A test or a field is not JSON, such as a checker that is a function.
    """
    written: dict[str, Any] = _written(f"sample {sample.id!r:.80}", sample_to_json, sample)
    exact = {name: written[name] for name in _CODES if not _is_encodable(written.get(name))}
    if exact:
        written |= {**dict.fromkeys(exact, ""), "exact": exact}
    # What the fields hold was written as JSON by now, but for this one.
    _encode(f"sample {sample.id!r:.80}", {"meta": written.get("meta")})
    return written


def read_sample(record: Mapping[str, Any]) -> Sample:
    """Return the sample of `write_sample`.

    Raises:
        ValidationError: It is not valid.
    """
    values = dict(record)
    exact = values.pop("exact", {})
    if "tests" in values or "task" in values:
        return replace(sample_from_json(values), **exact)
    # A sample with the tests of the evaluator, which a file cannot have.
    return replace(sample_from_json({**values, "task": _NO_TASK}), task=None, **exact)


def _is_encodable(text: str | None) -> bool:
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return False
    return True


def _written(what: str, write: Any, thing: Any) -> Any:
    try:
        return write(thing)
    except ValidationError as error:
        raise ValidationError(
            f"{what} cannot be sent to another process: {error.message}",
            parameter=error.parameter,
            hint=_HINT,
        ) from error


def _encode(what: str, message: Mapping[str, Any]) -> bytes:
    try:
        return encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(
            f"{what} cannot be sent to another process: expected JSON: {error}", hint=_HINT
        ) from None
