"""Graders of the kinds of tests."""

from llm_sandbox.evaluation.graders.asserts import AssertGrader
from llm_sandbox.evaluation.graders.base import ENTRY_POINTS, Grader, GradingContext, find_grader
from llm_sandbox.evaluation.graders.call import CallGrader
from llm_sandbox.evaluation.graders.command import CommandGrader
from llm_sandbox.evaluation.graders.interactive import InteractiveGrader
from llm_sandbox.evaluation.graders.stdio import CheckerGrader, StdioGrader
from llm_sandbox.evaluation.graders.unit import UnitGrader

__all__ = [
    "ENTRY_POINTS",
    "AssertGrader",
    "CallGrader",
    "CheckerGrader",
    "CommandGrader",
    "Grader",
    "GradingContext",
    "InteractiveGrader",
    "StdioGrader",
    "UnitGrader",
    "find_grader",
]
