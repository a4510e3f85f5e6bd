"""Results of samples, made for tests of what is done with results."""

from __future__ import annotations

import hashlib
from typing import Any

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.results import SampleResult, TestResult
from llm_sandbox.evaluation.verdict import Verdict

HEADER = {
    "dataset_sha256": "d" * 64,
    "engine": "local 1.0",
    "limits": {"cpu_time": 5.0, "memory": 512 << 20},
    "host": {"cores": 2},
}

HOSTILE = (
    "<script>alert(1)</script>\"'&]]> --> \x00\x07\x1b[31mred\x1b[0m \x1b]0;title\x07\x9b31m"
    " \u202eevil\u202c \ud800 \udfff \ufffe \uffff \u2028 \u200b \U000e0041"
)
"""What a candidate may print."""


def make_result(
    id: str, verdict: str = "AC", *, tests: tuple[TestResult, ...] | None = None, **more: Any
) -> SampleResult:
    """Return a result with one test, whose key depends on the id alone unless it is given."""
    code = Verdict(verdict)
    if tests is None:
        tests = (TestResult(index=0, verdict=code, time_cpu=0.1, memory_peak=20 << 20),)
    values = {
        "task": id.partition("#")[0],
        "score": None if code is Verdict.INFRA_ERROR else float(code is Verdict.ACCEPTED),
        "key": hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest(),
        "code_sha256": "c" * 64,
        "time_s": 0.25,
    }
    return SampleResult(id=id, verdict=code, tests=tests, **{**values, **more})


def wrong_answer(*, hidden: bool = True, text: str = "secret", **more: Any) -> TestResult:
    """Return a test that failed, with the same text in all that it reports."""
    return TestResult(
        index=2,
        verdict=Verdict.WRONG_ANSWER,
        name=f"name {text}",
        difference=Difference(f"token 7 {text}", f"expected {text}", f"actual {text}"),
        stdout_tail=f"stdout {text}",
        stderr_tail=f"stderr {text}",
        hidden=hidden,
        **more,
    )
