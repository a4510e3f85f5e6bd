"""Evaluation of generated code: samples, tests, verdicts and scores.

from llm_sandbox.evaluation import Evaluator, Sample, StdioTest

with Evaluator() as evaluator:
    result = evaluator.run(
        Sample("double", "print(2 * int(input()))", tests=[StdioTest("21", "42")])
    )
assert result.passed
"""

from llm_sandbox.evaluation.async_evaluator import AsyncEvaluator
from llm_sandbox.evaluation.batch import evaluate
from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.evaluator import EvaluationStoppedError, Evaluator
from llm_sandbox.evaluation.extraction import extract_code
from llm_sandbox.evaluation.kinds import (
    AssertTest,
    CallTest,
    CheckerTest,
    CommandTest,
    InteractiveTest,
    StdioTest,
    UnitTest,
)
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.report import Report
from llm_sandbox.evaluation.results import SampleResult, TestResult
from llm_sandbox.evaluation.run_comparison import compare
from llm_sandbox.evaluation.sample import Sample, Task
from llm_sandbox.evaluation.statistics import pass_at_k
from llm_sandbox.evaluation.validation import valid_tasks
from llm_sandbox.evaluation.verdict import Verdict

__all__ = [
    "AssertTest",
    "AsyncEvaluator",
    "CallTest",
    "CheckerTest",
    "CommandTest",
    "Difference",
    "EvalLimits",
    "EvaluationStoppedError",
    "Evaluator",
    "InteractiveTest",
    "Report",
    "Sample",
    "SampleResult",
    "StdioTest",
    "Task",
    "TestResult",
    "UnitTest",
    "Verdict",
    "compare",
    "evaluate",
    "extract_code",
    "pass_at_k",
    "valid_tasks",
]
