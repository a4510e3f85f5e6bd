"""Assembly of an `ExecutionResult`: the last step of a run, after which nothing is lost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.backends.base import Isolation, LimitEvents, MachineSpec
from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.data import ConsoleOutput, ExecutionResult, Usage
from llm_sandbox.guest.audit_events import MAX_OBSERVATIONS
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.kernel.client import KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.limits import Limits
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    Output,
    ResultOutput,
    StreamOutput,
    last_displays,
)
from llm_sandbox.results.plots import PlotOutput
from llm_sandbox.sandbox.file_service import DiskUsage
from llm_sandbox.session.diagnosis import RunEvidence, find_cause, limit_hints
from llm_sandbox.session.hints import BlockedConnections, is_offline, restriction_hints

__all__ = ["assemble", "claimed_cpu_s"]

_TIMEOUT_EXIT = 124
_MAX_NUMBER = 2.0**53
_MAX_TEXT = 1 << 20
"""Characters of an error's name or message that are kept; the interpreter sends fewer."""
_STOP_EXIT = 128 + GuestSignal.SIGINT


def assemble(
    run: KernelRun,
    collector: OutputBuffer,
    *,
    state: StateOutcome,
    spec: MachineSpec,
    isolation: Isolation,
    connections: BlockedConnections,
    events: LimitEvents,
    measure: Callable[[str], DiskUsage],
    expired: bool,
    earlier_cpu_s: float | None,
    phases: Mapping[str, float],
    wall_s: float,
    plotting: bool,
    files: Sequence[Artifact] = (),
    deleted: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> ExecutionResult:
    """Build the result of one run.

    Args:
        run: Reply and exit of the kernel or program.
        collector: The run's outputs.
        state: What became of the interpreter's variables.
        spec: The machine's specification.
        isolation: The machine's isolation.
        connections: The run's blocked connections.
        events: How often Linux enforced limits while it ran.
        measure: Measures how full the file system of a path is.
        expired: Whether the sandbox's own time was over.
        earlier_cpu_s: CPU seconds that the interpreter claimed before this run; None for none.
        phases: Seconds by phase.
        wall_s: Seconds from request to end.
        plotting: Whether displays that are plots are listed as such.
        files: Files that it created or changed in the working directory.
        deleted: Paths that it removed there.
        notes: Sentences of the session.
    """
    outputs = collector.finish()
    status, exit_code, error = _judge(run, collector)
    stdout = _stream_text(outputs, "stdout")
    stderr = _stream_text(outputs, "stderr")
    if run.problem:
        notes = (*notes, f"The interpreter broke the protocol and was ended: {run.problem}.")
    notes = (*notes, *_left_out(collector))
    blocked = connections.events()
    streams = ConsoleOutput(exit_code, stderr, stdout)
    restricted = isolation.state("network") == "enforced" or bool(blocked)
    dropped = collector.dropped("stdout") + collector.dropped("stderr")
    evidence = RunEvidence(
        status=status,
        error=error,
        streams=streams,
        exit=run.exit,
        events=events,
        stopped=_was_stopped(run),
        expired=expired,
        dropped=dropped + collector.dropped_outputs > 0,
        offline=restricted and is_offline(error, streams),
    )
    cause = find_cause(evidence, spec)
    own_disk = isolation.level != "none"
    result_notes = [
        *notes,
        *restriction_hints(error, streams, spec.workdir, isolation, connections.network, blocked),
        *limit_hints(cause, evidence, spec, has_disk_limits=own_disk, measure=measure),
    ]
    return ExecutionResult(
        exit_code=exit_code,
        stderr=stderr,
        stdout=stdout,
        plots=_plots(outputs, spec.limits) if plotting else [],
        status=status,
        outputs=outputs,
        artifacts=_artifacts(outputs, files),
        deleted=deleted,
        error=error,
        value=collector.value,
        usage=_usage(run, events, phases, wall_s, earlier_cpu_s),
        state=state,
        execution_count=_whole(run.reply.get("execution_count")),
        stdout_truncated=collector.dropped("stdout") > 0,
        stderr_truncated=collector.dropped("stderr") > 0,
        dropped_bytes=dropped,
        dropped_outputs=collector.dropped_outputs,
        timed_out=status is RunStatus.TIMEOUT,
        oom_killed=status is RunStatus.OOM,
        signal=_signal(run),
        notes=tuple(result_notes),
        observations=collector.observed.finish(),
        network=blocked,
        cause=cause,
    )


def _usage(
    run: KernelRun,
    events: LimitEvents,
    phases: Mapping[str, float],
    wall_s: float,
    earlier_cpu_s: float | None,
) -> Usage:
    ended = run.exit or run.killed
    if ended is None or ended.cpu_s is None:
        claimed = run.reply.get("llm_sandbox") or {}
        cpu_s, peak = _claimed_number(claimed.get("cpu_s")), _whole(claimed.get("peak_rss"))
    else:
        # Measured over its whole life; the part before this run is only claimed by itself.
        cpu_s, peak = max(0.0, ended.cpu_s - (earlier_cpu_s or 0.0)), ended.peak_memory_bytes
    return Usage(
        wall_s=wall_s,
        cpu_s=cpu_s,
        peak_memory_bytes=peak,
        phases=dict(phases),
        oom_kills=events.oom_kills,
        refused_forks=events.refused_forks,
        measured=ended is not None and ended.cpu_s is not None and earlier_cpu_s is None,
    )


def _judge(run: KernelRun, collector: OutputBuffer) -> tuple[RunStatus, int, ExecutionError | None]:
    """Return status, exit code and error; measured evidence precedes claims."""
    error = collector.error
    if _was_stopped(run):
        return RunStatus.KILLED, _STOP_EXIT, error
    if run.late and not (run.exit and run.exit.oom_killed):
        return RunStatus.TIMEOUT, _TIMEOUT_EXIT, error
    if run.end == "broken":
        return RunStatus.CRASHED, 1, error
    if run.exit is not None:
        if run.exit.oom_killed:
            return RunStatus.OOM, run.exit.exit_code, error
        if run.exit.signal is not None:
            return RunStatus.KILLED, run.exit.exit_code, error
        if run.end == "ended":
            ended = run.exit.exit_code
            return (RunStatus.ERROR if ended else RunStatus.OK), ended, error
        return RunStatus.EXITED, run.exit.exit_code, error
    # trust: from here on it is claimed by the interpreter.
    claimed = run.reply.get("llm_sandbox") or {}
    code = claimed.get("exit")
    if isinstance(code, int):
        exited = _exit_error(claimed.get("exited_by"), code) if code else None
        return RunStatus.EXITED, code & 0xFF, exited
    if run.reply.get("status") == "ok":
        return RunStatus.OK, 0, None
    if error is None:
        error = ExecutionError(str(run.reply.get("ename")), str(run.reply.get("evalue")))
    code = claimed.get("code")
    return RunStatus.ERROR, (code & 0xFF if isinstance(code, int) else 0) or 1, error


def _left_out(collector: OutputBuffer) -> list[str]:
    """Return sentences that count what the limits kept out of the result."""
    counts = {"stdout": collector.dropped("stdout"), "stderr": collector.dropped("stderr")}
    sentences = [
        f"{count:,} bytes of {name} were left out; Limits(output_bytes=...) changes that."
        for name, count in counts.items()
        if count
    ]
    dropped = collector.dropped_displays
    if dropped:
        what = "1 display was" if dropped == 1 else f"{dropped:,} displays were"
        sentences.append(f"{what} left out; Limits(displays=..., display_bytes=...) changes that.")
    errors = collector.dropped_outputs - collector.dropped_displays
    if errors:
        what = "1 error that was" if errors == 1 else f"{errors:,} errors that were"
        sentences.append(f"{what} shown {'was' if errors == 1 else 'were'} left out.")
    if collector.observed.is_full:
        sentences.append(
            f"{MAX_OBSERVATIONS} observations are listed, the maximum; there may be more."
        )
    return sentences


def _exit_error(claimed: Any, code: int) -> ExecutionError:
    """Return the exception that ended the code, with the argument of `sys.exit`."""
    is_pair = isinstance(claimed, list) and len(claimed) == 2
    name, text = claimed if is_pair else ("SystemExit", str(code))
    return ExecutionError(str(name)[:_MAX_TEXT], str(text)[:_MAX_TEXT], kind="exit")


def _was_stopped(run: KernelRun) -> bool:
    # A kernel that dies of the interrupt, or during it, was stopped as well.
    return run.stopped and run.end != "broken" and not (run.exit and run.exit.oom_killed)


def _signal(run: KernelRun) -> int | None:
    if _was_stopped(run):
        return int(GuestSignal.SIGINT)
    return run.exit.signal if run.exit is not None else None


def _stream_text(outputs: tuple[Output, ...], name: str) -> str:
    pieces = []
    for output in outputs:
        if isinstance(output, StreamOutput) and output.name == name:
            pieces.append(output.text)
        elif isinstance(output, ErrorOutput) and name == "stderr" and output.traceback:
            pieces.append("\n".join(output.traceback) + "\n")
    return "".join(pieces)


def _has_displays(outputs: tuple[Output, ...]) -> bool:
    # Most runs display nothing, and need no reader of displays loaded.
    return any(isinstance(output, DisplayOutput | ResultOutput) for output in outputs)


def _artifacts(outputs: tuple[Output, ...], files: Sequence[Artifact]) -> tuple[Artifact, ...]:
    if not files and not _has_displays(outputs):
        return ()
    from llm_sandbox.artifacts.displays import artifacts_from_outputs, merge_equal

    return merge_equal([*artifacts_from_outputs(outputs), *files])


def _plots(outputs: tuple[Output, ...], limits: Limits) -> list[PlotOutput]:
    """Return the plots in order; an update replaces the display that it updates."""
    if not _has_displays(outputs):
        return []
    from llm_sandbox.artifacts.displays import plot_from_display

    plots = [
        plot_from_display(output.data, output.metadata, limit=limits.display_bytes)
        for output in last_displays(outputs).values()
    ]
    return [plot for plot in plots if plot is not None]


def claimed_cpu_s(run: KernelRun) -> float:
    """Return the CPU seconds that an interpreter claims for a run."""
    return _claimed_number((run.reply.get("llm_sandbox") or {}).get("cpu_s")) or 0.0


def _claimed_number(value: object) -> float | None:
    """Return a number that an interpreter claims; None where it cannot be a time or a size."""
    # trust: claimed by the interpreter.
    if not isinstance(value, int | float) or not 0 <= value < _MAX_NUMBER:
        return None
    return float(value)


def _whole(value: object) -> int | None:
    number = _claimed_number(value)
    return int(number) if number is not None else None
