"""Running a command in one of our sandboxes."""

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from llm_sandbox.adapters.sbx_agents.results import CommandResult
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.adapters.sbx_agents.showing import show_process
from llm_sandbox.exceptions import CommandEmptyError
from llm_sandbox.sandbox import Sandbox

__all__ = ["run_command"]


def run_command(
    sandbox: Sandbox,
    session: SandboxSession,
    command: Sequence[str],
    env: Mapping[str, str],
    max_network_events: int = 50,
) -> CommandResult:
    """Run a command to its end, with everything it started killed at its timeout.

    Args:
        sandbox: Where.
        session: The turn, whose timeout and streams count.
        command: Its words.
        env: Variables.
        max_network_events: How much of what it tried to reach in vain is told.

    Raises:
        subprocess.TimeoutExpired: It did not end in time; it has what came so far.
        LaunchError: There is no such program.
    """
    if not command:
        raise CommandEmptyError
    given: dict[str, Any] = session.metadata
    timeout = given.get("timeout_seconds")
    known = sandbox.network_events()
    process = sandbox.exec(*command, env=env, timeout=timeout)
    try:
        if given.get("stream_output"):
            show_process(process, given.get("stream_filter"))
        result = process.collect()
    except BaseException:
        process.kill()
        raise
    if result.timed_out:
        raise subprocess.TimeoutExpired(
            list(command), float(timeout or 0), output=result.stdout, stderr=result.stderr
        )
    events = sandbox.network_events(after=known[-1].number if known else 0)
    return CommandResult(
        stdout=result.stdout,
        stderr=result.stderr,
        returncode=result.exit_code,
        command=list(command),
        duration_ms=round(result.duration_s * 1000),
        metadata={
            "sandbox_id": sandbox.id,
            "signal": result.signal,
            "oom_killed": result.oom_killed,
            "stdout_truncated": result.stdout_truncated,
            "stderr_truncated": result.stderr_truncated,
            "network": [event.to_dict() for event in events[:max_network_events]],
        },
    )
