"""Result of a run.

Results are immutable and complete: a failed run still has all output from before the failure.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.const import RunCause, RunStatus, StateOutcome
from llm_sandbox.exceptions import ArtifactNotFoundError, ValidationError
from llm_sandbox.exceptions.plain import as_mapping, to_plain
from llm_sandbox.exceptions.running import RESULT_READERS
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.network import NetworkEvent
from llm_sandbox.results import outputs as outputs_json
from llm_sandbox.results.bundles import Bundle
from llm_sandbox.results.console import ConsoleOutput, dump_fields, load_fields
from llm_sandbox.results.findings import Finding, Observation
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ExecutionError,
    Output,
    ResultOutput,
    UpdateOutput,
    last_displays,
)
from llm_sandbox.results.plots import FileType, PlotOutput

if TYPE_CHECKING:
    from llm_sandbox.results.charts import Chart
    from llm_sandbox.results.tables import Table

__all__ = ["ExecutionResult", "StreamCallback", "Usage"]

StreamCallback = Callable[[str], None]
"""Callback for each piece of a stream as it arrives."""

_OUTSIDE = frozenset(
    {RunStatus.TIMEOUT, RunStatus.OOM, RunStatus.KILLED, RunStatus.CRASHED, RunStatus.BLOCKED}
)
_MEASURED_CAUSES = frozenset(
    {
        RunCause.TIMEOUT,
        RunCause.INTERRUPT,
        RunCause.CPU,
        RunCause.MEMORY,
        RunCause.SIGNAL,
        RunCause.POLICY,
        RunCause.PROTOCOL,
    }
)
"""Causes that are measured outside, if the end of the run was."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources used by a run."""

    wall_s: float = 0.0
    """Time from request to end, in seconds, on the host's clock."""
    cpu_s: float | None = None
    """CPU time in seconds; None when unknown."""
    peak_memory_bytes: int | None = None
    """Peak memory in bytes; None when unknown."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each phase by name, on the host's clock; empty by default."""
    oom_kills: int | None = None
    """Processes that the kernel killed at the memory limit since the previous run; None when
    unknown, as without a control group and after runs of less than ten milliseconds."""
    refused_forks: int | None = None
    """Processes and threads that the kernel refused to start because of the limit since the
    previous run; None when unknown, as where the limit applies to a user and not to a control
    group."""
    measured: bool = False
    """Whether CPU time and memory were measured outside; otherwise the interpreter reports them."""

    def to_dict(self) -> dict[str, object]:
        """Return the usage as JSON-able data."""
        names = ["wall_s", "cpu_s", "peak_memory_bytes", "phases"]
        names += ["oom_kills", "refused_forks", "measured"]
        return {name: to_plain(getattr(self, name)) for name in names}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the usage that `to_dict` described; unknown fields are ignored."""
        given: dict[str, Any] = as_mapping(dict(data))
        return cls(
            given.get("wall_s", 0.0),
            given.get("cpu_s"),
            given.get("peak_memory_bytes"),
            as_mapping(given.get("phases")),  # type: ignore[arg-type]
            given.get("oom_kills"),
            given.get("refused_forks"),
            bool(given.get("measured", False)),
        )


@dataclass(frozen=True, slots=True, repr=False)
class ExecutionResult(ConsoleOutput):
    """Result of a run of code."""

    type: ClassVar[str] = "result"
    """Type tag in JSON."""
    plots: list[PlotOutput] = field(default_factory=list)
    """Figures, in display order."""
    status: RunStatus = RunStatus.OK
    """Final status of the run."""
    outputs: tuple[Output, ...] = ()
    """All outputs, in order."""
    artifacts: tuple[Artifact, ...] = ()
    """Displayed artifacts in order, then created and changed files; equal content is one artifact.
    """
    deleted: tuple[str, ...] = ()
    """Files that the run removed from the working directory, the first 100."""
    error: ExecutionError | None = None
    """Reason of a failed run, as the interpreter reports it; None when it reports none."""
    value: str | None = None
    """Value of the last expression as text; None when it had none."""
    usage: Usage = field(default_factory=Usage)
    """Resources that the run used."""
    state: StateOutcome = StateOutcome.KEPT
    """State of the interpreter's variables after the run."""
    execution_count: int | None = None
    """The interpreter's count of runs; None when it keeps none."""
    stdout_truncated: bool = False
    """Whether standard output was longer than the kept part."""
    stderr_truncated: bool = False
    """Whether standard error was longer than the kept part."""
    dropped_bytes: int = 0
    """Number of bytes of both streams that were not kept."""
    dropped_outputs: int = 0
    """Number of displays that were not kept because of a limit."""
    timed_out: bool = False
    """Whether the deadline ended the run."""
    oom_killed: bool = False
    """Whether the memory limit ended the run."""
    signal: int | None = None
    """Signal that ended the process; None if none did."""
    notes: tuple[str, ...] = ()
    """Notes of the host about the run, a sentence each."""
    findings: tuple[Finding, ...] = ()
    """Findings of the session's security policy in the code; empty without a policy."""
    observations: tuple[Observation, ...] = ()
    """Actions of the code that the interpreter reported and a policy would grade, at most 200:
    processes, connections, native code, files outside the working directory. Claims without proof:
    code can hide from the report and forge it, and native code and child processes are not
    observed. Only Python's interpreter reports; where each run is a program of its own, the list is
    empty."""

    network: tuple[NetworkEvent, ...] = ()
    """Refused network connections of the run's programs, as recorded by the gate outside; empty
    without network rules."""
    cause: RunCause | None = None
    """Cause of the end, or the limit that was reached; None if the run completed within its limits.
    See `trust` for whether that was measured."""

    @property
    def trust(self) -> dict[str, tuple[str, ...]]:
        """Fields that were `measured` outside and fields that are `claimed` by code inside."""
        measured = ["usage.wall_s", "usage.phases", "state", "timed_out", "oom_killed", "signal"]
        claimed = ["stdout", "stderr", "plots", "outputs", "artifacts", "deleted"]
        claimed += ["error", "value", "execution_count", "observations"]
        # Counted where the output is produced, which user code can reach.
        claimed += ["stdout_truncated", "stderr_truncated", "dropped_bytes", "dropped_outputs"]
        used = measured if self.usage.measured else claimed
        used += ["usage.cpu_s", "usage.peak_memory_bytes"]
        measured += ["usage.oom_kills", "usage.refused_forks", "usage.measured"]
        counts = {
            RunCause.MEMORY: self.usage.oom_kills,
            RunCause.PROCESSES: self.usage.refused_forks,
        }
        seen = bool(self.cause and counts.get(self.cause)) or (
            self.status in _OUTSIDE and self.cause in _MEASURED_CAUSES
        )
        (measured if seen else claimed).append("cause")
        # An interpreter reports its own good or bad end; only the host sees these other endings.
        (measured if self.status in _OUTSIDE else claimed).extend(("status", "exit_code"))
        measured += ["notes", "findings", "network"]
        return {"measured": tuple(measured), "claimed": tuple(claimed)}

    @property
    def charts(self) -> "tuple[Chart, ...]":
        """Data of the figures, in order; figures without known data are skipped."""
        return tuple(item.chart for item in self.artifacts if item.chart is not None)

    @property
    def tables(self) -> "tuple[Table, ...]":
        """Displayed tables, in order."""
        return tuple(item.table for item in self.artifacts if item.table is not None)

    @property
    def files(self) -> tuple[Artifact, ...]:
        """Files that the run created or changed in the working directory."""
        return tuple(item for item in self.artifacts if item.paths)

    def artifact(self, name: str) -> Artifact:
        """Return one artifact.

        Args:
            name: Id of the artifact, the beginning of its id, or its path.

        Raises:
            ArtifactNotFoundError: No artifact matches, or several ids do.
        """
        exact = [item for item in self.artifacts if name == item.id or name in item.paths]
        found = exact or [item for item in self.artifacts if name and item.id.startswith(name)]
        if len(found) != 1:
            known = ", ".join(item.name for item in self.artifacts[:20]) or "none"
            count = "several artifacts" if found else "no artifact"
            raise ArtifactNotFoundError(f"{count} of this run: {name!r}; there are: {known}")
        return found[0]

    def for_llm(
        self,
        max_tokens: int = 2000,
        *,
        images: Literal["auto", "none", "inline"] = "auto",
        max_image_px: int = 768,
        shape: Literal["openai", "openai-chat", "mcp"] = "openai",
        count_tokens: Callable[[str], int] | None = None,
        reader: str | None = "read",
    ) -> list[dict[str, Any]]:
        """Return the result as the content parts of a message to a model.

        The error comes first, with the user's line; long output is reduced to head and tail, with
        an exact count of the omitted part and a handle to `read` it.

        Args:
            max_tokens: Most tokens of text and images together, by a conservative estimate.
            images: ``auto``: as many of the latest pictures as fit; ``none``: text only;
                ``inline``: up to 20 pictures, regardless of the budget.
            max_image_px: Larger pictures are scaled down to this width and height, in pixels.
            shape: ``openai`` for the Responses API, ``openai-chat`` for Chat Completions, ``mcp``
                for the Model Context Protocol.
            count_tokens: Counts the tokens of a text as the model does; None for an estimate that
                is rarely too low.
            reader: Name of the function that the model can call for omitted parts, with a handle
                and an offset, like `read`; None when it has none.

        Raises:
            ValidationError: An argument is invalid.
        """
        from llm_sandbox.views.images import scale_images
        from llm_sandbox.views.llm import for_llm

        return for_llm(
            self,
            max_tokens=max_tokens,
            images=images,
            max_image_px=max_image_px,
            shape=shape,
            count_tokens=count_tokens,
            scale=scale_images,
            reader=reader,
        )

    def read(self, handle: str, offset: int = 0, limit: int = 4000) -> str:
        """Return a part that `for_llm` omitted.

        Args:
            handle: ``stdout``, ``stderr``, ``error``, ``displays``, ``artifacts``, or the id or
                path of an artifact.
            offset: Number of characters to skip.
            limit: Most characters to return.

        Raises:
            ArtifactNotFoundError: There is no such handle.
        """
        from llm_sandbox.views.llm import read

        return read(self, handle, offset, limit)

    def __rich__(self) -> object:
        from llm_sandbox.views.terminal import render

        return render(self)

    def __repr__(self) -> str:
        parts = [f"status={self.status.value!r}", f"exit_code={self.exit_code}"]
        for name in ("stdout", "stderr"):
            text = getattr(self, name)
            if text:
                cut = ", truncated" if getattr(self, f"{name}_truncated") else ""
                parts.append(f"{name}=<{len(text)} characters{cut}>")
        counts = {"plots": len(self.plots), "artifacts": len(self.artifacts)}
        parts.extend(f"{name}={count}" for name, count in counts.items() if count)
        if self.error is not None:
            parts.append(f"error={strip_controls(self.error.name)[:80]!r}")
        return f"ExecutionResult({', '.join(parts)})"

    def __str__(self) -> str:
        text = self.safe_text.rstrip("\n")
        return "\n".join([text or repr(self), *self.notes])

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        text = self.safe_text.rstrip("\n")
        summary = [repr(self), text] if text else [repr(self)]
        bundle: dict[str, object] = {"text/plain": "\n".join([*summary, *self.notes])}
        if self.artifacts:
            from llm_sandbox.views.report import html_fragment

            bundle["text/html"] = html_fragment(self)
        return bundle

    def to_dict(self, *, include_plots: bool = True) -> dict[str, object]:
        """Return the result as JSON-able data; `from_dict` restores it.

        Args:
            include_plots: Keep the plots' content. Without it `plots` names formats and sizes only,
                and image content is omitted from the displays in `outputs`.
        """
        data = dump_fields(self, ExecutionResult.__match_args__)
        data["plots"] = [plot.to_dict(include_content=include_plots) for plot in self.plots]
        kept = self.outputs if include_plots else [_without_images(item) for item in self.outputs]
        data["outputs"] = [outputs_json.to_dict(item) for item in kept]
        # What was shown is among the outputs already.
        data["artifacts"] = [
            item.to_dict(include_content=include_plots and not item.outputs)
            for item in self.artifacts
        ]
        data["error"] = None if self.error is None else self.error.to_dict()
        data["usage"] = self.usage.to_dict()
        data["findings"] = [finding.to_dict() for finding in self.findings]
        data["observations"] = [item.to_dict() for item in self.observations]
        data["network"] = [item.to_dict() for item in self.network]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the result that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema, of another type, or malformed.
        """
        given = load_fields(cls, data)
        readers: dict[str, Callable[[Any], object]] = {
            "plots": lambda items: [PlotOutput.from_dict(item) for item in items],
            "outputs": lambda items: tuple(outputs_json.from_dict(item) for item in items),
            "artifacts": lambda items: tuple(Artifact.from_dict(item) for item in items),
            "error": lambda item: None if item is None else ExecutionError.from_dict(item),
            "usage": Usage.from_dict,
            "findings": lambda items: tuple(Finding.from_dict(item) for item in items),
            "observations": lambda items: tuple(Observation.from_dict(item) for item in items),
            "network": lambda items: tuple(NetworkEvent.from_dict(item) for item in items),
            "status": RunStatus,
            "state": StateOutcome,
            "cause": lambda item: None if item is None else RunCause(item),
            "notes": tuple,
            "deleted": tuple,
        }
        try:
            for name in readers.keys() & given.keys():
                given[name] = readers[name](given[name])
        except (TypeError, ValueError, AttributeError) as error:
            raise ValidationError("the data does not describe a result") from error
        if given.get("artifacts"):
            given["artifacts"] = _restored(given["artifacts"], given.get("outputs", ()))
        return cls(**given)

    def to_json(self, indent: int | None = None, include_plots: bool = True) -> str:
        """Return the result as strict JSON text; see `to_dict`."""
        return json.dumps(self.to_dict(include_plots=include_plots), indent=indent, allow_nan=False)


RESULT_READERS[ExecutionResult.type] = ExecutionResult.from_dict


def _without_images(output: Output) -> Output:
    if not isinstance(output, DisplayOutput | ResultOutput | UpdateOutput):
        return output
    light = {mime: output.data[mime] for mime in output.data if not _is_heavy(mime)}
    return replace(output, data=light)


def _is_heavy(mime: str) -> bool:
    return mime.startswith(("image/", "audio/", "video/")) or mime == FileType.PDF.mime


def _restored(artifacts: Sequence[Artifact], outputs: Sequence[Output]) -> tuple[Artifact, ...]:
    """Restore the content of displayed artifacts, which JSON stores only once."""
    restored = []
    # An artifact is the last form of what was displayed.
    shown = last_displays(outputs)
    for item in artifacts:
        bundle = getattr(shown.get(item.outputs[0]), "data", None) if item.outputs else None
        lost = item.content is None
        restored.append(item.with_content(bundle) if lost and isinstance(bundle, Bundle) else item)
    return tuple(restored)
