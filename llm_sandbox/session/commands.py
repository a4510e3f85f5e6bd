"""Run a command beside the interpreter, to its end."""

from collections.abc import Sequence

from llm_sandbox.data import ProcessResult, StreamCallback
from llm_sandbox.exceptions import CommandEmptyError, SandboxTimeoutError, ValidationError
from llm_sandbox.sandbox import Process, Sandbox
from llm_sandbox.session.arguments import follow

__all__ = ["check_command", "check_entry", "run_command"]


def check_command(command: object) -> None:
    """Refuse what is no command.

    Raises:
        CommandEmptyError: There is none.
        ValidationError: It is neither a line for the shell nor a program and its arguments.
    """
    if command is None or (isinstance(command, str) and not command.strip()):
        raise CommandEmptyError()
    if not isinstance(command, str | list | tuple):
        raise ValidationError(
            "invalid command: expected a line for the shell, or a list of a program and its "
            f"arguments, got {type(command).__name__}",
            parameter="command",
        )


def check_entry(entry: object) -> tuple[str, str | None]:
    """Return an entry of `execute_commands` as a line and its directory.

    Raises:
        ValidationError: It is neither a line nor a pair of the two.
    """
    line, folder = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
    if not isinstance(line, str):
        raise ValidationError(
            "invalid commands: expected lines, or pairs of a line and a directory, got "
            f"{type(entry).__name__}",
            parameter="commands",
        )
    return line, folder


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
        return sandbox.sh(command, cwd=workdir, timeout=timeout)
    return sandbox.exec(*command, cwd=workdir, timeout=timeout)
