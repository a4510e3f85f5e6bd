"""Public names of the results; `llm_sandbox.results` defines them."""

from llm_sandbox.results.console import SCHEMA, ConsoleOutput, ProcessResult
from llm_sandbox.results.execution import ExecutionResult, StreamCallback, Usage
from llm_sandbox.results.plots import FileType, PlotOutput

__all__ = [
    "SCHEMA",
    "ConsoleOutput",
    "ExecutionResult",
    "FileType",
    "PlotOutput",
    "ProcessResult",
    "StreamCallback",
    "Usage",
]
