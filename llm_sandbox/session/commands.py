"""Commands of a session: run beside the interpreter, to their end."""

import threading
from collections.abc import Iterable, Sequence

from llm_sandbox.data import ProcessResult, StreamCallback
from llm_sandbox.exceptions import CommandEmptyError, SandboxTimeoutError
from llm_sandbox.limits import Deadline, validate_timeout
from llm_sandbox.sandbox import Process, Sandbox
from llm_sandbox.session.arguments import check_command, check_entry
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.guard import Guard
from llm_sandbox.session.lifecycle import SessionLifecycle
from llm_sandbox.session.recorder import Recorder

__all__ = ["CommandRunner"]


class CommandRunner:
    """Runner of commands in a session's sandbox, judged by its policy and recorded.

    Args:
        life: The session's lifecycle.
        guard: The session's policy.
        recorder: Records each command.
        config: The session's settings.
    """

    def __init__(
        self,
        life: SessionLifecycle,
        guard: Guard,
        recorder: Recorder,
        config: SessionConfig,
    ) -> None:
        self._life = life
        self._guard = guard
        self._recorder = recorder
        self._default_timeout = config.default_timeout

    def run(
        self,
        command: str | Sequence[str],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
        timeout: float | None = None,
    ) -> ProcessResult:
        """Run a command and return its result; see `BaseSession.execute_command`."""
        with self._recorder.span("command", self._life.sandbox, command) as span:
            check_command(command)
            timeout = validate_timeout(timeout, "timeout")
            limit = timeout if timeout is not None else self._default_timeout
            self._guard.admit_command(command, Deadline.after(limit))
            sandbox = self._life.runtime().sandbox
            return span.ended(_run_command(sandbox, command, workdir, limit, on_stdout, on_stderr))

    def run_all(
        self,
        commands: Sequence[str | tuple[str, str | None]],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
    ) -> ProcessResult:
        """Run commands until one fails; see `BaseSession.execute_commands`."""
        if not commands:
            raise CommandEmptyError()
        # All are judged first: where one is refused, none is run.
        entries = [check_entry(entry) for entry in commands]
        for line, _ in entries:
            with self._recorder.span("command", self._life.sandbox, line) as span:
                self._guard.admit_command(line)
                span.withdraw()
        for line, folder in entries:
            result = self.run(line, folder or workdir, on_stdout, on_stderr)
            if result.exit_code != 0:
                break
        return result


def _run_command(
    sandbox: Sandbox,
    command: str | Sequence[str],
    workdir: str | None,
    timeout: float | None,
    on_stdout: StreamCallback | None,
    on_stderr: StreamCallback | None,
) -> ProcessResult:
    """Run a command to its end.

    Whatever ends the wait, an interrupt included, ends the command.
    """
    if isinstance(command, str):
        process = sandbox.sh(command, cwd=workdir, timeout=timeout)
    else:
        process = sandbox.exec(*command, cwd=workdir, timeout=timeout)
    try:
        _forward_output(process, on_stdout, on_stderr)
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


def _forward_output(
    process: Process, on_stdout: StreamCallback | None, on_stderr: StreamCallback | None
) -> None:
    """Call back with each piece of a process's streams until they end.

    Standard output is read in the calling thread; standard error in another one.
    """
    failures: list[BaseException] = []

    def forward(stream: Iterable[str], callback: StreamCallback) -> None:
        try:
            for piece in stream:
                callback(piece)
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread below
            failures.append(error)

    thread = None
    if on_stderr is not None:
        thread = threading.Thread(
            target=forward, args=(process.stderr.chunks(), on_stderr), daemon=True
        )
        thread.start()
    if on_stdout is not None:
        forward(process.stdout.chunks(), on_stdout)
    if thread is not None:
        thread.join()
    if failures:
        process.kill()
        raise failures[0]
