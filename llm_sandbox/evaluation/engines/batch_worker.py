"""Worker of an engine: an evaluator that answers batches."""

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from llm_sandbox.const import VERSION
from llm_sandbox.evaluation.engines.messages import decode, encode, make_evaluator, read_sample
from llm_sandbox.evaluation.evaluator import Evaluator
from llm_sandbox.evaluation.kinds import StdioTest
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.sample import Sample
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import BackendError, SandboxError

__all__ = ["BatchWorker", "self_test"]

# The program says what it sees of the engine's environment as well, which is nothing.
_PROGRAM = """import os
names = [name for name in os.environ if name.startswith(("RAY_", "DASK_"))]
print(2 * int(input()), *names)
"""
_SELF_TEST = (
    (_PROGRAM, StdioTest("21", "42"), Verdict.ACCEPTED),
    (_PROGRAM, StdioTest("21", "43"), Verdict.WRONG_ANSWER),
)


class BatchWorker:
    """Evaluator that answers batches, safe to use from several threads.

    It is made on the first call, so that what is wrong with this machine is an answer, too.

    Args:
        setup: What the evaluator is made of.
        workers: Number of tests that run at the same time; None for the
            CPUs of this process.
    """

    def __init__(self, setup: bytes, workers: int | None = None) -> None:
        self._setup = setup
        self._workers = workers
        self._lock = threading.Lock()
        self._made: tuple[Evaluator, ThreadPoolExecutor] | None = None
        self._is_closed = False

    def answer(self, batch: bytes) -> bytes:
        """Evaluate a batch.

        Args:
            batch: ``{"samples": [...]}``, or ``{"check": true}`` for the self-test.

        Returns:
            ``results`` in the order of samples, and ``time_s``, the seconds that they took. For
            the self-test ``engine``, ``version`` and ``workers``. Or ``error``, a `SandboxError`.
        """
        message = decode(batch)
        begun = time.monotonic()
        try:
            evaluator, threads = self._open()
            if message.get("check"):
                return encode(self_test(evaluator))
            samples = [read_sample(record) for record in message["samples"]]
            results = _run_all(evaluator, threads, samples)
        except SandboxError as error:
            return encode({"error": error.to_dict()})
        return encode(
            {
                "results": [result.to_json() for result in results],
                "time_s": time.monotonic() - begun,
            }
        )

    def _open(self) -> tuple[Evaluator, ThreadPoolExecutor]:
        with self._lock:
            if self._is_closed:
                raise BackendError("the worker is closed", op="evaluate")
            if self._made is None:
                evaluator = make_evaluator(self._setup, self._workers)
                threads = ThreadPoolExecutor(evaluator.workers, "llm-sandbox-evaluate")
                self._made = evaluator, threads
            return self._made

    def close(self) -> None:
        """End all sandboxes, after the samples that are being evaluated; no effect if repeated."""
        with self._lock:
            self._is_closed = True
            made, self._made = self._made, None
        if made is not None:
            evaluator, threads = made
            threads.shutdown(wait=True, cancel_futures=True)
            evaluator.close()


def _run_all(
    evaluator: Evaluator, threads: ThreadPoolExecutor, samples: list[Sample]
) -> list[SampleResult]:
    # Batches that overlap share the threads, so that no more tests run at once.
    futures: list[Future[SampleResult]] = [
        threads.submit(evaluator.run, sample) for sample in samples
    ]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


def self_test(evaluator: Evaluator) -> dict[str, Any]:
    """Return facts about the worker, after programs whose verdicts are known.

    Raises:
        BackendError: A verdict is another one.
    """
    for code, test, verdict in _SELF_TEST:
        sample = Sample(
            "self-test", code, tests=[test], language="python", limits=EvalLimits(cpu_time=10)
        )
        result = evaluator.run(sample)
        if result.verdict is not verdict:
            got = f"{result.verdict} {result.error or result.tests[0].error}".strip()
            raise BackendError(
                f"the self-test of {os.uname().nodename} failed: expected {verdict}, got {got}",
                op="evaluate",
                hint="see `llm-sandbox doctor` there",
            )
    return {"engine": evaluator.engine, "version": VERSION, "workers": evaluator.workers}
