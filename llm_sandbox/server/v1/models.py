"""Bodies of requests and answers."""

from dataclasses import fields
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.server.live_sandbox import LiveSandbox
from llm_sandbox.server.runs import Run

__all__ = [
    "ArtifactFacts",
    "CommandRequest",
    "ExecutionResultModel",
    "FileFacts",
    "InputRequest",
    "InstallRequest",
    "ProcessResultModel",
    "ProgramRequest",
    "RunBody",
    "RunFacts",
    "SandboxFacts",
    "ScanRequest",
    "ServiceAnswer",
    "ServiceCall",
    "TimeoutRequest",
    "UsageFacts",
    "describe_run",
    "describe_sandbox",
    "program_words",
]

_LONGEST_CODE = 2_000_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunBody(_Body):
    """Code to run; see `BaseSession.run`."""

    code: str = Field(max_length=_LONGEST_CODE, description="Source text.")
    libraries: list[str] = Field(default_factory=list, description="Libraries to install first.")
    timeout: float | None = Field(None, gt=0, description="Seconds until it is interrupted.")
    stdin: str | None = Field(None, description="Standard input, for `input`.")
    argv: list[str] = Field(default_factory=list, description="Command line, its file first.")
    interactive: bool = Field(
        False, description="Whether `input` waits for POST …/input; an event `input` tells of it."
    )


class InputRequest(_Body):
    """Answer to code that waits for input."""

    text: str | None = Field(description="A line, without its end; null ends the input.")


class InstallRequest(_Body):
    """Libraries to install."""

    libraries: list[str] = Field(min_length=1)


class TimeoutRequest(_Body):
    """Time that a sandbox has left."""

    seconds: float = Field(gt=0, description="Seconds from now until it ends.")


class CommandRequest(_Body):
    """Command of a session; see `BaseSession.execute_command`."""

    command: str | list[str] = Field(description="Line for the shell, or a program with arguments.")
    workdir: str | None = None
    timeout: float | None = Field(None, gt=0)


class ProgramRequest(_Body):
    """Program in a sandbox; see `Sandbox.exec`."""

    command: str | list[str] = Field(description="Line for the shell, or a program with arguments.")
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    stdin: str = ""
    timeout: float | None = Field(None, gt=0)


def program_words(command: str | list[str]) -> list[str]:
    """Return a command as the words of a program."""
    return ["sh", "-c", command] if isinstance(command, str) else command


class ScanRequest(_Body):
    """Code to scan; see `llm_sandbox.security.scan`."""

    code: str = Field(max_length=_LONGEST_CODE)
    language: str = "python"
    policy: str | None = Field(None, description="Name of a ready-made policy.")


class ServiceCall(_Body):
    """Call of a service of the interpreter."""

    service: Literal["variables", "get", "set", "table"]
    arguments: dict[str, Any] = Field(default_factory=dict)
    buffers: list[str] = Field(default_factory=list, description="Binary arguments, as base64.")


class ServiceAnswer(BaseModel):
    """Answer of a service of the interpreter."""

    content: dict[str, Any]
    buffers: list[str] = Field(description="Binary results, as base64.")


class FileFacts(BaseModel):
    """File, directory or link in a sandbox."""

    path: str = Field(description="Path relative to the listed directory.")
    name: str
    kind: Literal["file", "directory", "link", "other"]
    size: int
    mode: int
    mtime: float
    target: str | None = None


class ArtifactFacts(BaseModel):
    """Artifact of a run, without its content."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})

    id: str
    run: int | None = Field(description="Number of the run; null if it is no longer known.")
    type: str
    mime: str
    size: int
    paths: list[str]
    note: str


class SandboxFacts(BaseModel):
    """Living sandbox."""

    id: str
    api: str = Field(description="API that has made it.")
    state: Literal["idle", "running"] = Field(description="Whether code runs.")
    run: int | None = Field(description="Number of the run under way.")
    is_waiting: bool = Field(description="Whether that run waits for input.")
    language: str
    backend: str
    template: str
    metadata: dict[str, str]
    workdir: str
    network: str | dict[str, Any]
    limits: dict[str, Any]
    isolation: dict[str, Any]
    started_at: float
    active_at: float
    ends_at: float


class UsageFacts(BaseModel):
    """What a sandbox uses, as it says itself."""

    time: float
    cpu_s: float = Field(description="Seconds of processors that its living processes have used.")
    cpus: int
    memory_bytes: int
    memory_limit_bytes: int
    disk_bytes: int
    disk_limit_bytes: int


class RunFacts(BaseModel):
    """Run of a session."""

    number: int
    state: Literal["running", "done", "failed"]
    is_waiting: bool = Field(description="Whether it waits for input.")
    code: str
    started_at: float
    ended_at: float | None
    status: str | None = Field(description="Status of the result.")
    exit_code: int | None
    findings: list[dict[str, Any]] = Field(description="Findings of the policy.")
    network: list[dict[str, Any]] = Field(description="Refused names and addresses.")
    files: list[str] = Field(description="Files that it has created or changed.")
    deleted: list[str] = Field(description="Files that it has removed.")
    error: dict[str, Any] | None = Field(description="Why there is no result.")


_PARTS: dict[str, Any] = {
    **dict.fromkeys(
        ("plots", "outputs", "artifacts", "findings", "observations", "network"),
        list[dict[str, Any]],
    ),
    "error": dict[str, Any] | None,
    "usage": dict[str, Any],
}


def _model_of(result: type, name: str) -> type[BaseModel]:
    """Return the model of a result, from its own fields."""
    plain = {"notes": list[str], "deleted": list[str], "command": list[str]}
    known: dict[str, Any] = {}
    for item in fields(result):
        kind: Any = _PARTS.get(item.name) or plain.get(item.name)
        if kind is None:
            kind = item.type if item.type in (str, int, float, bool) else Any
        known[item.name] = (kind, ...)
    return create_model(
        name,
        __config__=ConfigDict(json_schema_extra={"additionalProperties": True}),
        __doc__=f"`{result.__name__}`, as its `to_dict` has it.",
        **known,
    )


ExecutionResultModel = _model_of(ExecutionResult, "ExecutionResult")
ProcessResultModel = _model_of(ProcessResult, "ProcessResult")


def describe_sandbox(live: LiveSandbox) -> dict[str, Any]:
    """Return the facts of a `SandboxFacts`."""
    runs = [run for run in live.runs.list() if run.ended_at is None]
    network = live.request.network
    sandbox = live.sandbox
    limits = sandbox.limits
    return {
        "id": live.id,
        "api": live.request.api,
        "state": "running" if runs else "idle",
        "run": runs[0].number if runs else None,
        "is_waiting": any(run.is_waiting for run in runs),
        "language": live.language,
        "backend": live.backend.name,
        "template": live.request.template,
        "metadata": dict(live.request.metadata),
        "workdir": sandbox.workdir,
        "network": network if isinstance(network, str) else network.to_dict(),
        "limits": {item.name: getattr(limits, item.name) for item in fields(limits)},
        "isolation": sandbox.isolation.to_dict(),
        "started_at": live.started_at,
        "active_at": live.active_at,
        "ends_at": live.ends_at,
    }


def describe_run(run: Run) -> dict[str, Any]:
    """Return the facts of a `RunFacts`."""
    result = run.result
    facts: dict[str, Any] = (
        {}
        if result is None
        else {
            "status": result.status.value,
            "exit_code": result.exit_code,
            "findings": [finding.to_dict() for finding in result.findings],
            "network": [event.to_dict() | {"hint": event.hint} for event in result.network],
            "files": [path for item in result.files for path in item.paths],
            "deleted": list(result.deleted),
        }
    )
    state = "running" if run.ended_at is None else "failed" if result is None else "done"
    return {
        "number": run.number,
        "state": state,
        "is_waiting": run.is_waiting,
        "code": run.request.code,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "status": None,
        "exit_code": None,
        "findings": [],
        "network": [],
        "files": [],
        "deleted": [],
        "error": None if run.error is None else run.error.to_dict(),
        **facts,
    }
