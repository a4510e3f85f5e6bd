"""Score function of verl.

``custom_reward_function.path`` is this file, and its ``name`` is ``compute_score``, or
``compute_scores`` for the reward manager ``batch``. A file of one's own has other limits::

    from llm_sandbox.evaluation import EvalLimits, Evaluator
    from llm_sandbox.evaluation.trainers import VerlScore

    def make():
        return Evaluator(limits=EvalLimits(cpu_time=2), preload=("numpy",))

    compute_score = VerlScore(make, mode="fraction")

verl has no score that means "not known", so a failure of the sandbox is raised after all attempts,
unless a number is given for it. Its manager ``prime`` turns every exception into 0: take another.
"""

import atexit
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.rewards import rewards
from llm_sandbox.evaluation.sample import ScorePolicy
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = ["OnInfraFailure", "VerlScore", "compute_score", "compute_scores"]

OnInfraFailure: TypeAlias = Literal["retry"] | float
"""What a failure of the sandbox gives: an error after further attempts, or a number."""


class VerlScore:
    """Score function, whose evaluator is made on the first call in each process.

    It may be pickled, and called from several threads.

    Args:
        make: Makes the evaluator; a function of a module, where processes are to share the object.
        mode: How a score is made of tests.
        on_infra: What a failure of the sandbox gives.

    Raises:
        ValidationError: `on_infra` is neither.
    """

    def __init__(
        self,
        make: Callable[[], Evaluator] = Evaluator,
        *,
        mode: ScorePolicy = "all",
        on_infra: OnInfraFailure = "retry",
    ) -> None:
        if on_infra != "retry" and not isinstance(on_infra, int | float):
            raise ValidationError(
                f"invalid on_infra: expected 'retry' or a number, got {on_infra!r}",
                parameter="on_infra",
                hint="verl cannot leave out a sample: it has no score that means 'not known'",
            )
        self._make = make
        self._mode: ScorePolicy = mode
        self._on_infra: OnInfraFailure = on_infra
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._evaluator: tuple[int, Evaluator, threading.Semaphore] | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return self._make, self._mode, self._on_infra

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._make, self._mode, self._on_infra = state
        self._begin()

    def __call__(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: str | Mapping[str, Any],
        extra_info: Mapping[str, Any] | None = None,
    ) -> float:
        """Return the score of one solution.

        Args:
            data_source: Name of its data set; not used.
            solution_str: Output of the model.
            ground_truth: Its tests; see `to_task`.
            extra_info: Further facts; not used.

        Raises:
            SandboxError: The sandbox failed, and there is no number for that.
            ValidationError: The tests are invalid.
        """
        evaluator, slots = self._open()
        with slots:  # verl calls from more threads than there are cores
            return self._scores(evaluator, [solution_str], [ground_truth])[0]

    def batch(
        self,
        data_sources: Sequence[str],
        solution_strs: Sequence[str],
        ground_truths: Sequence[str | Mapping[str, Any]],
        extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    ) -> list[float]:
        """Return the scores of solutions; the arguments are those of a call, in the plural.

        Raises:
            SandboxError: The sandbox failed, and there is no number for that.
            ValidationError: Tests are invalid.
        """
        return self._scores(self._open()[0], list(solution_strs), list(ground_truths))

    def _scores(
        self, evaluator: Evaluator, solutions: Sequence[str], truths: Sequence[Any]
    ) -> list[float]:
        found = rewards(evaluator, solutions, truths, mode=self._mode, on_infra=self._on_infra)
        known = [score for score in found if score is not None]
        if len(known) < len(found):
            raise SandboxError(
                f"the sandbox failed for {len(found) - len(known)} of {len(found)} solutions",
                op="evaluate",
                retryable=True,
                hint="see `llm-sandbox doctor`; VerlScore(on_infra=...) takes a number instead",
            )
        return known

    def _open(self) -> tuple[Evaluator, threading.Semaphore]:
        with self._lock:
            # That of the parent of a fork is not for use here.
            if self._evaluator is None or self._evaluator[0] != os.getpid():
                evaluator = self._make()
                slots = threading.BoundedSemaphore(evaluator.workers)
                self._evaluator = os.getpid(), evaluator, slots
                atexit.register(self.close)
            return self._evaluator[1:]

    def close(self) -> None:
        """End the evaluator of this process; the next call makes another one."""
        with self._lock:
            found, self._evaluator = self._evaluator, None
        atexit.unregister(self.close)
        if found is not None and found[0] == os.getpid():
            found[1].close()


_default = VerlScore()


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | Mapping[str, Any],
    extra_info: Mapping[str, Any] | None = None,
) -> float:
    """Return 1 if a solution passes all of its tests, otherwise 0; see `VerlScore`.

    Raises:
        SandboxError: The sandbox failed.
        ValidationError: The tests are invalid.
    """
    return _default(data_source, solution_str, ground_truth, extra_info)


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str | Mapping[str, Any]],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
) -> list[float]:
    """Return the scores of solutions, as `compute_score` does; see `VerlScore.batch`.

    Raises:
        SandboxError: The sandbox failed.
        ValidationError: Tests are invalid.
    """
    return _default.batch(data_sources, solution_strs, ground_truths, extra_infos)
