"""Rewards of verifiers: for tasks, and for the rubrics that it had before version 0.4.

In a task::

    grader = VerifiersGrader(evaluator)

    class CodeTask(vf.Task[CodeData]):
        @vf.reward
        async def passed(self, trace: vf.Trace) -> float:
            return await grader(trace.last_reply, self.data.tests)

In a rubric::

    rubric = vf.Rubric(funcs=[verifiers_reward(evaluator)])

A task that raises leaves its rollout without a reward, and with the error. A rubric turns None and
every exception into 0; so a failure of the sandbox is put down in the rollout's state, as one of
its infrastructure: verifiers repeats such rollouts, and marks those that stay so.
"""

import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from llm_sandbox.aio.threads import in_thread
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.rewards import Completion, OnInfra, rewards
from llm_sandbox.evaluation.sample import ScorePolicy
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = ["VerifiersGrader", "verifiers_reward"]


class VerifiersGrader:
    """Awaitable grader of completions, as many at a time as the evaluator runs tests.

    Args:
        evaluator: Evaluator of the completions, which stays open while the environment is used.
        mode: How a reward is made of tests.
        on_infra: What a failure of the sandbox gives: with ``mask`` and ``retry`` an error, or a
            number.
    """

    def __init__(
        self, evaluator: Evaluator, *, mode: ScorePolicy = "all", on_infra: OnInfra = "mask"
    ) -> None:
        self._evaluator = evaluator
        self._mode: ScorePolicy = mode
        self._on_infra: OnInfra = on_infra
        self._slots = threading.BoundedSemaphore(evaluator.workers)

    async def __call__(self, completion: Completion, tests: Any) -> float:
        """Return the reward of a completion.

        Args:
            completion: Output of the model: a text, or a conversation, whose last message counts.
            tests: Its tests; see `to_task`.

        Raises:
            SandboxError: The sandbox failed.
            ValidationError: The tests are invalid.
        """
        found = await in_thread(lambda _: self._grade(completion, tests))
        if found is None:
            raise SandboxError(
                "the sandbox failed, the completion was not graded",
                op="evaluate",
                retryable=True,
                hint="see `llm-sandbox doctor`",
            )
        return found

    def _grade(self, completion: Completion, tests: Any) -> float | None:
        with self._slots:
            (found,) = rewards(
                self._evaluator, [completion], [tests], mode=self._mode, on_infra=self._on_infra
            )
        return found


def verifiers_reward(
    evaluator: Evaluator,
    *,
    tests: str = "tests",
    mode: ScorePolicy = "all",
    on_infra: OnInfra = "mask",
    name: str = "code_reward",
) -> Callable[..., Awaitable[float]]:
    """Return a reward function of a rubric.

    Args:
        evaluator: Evaluator of the completions, which stays open while the environment is used.
        tests: Name of the member of ``info`` with the tests; the ``answer`` where it is missing.
            See `to_task` for what it may hold.
        mode: How a reward is made of tests.
        on_infra: What a failure of the sandbox gives: with ``mask`` and ``retry`` the error of the
            state, and a reward of 0 that does not count; or a number, and no error.
        name: Name of the function, by which verifiers logs its rewards.
    """
    grader = VerifiersGrader(evaluator, mode=mode, on_infra=on_infra)

    async def reward(
        completion: Completion,
        state: MutableMapping[str, Any],
        answer: Any = "",
        info: Mapping[str, Any] | None = None,
    ) -> float:
        try:
            given = (info or {}).get(tests) or answer
            if not given:
                raise ValidationError(
                    f"invalid info: expected tests as {tests!r} or the answer, got neither",
                    parameter="tests",
                )
            return await grader(completion, given)
        except SandboxError as error:
            if state.get("error") is None:
                state["error"] = _error_class()(error.message)
            raise  # to be logged, and turned into 0

    reward.__name__ = reward.__qualname__ = name
    return reward


def _error_class() -> type[Exception]:
    """Return the error by which verifiers knows a failure of its infrastructure."""
    try:
        import verifiers
    except ModuleNotFoundError:
        return SandboxError
    found: type[Exception] = getattr(verifiers, "SandboxError", SandboxError)
    return found
