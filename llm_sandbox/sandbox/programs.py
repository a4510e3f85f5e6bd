"""Programs of one sandbox handle: starting them, and finding them again."""

import threading
import time
import weakref
from collections.abc import Mapping, Sequence

from llm_sandbox.backends.base import Machine, ProcessSpec, RunningProgram
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import ProcessNotFoundError, UnsupportedError
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.checks import check_argv, check_env, check_stdin, check_terminal
from llm_sandbox.sandbox.files import ModifiedFlag, SandboxFiles
from llm_sandbox.sandbox.process import Pipe, Process
from llm_sandbox.sandbox.redirect import (
    ErrorTarget,
    OutputTarget,
    check_streams,
    open_redirection,
)
from llm_sandbox.sandbox.secret_files import inject_secrets
from llm_sandbox.secrets.plan import plan_secrets
from llm_sandbox.secrets.secret import Secret

__all__ = ["ProgramTable"]

_USERS = (None, "sandbox", 65532, "65532")


class ProgramTable:
    """Programs of a handle: those that run, and those whose `Process` is still referenced.

    Safe to use from several threads.

    Args:
        machine: Machine of the programs.
        files: The sandbox's files, for relative working directories.
        modified: Flag that follows every program that may change files.
    """

    def __init__(self, machine: Machine, files: SandboxFiles, modified: ModifiedFlag) -> None:
        self._machine = machine
        self._files = files
        self._modified = modified
        self._lock = threading.Lock()
        self._running: dict[str, Process] = {}
        self._held: weakref.WeakValueDictionary[str, Process] = weakref.WeakValueDictionary()
        self.entry: Process | None = None
        """Entry command of the sandbox; None without one."""

    def start(
        self,
        argv: tuple[str, ...],
        inherited: Mapping[str, str],
        *,
        env: Mapping[str, str] | None,
        secrets: Mapping[str, str] | Sequence[Secret] | None,
        cwd: str | None,
        stdin: bytes | str | Pipe | None,
        timeout: float | None,
        user: str | int | None,
        pty: bool | Terminal,
        stdout: OutputTarget,
        stderr: ErrorTarget,
    ) -> Process:
        """Start a program with the options of `Sandbox.exec`, and `inherited` variables."""
        check_argv(argv)
        self._check_user(user)
        if cwd is not None:
            cwd = self._files.resolve(cwd)
        given = check_stdin(stdin)
        given_env = check_env("env", env)
        own = plan_secrets(secrets, apart=True)
        if own.bindings:
            raise UnsupportedError(
                "a placeholder for one program",
                self._backend,
                "the gate replaces it for the whole sandbox",
                hint="Sandbox.create(secrets=[...]); or delivery='env' here",
            )
        inject_secrets(self._machine, own)
        environment = {**self._machine.base_env(), **inherited, **own.env, **given_env}
        terminal = check_terminal(pty)
        if terminal is not None:
            environment |= {"TERM": terminal.term, **(env or {})}
        timeout = validate_timeout(timeout)
        redirection = open_redirection(stdout, stderr, merged=terminal is not None)
        spec = ProcessSpec(
            argv,
            environment,
            cwd,
            timeout,
            stdin is not None,
            terminal,
            stdout=redirection.stdout,
            stderr=redirection.stderr,
        )
        started = time.monotonic()
        try:
            check_streams(self._machine, spec)
            raw = self._machine.start(spec)
        except BaseException:
            redirection.close()
            raise
        self._modified.follow(raw.ending)
        process = Process(
            self._machine, raw, argv, started=started, given=given, targets=redirection
        )
        self._add(process)
        return process

    def _check_user(self, user: str | int | None) -> None:
        if user is None:
            return
        if user not in _USERS or self._machine.isolation.level == "none":
            raise UnsupportedError(
                f"user={user!r}", self._backend, "programs run as the sandbox's one user"
            )

    @property
    def _backend(self) -> str:
        return self._machine.isolation.backend

    def _add(self, process: Process) -> None:
        with self._lock:
            ended = [key for key, one in self._running.items() if one.poll() is not None]
            for key in ended:
                del self._running[key]
            self._running[process.id] = self._held[process.id] = process

    def _known(self, process_id: str) -> Process | None:
        with self._lock:
            return self._held.get(process_id)

    def running(self) -> list[Process]:
        """Return the programs that run, oldest first, without the entry of a detached sandbox."""
        programs = self._machine.programs()
        if programs is None:
            with self._lock:
                return [process for process in self._running.values() if process.poll() is None]
        return [self._reattach(one) for one in programs if one.exit is None and not one.is_entry]

    def get(self, process_id: str) -> Process:
        """Return a program by its id, with its output from the first byte.

        Raises:
            ProcessNotFoundError: No such program is known.
        """
        process = self._known(process_id)
        if process is not None:
            return process
        for one in self._machine.programs() or ():
            if one.id == process_id:
                return self._reattach(one)
        raise ProcessNotFoundError(process_id, backend=self._backend)

    def find_entry(self) -> None:
        """Attach to the entry of a detached sandbox, if it has one."""
        for one in self._machine.programs() or ():
            if one.is_entry:
                self._reattach(one)

    def _reattach(self, one: RunningProgram) -> Process:
        process = self._known(one.id)
        if process is not None:
            return process
        raw = self._machine.reattach(one.id)
        started = time.monotonic() - max(0.0, time.time() - one.started_at)
        process = Process(self._machine, raw, one.argv, started=started)
        if one.is_entry:
            self.entry = process
        else:
            self._modified.follow(raw.ending)
            self._add(process)
        return process
