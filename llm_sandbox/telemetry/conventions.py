"""OpenTelemetry names: its semantic conventions for generative AI, and additional ones.

The conventions are still in development. When they change, this file does.
"""

from llm_sandbox.telemetry.record import RecordKind

__all__ = [
    "ARGUMENTS",
    "BOUNDARIES_S",
    "CALL_ID",
    "CHOSEN_NAME",
    "DURATION",
    "DURATION_WORDS",
    "ERROR_TYPE",
    "EXECUTE_TOOL",
    "FUNCTION",
    "OPERATION",
    "OWN",
    "PHASE",
    "RESULT",
    "SCOPE",
    "TOOL",
    "TOOL_NAMES",
    "TOOL_TYPE",
]

SCOPE = "llm_sandbox"
"""Instrumentation scope: name of the tracer and the meter."""

OPERATION = "gen_ai.operation.name"
EXECUTE_TOOL = "execute_tool"
TOOL = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
FUNCTION = "function"
CALL_ID = "gen_ai.tool.call.id"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
ERROR_TYPE = "error.type"
CHOSEN_NAME = "_OTHER"
"""Conventional value for an undisclosed error type."""

DURATION = "gen_ai.execute_tool.duration"
DURATION_WORDS = "Time that a tool call took."
BOUNDARIES_S = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0),
)
"""Bounds of the histogram in seconds: a cell takes a millisecond, an installation minutes."""

TOOL_NAMES: dict[RecordKind, str] = {
    "run": "run_code",
    "command": "run_command",
    "install": "install",
}

OWN = {
    "status": "llm_sandbox.status",
    "session_id": "llm_sandbox.session.id",
    "backend": "llm_sandbox.backend",
    "language": "llm_sandbox.language",
    "exit_code": "llm_sandbox.exit_code",
    "signal": "llm_sandbox.signal",
    "cpu_s": "llm_sandbox.cpu_time",
    "peak_memory_bytes": "llm_sandbox.peak_memory",
    "stdout_bytes": "llm_sandbox.stdout.bytes",
    "stderr_bytes": "llm_sandbox.stderr.bytes",
    "stdout_truncated": "llm_sandbox.stdout.truncated",
    "stderr_truncated": "llm_sandbox.stderr.truncated",
    "dropped_bytes": "llm_sandbox.dropped.bytes",
    "dropped_outputs": "llm_sandbox.dropped.outputs",
    "artifact_count": "llm_sandbox.artifact_count",
    "plot_count": "llm_sandbox.plot_count",
    "file_count": "llm_sandbox.file_count",
    "library_count": "llm_sandbox.library_count",
    "policy_rules": "llm_sandbox.policy.rules",
}
"""Additional attributes, by field of the record."""

PHASE = "llm_sandbox.phase."
"""Prefix of the attributes with the seconds of phases."""
