"""Run a command beside the interpreter, to its end."""

from collections.abc import Sequence

from llm_sandbox.data import ProcessResult, StreamCallback
from llm_sandbox.exceptions import CommandEmptyError, SandboxTimeoutError
from llm_sandbox.sandbox import Process, Sandbox
from llm_sandbox.session.callbacks import follow

__all__ = ["run_command"]


def run_command(
    sandbox: Sandbox,
    command: str | Sequence[str],
    workdir: str | None,
    timeout: float | None,
    on_stdout: StreamCallback | None,
    on_stderr: StreamCallback | None,
) -> ProcessResult:
    """Run a command and return its result; see `BaseSession.execute_command`.

    Whatever ends the wait, a key press included, ends the command.
    """
    process = _start(sandbox, command, workdir, timeout)
    try:
        follow(process, on_stdout, on_stderr)
        result = process.collect()
    except BaseException:
        process.kill()
        raise
    if result.timed_out:
        raise SandboxTimeoutError(
            f"the command did not end in {timeout} s",
            timeout_duration=timeout,
            result=result,
            op="execute_command",
            backend=sandbox.backend,
        )
    return result


def _start(
    sandbox: Sandbox, command: str | Sequence[str], workdir: str | None, timeout: float | None
) -> Process:
    if isinstance(command, str):
        if not command.strip():
            raise CommandEmptyError()
        return sandbox.sh(command, cwd=workdir, timeout=timeout)
    return sandbox.exec(*command, cwd=workdir, timeout=timeout)
