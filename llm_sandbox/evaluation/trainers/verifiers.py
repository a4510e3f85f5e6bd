"""Reward function of a rubric of verifiers.

import verifiers as vf

rubric = vf.Rubric(funcs=[verifiers_reward(evaluator)])

A rubric turns None and every exception into 0. So a failure of the sandbox is put down in the
rollout's state, as one of its infrastructure: verifiers repeats such rollouts, and marks those that
stay so.
"""

import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from llm_sandbox.aio.threads import in_thread
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.rewards import Completion, OnInfra, rewards
from llm_sandbox.evaluation.sample import ScorePolicy
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = ["verifiers_reward"]

_FAILURE = "the sandbox failed, the completion was not graded"


def verifiers_reward(
    evaluator: Evaluator,
    *,
    tests: str = "tests",
    mode: ScorePolicy = "all",
    on_infra: OnInfra = "mask",
    name: str = "code_reward",
) -> Callable[..., Awaitable[float]]:
    """Return a reward function.

    Args:
        evaluator: Evaluator of the completions, which stays open while the environment is used.
        tests: Name of the member of ``info`` with the tests; the ``answer`` where it is missing.
            See `to_task` for what it may hold.
        mode: How a reward is made of tests.
        on_infra: What a failure of the sandbox gives: with ``mask`` and ``retry`` the error of the
            state, and a reward of 0 that does not count; or a number, and no error.
        name: Name of the function, by which verifiers logs its rewards.
    """
    slots = threading.BoundedSemaphore(evaluator.workers)

    async def reward(
        completion: Completion,
        state: MutableMapping[str, Any],
        answer: Any = "",
        info: Mapping[str, Any] | None = None,
    ) -> float:
        given = (info or {}).get(tests) or answer
        if not given:
            # A rubric would turn the error into 0, in silence but for a line of its log.
            wrong = f"invalid info: expected tests as {tests!r} or the answer, got neither"
            _put_down(state, wrong)
            raise ValidationError(wrong, parameter="tests")

        def grade(_: object) -> float | None:
            with slots:
                return rewards(evaluator, [completion], [given], mode=mode, on_infra=on_infra)[0]

        try:
            found = await in_thread(grade)
        except SandboxError as error:
            _put_down(state, error.message)
            raise
        if found is None:
            _put_down(state, _FAILURE)
            return 0.0
        return found

    reward.__name__ = reward.__qualname__ = name
    return reward


def _put_down(state: MutableMapping[str, Any], message: str) -> None:
    """Mark a rollout as failed, unless it is already."""
    if state.get("error") is None:
        state["error"] = _error_class()(message)


def _error_class() -> type[Exception]:
    try:
        import verifiers
    except ModuleNotFoundError:
        return SandboxError
    found: type[Exception] = verifiers.SandboxError
    return found
