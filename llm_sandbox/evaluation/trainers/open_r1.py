"""Provider of code execution of open-r1.

import open_r1.rewards

provider = OpenR1Provider(evaluator)
open_r1.rewards.get_provider = lambda **options: provider

open-r1 sends scripts that hold a candidate and its test cases, run the one on the others, and end
with the share that passed: the program that is graded would say its own grade. This provider takes
both out of the script, and grades outside of the candidate's sandbox.
"""

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.reward_tests import to_task
from llm_sandbox.evaluation.rewards import OnInfra, rewards_of_samples
from llm_sandbox.evaluation.sample import Sample, Task
from llm_sandbox.exceptions import ValidationError

__all__ = ["OpenR1Provider"]


class OpenR1Provider:
    """Provider that grades the candidates of open-r1's scripts.

    Args:
        evaluator: Evaluator of the candidates, which stays open while the trainer runs.
        on_infra: What a failure of the sandbox gives; see `rewards`.
    """

    def __init__(self, evaluator: Evaluator, *, on_infra: OnInfra = "mask") -> None:
        self._evaluator = evaluator
        self._on_infra: OnInfra = on_infra

    def execute_scripts(
        self, scripts: Sequence[str], languages: Sequence[str]
    ) -> list[float | None]:
        """Return the share of test cases that the candidate of each script passes.

        Args:
            scripts: Scripts with a candidate as ``code_snippet``, and its ``test_cases``.
            languages: Languages of the scripts, which are ``python``.

        Raises:
            EvaluationStoppedError: The sandbox fails too often.
            ValidationError: A script is none of open-r1's.
        """
        if len(scripts) != len(languages):
            raise ValidationError(
                f"invalid languages: expected {len(scripts)}, got {len(languages)}",
                parameter="languages",
            )
        for index, language in enumerate(languages):
            if language != "python":
                raise ValidationError(
                    f"invalid languages[{index}]: expected 'python', got {language!r:.80}",
                    parameter="languages",
                )
        parts = [_parts(index, script) for index, script in enumerate(scripts)]
        samples = [Sample(f"script {index}", code) for index, (code, _) in enumerate(parts)]
        tasks = [replace(task, score="fraction") for _, task in parts]
        return rewards_of_samples(self._evaluator, samples, tasks, on_infra=self._on_infra)


def _parts(index: int, script: str) -> tuple[str, Task]:
    """Return the candidate and the task of a script, which is read, not run."""
    try:
        body = ast.parse(textwrap.dedent(script)).body
        values = {
            statement.targets[0].id: statement.value
            for statement in body
            if isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        }
        code = _text(values["code_snippet"])
        cases = values["test_cases"]
        if not isinstance(cases, ast.Call) or len(cases.args) != 1:
            raise ValueError("test_cases is no call")
        text = _text(cases.args[0])
    except (SyntaxError, ValueError, KeyError, RecursionError, MemoryError) as error:
        raise ValidationError(
            f"invalid scripts[{index}]: expected one of open-r1's code_reward, with code_snippet "
            "and test_cases, got another",
            parameter="scripts",
        ) from error
    return code, to_task(f'{{"language": "python", "test_cases": {text}}}')


def _text(node: Any) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise ValueError("no text")
    # The text was written as JSON, whose pairs of surrogates are two characters for Python.
    return node.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
