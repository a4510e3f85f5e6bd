"""Telemetry of runs: records for callbacks, logs and OpenTelemetry.

A record never holds code, output, names or messages, unless its observer is wrapped in
`WithContent`.

May import what `sandbox` may. Start reading at `record`.
"""

from llm_sandbox.telemetry.call import current_tool_call_id, tool_call_id
from llm_sandbox.telemetry.content import WithContent
from llm_sandbox.telemetry.observers import LoggingObserver, StructlogObserver
from llm_sandbox.telemetry.opentelemetry import OpenTelemetryObserver
from llm_sandbox.telemetry.record import (
    RecordKind,
    RecordStatus,
    RunContent,
    RunObserver,
    RunRecord,
)

__all__ = [
    "LoggingObserver",
    "OpenTelemetryObserver",
    "RecordKind",
    "RecordStatus",
    "RunContent",
    "RunObserver",
    "RunRecord",
    "StructlogObserver",
    "WithContent",
    "current_tool_call_id",
    "tool_call_id",
]
