"""Evaluations: batches of samples that are graded, followed by any number of clients."""

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.sample import Sample
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import SandboxError, SandboxNotFoundError, UnsupportedError
from llm_sandbox.server.event_log import EventLog

__all__ = ["Evaluation", "EvaluationTable"]

_REMEMBERED = 20
"""Evaluations of a tenant that have ended and are still known."""


class Evaluation:
    """One batch of samples.

    Args:
        digest: What tells its request from others.
        samples: The samples.
    """

    def __init__(self, digest: str, samples: Sequence[Sample]) -> None:
        self.id = secrets.token_hex(10)
        self.digest = digest
        self.total = len(samples)
        self.log = EventLog()
        """An event ``result`` for each sample, before that of `end`."""
        self.started_at = time.time()
        self.ended_at: float | None = None
        self.results = list[SampleResult]()
        """Results so far, in the order in which they came."""
        self.error: SandboxError | None = None
        """Why it was broken off."""
        self._samples = samples
        self._is_cancelled = False

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of results by verdict."""
        return dict(Counter(str(result.verdict) for result in self.results))

    def execute(self, make: Callable[[], Evaluator]) -> None:
        """Evaluate the samples, in the thread of the caller."""
        try:
            with make() as evaluator:
                for result in evaluator.map(self._samples):
                    self.results.append(result)
                    self.log.add("result", result.to_json())
                    if self._is_cancelled:
                        raise SandboxError("the evaluation was cancelled")
        except SandboxError as error:
            self.error = error
        except Exception:
            self.error = SandboxError("the server failed in this evaluation")
            raise
        finally:
            self._samples = ()
            self.ended_at = time.time()
            self.log.close()

    def end(self) -> tuple[str, dict[str, object]]:
        """Return the last event of an evaluation that has ended."""
        if self.error is not None:
            return "error", self.error.to_dict()
        infra = sum(result.verdict is Verdict.INFRA_ERROR for result in self.results)
        taken = (self.ended_at or time.time()) - self.started_at
        return "done", {"done": len(self.results), "infra": infra, "time_s": taken}

    def cancel(self) -> None:
        """Evaluate no further samples than those that are under way."""
        self._is_cancelled = True


class EvaluationTable:
    """Evaluations of one tenant, oldest first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Evaluation] = {}
        self._by_key: dict[str, Evaluation] = {}

    @property
    def running(self) -> int:
        """Number of evaluations that have not ended."""
        return sum(one.ended_at is None for one in self.list())

    def start(
        self,
        evaluation: Evaluation,
        make: Callable[[], Evaluator],
        counted: Callable[[], AbstractContextManager[None]],
        key: str | None = None,
    ) -> Evaluation:
        """Start an evaluation in a thread of its own.

        Args:
            evaluation: The evaluation.
            make: Makes its evaluator.
            counted: Context of a run under way.
            key: Idempotency key: the evaluation of the same key is returned, and none is started.

        Raises:
            UnsupportedError: The key is that of another request.
        """
        with self._lock:
            known = None if key is None else self._by_key.get(key)
            if known is not None:
                if known.digest != evaluation.digest:
                    raise UnsupportedError("an Idempotency-Key for another request")
                return known
            self._known[evaluation.id] = evaluation
            if key is not None:
                self._by_key[key] = evaluation
            ended = [name for name, one in self._known.items() if one.ended_at is not None]
            for name in ended[:-_REMEMBERED]:
                del self._known[name]
            self._by_key = {k: one for k, one in self._by_key.items() if one.id in self._known}

        def work() -> None:
            with counted():
                evaluation.execute(make)

        threading.Thread(target=work, name="llm-sandbox evaluation", daemon=True).start()
        return evaluation

    def find_repeated(self, key: str | None) -> bool:
        """Return whether a key is that of a known evaluation."""
        with self._lock:
            return key in self._by_key

    def get(self, evaluation_id: str) -> Evaluation:
        """Return an evaluation by its id.

        Raises:
            SandboxNotFoundError: There is none.
        """
        with self._lock:
            if evaluation_id in self._known:
                return self._known[evaluation_id]
        raise SandboxNotFoundError("evaluation", hint=None)

    def list(self) -> list[Evaluation]:
        """Return the evaluations that are remembered, oldest first."""
        with self._lock:
            return list(self._known.values())

    def cancel(self) -> None:
        """Cancel all."""
        for one in self.list():
            one.cancel()
