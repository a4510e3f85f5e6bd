"""Reward function of TRL's trainers.

from trl import GRPOTrainer

trainer = GRPOTrainer(reward_funcs=trl_reward(evaluator, tests="verification_info"), ...)

TRL calls it with ``prompts``, ``completions`` and each column of the data set as keywords, and
leaves out a completion whose reward is None.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.rewards import Completion, OnInfra, rewards
from llm_sandbox.evaluation.sample import ScorePolicy
from llm_sandbox.exceptions import ValidationError

__all__ = ["trl_reward"]


def trl_reward(
    evaluator: Evaluator,
    *,
    tests: str = "tests",
    mode: ScorePolicy = "all",
    on_infra: OnInfra = "mask",
    name: str = "code_reward",
) -> Callable[..., list[float | None]]:
    """Return a reward function.

    Args:
        evaluator: Evaluator of the completions, which stays open while the trainer runs.
        tests: Name of the column with the tests; see `to_task` for what it may hold. A row without
            tests, as of another kind of task, has the reward None.
        mode: How a reward is made of tests.
        on_infra: What a failure of the sandbox gives; see `rewards`.
        name: Name of the function, by which TRL logs its rewards.

    Raises:
        ValidationError: Raised by the function for a column that is missing or invalid.
    """

    def reward(completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        if tests not in columns:
            raise ValidationError(
                f"invalid data set: expected a column {tests!r}, got "
                f"{', '.join(sorted(columns)) or 'none'}",
                parameter="tests",
                hint='name the column with the tests: trl_reward(evaluator, tests="...")',
            )
        given = columns[tests]
        rows = [index for index, one in enumerate(given) if one is not None]
        graded = rewards(
            evaluator,
            [completions[index] for index in rows],
            [given[index] for index in rows],
            mode=mode,
            on_infra=on_infra,
        )
        found: list[float | None] = [None] * len(given)
        for index, one in zip(rows, graded, strict=True):
            found[index] = one
        log_metric = columns.get("log_metric")
        if callable(log_metric) and isinstance(on_infra, str):
            log_metric(f"{name}/infra_failures", float(graded.count(None)))
        return found

    reward.__name__ = reward.__qualname__ = name
    return reward
