"""Rewards of completions, for reinforcement learning: a failure of the sandbox is never a zero.

`trainers` has them in the forms that trainers call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.preparation import Prepared
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.reward_tests import to_task
from llm_sandbox.evaluation.sample import Sample, ScorePolicy, Task
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = ["Completion", "OnInfra", "completion_text", "rewards", "rewards_of_samples"]

Completion: TypeAlias = str | Sequence[Any]
"""Output of a model: a text, or a conversation, whose last message counts."""

OnInfra: TypeAlias = Literal["mask", "retry"] | float
"""What a failure of the sandbox gives: None, None after further attempts, or a number."""

_ROUNDS = 2


def rewards(
    evaluator: Evaluator,
    completions: Sequence[Completion],
    tests: Any,
    *,
    mode: ScorePolicy = "all",
    on_infra: OnInfra = "mask",
) -> list[float | None]:
    """Return the reward of each completion, from 0 to 1; None where the sandbox failed.

    Args:
        evaluator: Evaluator of the completions.
        completions: Outputs of a model, from which the code is extracted; see `extract_code`.
        tests: Tests of all completions: a task, a test, a sequence of tests, an object, or JSON
            text. Or a sequence with one of these for each completion. See `to_task` for objects
            and texts.
        mode: How a reward is made of tests.
        on_infra: What a failure of the sandbox gives, after the attempts of the evaluator:
            ``mask`` gives None, ``retry`` evaluates up to two times more and then gives None, a
            number is the reward.

    Raises:
        EvaluationStoppedError: The sandbox fails too often.
        ValidationError: An argument is invalid.
    """
    _check_mode(mode)
    tasks = _tasks(tests, len(completions), mode)
    samples = [
        Sample(f"{task.id}#{index}", completion=completion_text(completion))
        for index, (completion, task) in enumerate(zip(completions, tasks, strict=True))
    ]
    return rewards_of_samples(evaluator, samples, tasks, on_infra=on_infra)


def rewards_of_samples(
    evaluator: Evaluator,
    samples: Sequence[Sample],
    tasks: Sequence[Task],
    *,
    on_infra: OnInfra = "mask",
) -> list[float | None]:
    """Return the score of each sample by its task; None where the sandbox failed.

    Args:
        evaluator: Evaluator of the samples.
        samples: The samples.
        tasks: The task of each sample.
        on_infra: As for `rewards`.

    Raises:
        EvaluationStoppedError: The sandbox fails too often.
        ValidationError: An argument is invalid.
    """
    _check_on_infra(on_infra)
    scores: list[float | None] = [None] * len(samples)
    left = list(range(len(samples)))
    for _ in range(1 + (_ROUNDS if on_infra == "retry" else 0)):
        again = []
        ready = [(index, _prepared(evaluator, samples[index], tasks[index])) for index in left]
        results = iter(_results(evaluator, [one for _, one in ready if one is not None]))
        for index, prepared in ready:
            result = next(results) if prepared is not None else None
            scores[index] = result.score if result is not None else None
            # What was never attempted, since the task's reference does not work here, stays so.
            if scores[index] is None and (result is None or result.attempts):
                again.append(index)
        left = again
        if not left:
            break
    number = None if isinstance(on_infra, str) else float(on_infra)
    return [number if score is None else score for score in scores]


def completion_text(completion: object) -> str:
    """Return the text of a completion: of a conversation, the content of its last message.

    Raises:
        ValidationError: It is neither text nor messages.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Sequence) and not isinstance(completion, bytes):
        if not completion:
            return ""
        message = completion[-1]
        if isinstance(message, Mapping):
            return _content(message.get("content"))
        # Messages of some trainers are objects with the same field.
        if hasattr(message, "content"):
            return _content(message.content)
    raise ValidationError(
        "invalid completion: expected text or messages with a content, got "
        f"{type(completion).__name__}",
        parameter="completions",
    )


def _content(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = [
            part if isinstance(part, str) else part.get("text")
            for part in content
            if isinstance(part, str | Mapping)
        ]
        return "".join(part for part in parts if isinstance(part, str))
    raise ValidationError(
        f"invalid content of a message: expected text or parts, got {type(content).__name__}",
        parameter="completions",
    )


def _check_mode(mode: str) -> None:
    if mode not in get_args(ScorePolicy):
        raise ValidationError(
            f"invalid mode: expected one of {', '.join(get_args(ScorePolicy))}, got {mode!r}",
            parameter="mode",
        )


def _check_on_infra(on_infra: object) -> None:
    is_number = isinstance(on_infra, int | float) and not isinstance(on_infra, bool)
    if not is_number and on_infra not in ("mask", "retry"):
        raise ValidationError(
            f"invalid on_infra: expected 'mask', 'retry' or a number, got {on_infra!r}",
            parameter="on_infra",
        )


def _tasks(tests: Any, count: int, mode: ScorePolicy) -> list[Task]:
    if isinstance(tests, Task | Test | str | Mapping) or _is_of_tests(tests):
        return [replace(to_task(tests), score=mode)] * count
    if not isinstance(tests, Sequence) or len(tests) != count:
        got = f"{len(tests)}" if isinstance(tests, Sequence) else type(tests).__name__
        raise ValidationError(
            f"invalid tests: expected those of all completions, or a list of {count}, got {got}",
            parameter="tests",
        )
    known: dict[int, Task] = {}
    for one in tests:
        if id(one) not in known:
            known[id(one)] = replace(to_task(one), score=mode)
    return [known[id(one)] for one in tests]


def _is_of_tests(tests: Any) -> bool:
    return (
        isinstance(tests, Sequence)
        and len(tests) > 0
        and all(isinstance(test, Test) for test in tests)
    )


def _prepared(evaluator: Evaluator, sample: Sample, task: Task) -> Prepared | None:
    """Return a sample that is ready; None if the sandbox failed in this."""
    try:
        return evaluator.prepare(sample, task)
    except ValidationError:
        raise
    except SandboxError:
        return None


def _results(evaluator: Evaluator, ready: Sequence[Prepared]) -> Sequence[SampleResult]:
    if len(ready) == 1:  # a thread less, for trainers that ask for one at a time
        return [evaluator.run(ready[0])]
    return list(evaluator.map(ready, ordered=True))
