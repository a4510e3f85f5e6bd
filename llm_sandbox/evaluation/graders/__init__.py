"""Graders of the kinds of tests."""

from llm_sandbox.evaluation.graders.base import ENTRY_POINTS, Grader, GradingContext, find_grader
from llm_sandbox.evaluation.graders.call import CallGrader
from llm_sandbox.evaluation.graders.stdio import CheckerGrader, StdioGrader

__all__ = [
    "ENTRY_POINTS",
    "CallGrader",
    "CheckerGrader",
    "Grader",
    "GradingContext",
    "StdioGrader",
    "find_grader",
]
