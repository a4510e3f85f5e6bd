"""The programs of a sandbox: starting them, and finding them again."""

import builtins
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from llm_sandbox.backends.base import Machine, ProcessSpec, RunningProgram
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    CommandFailedError,
    ProcessNotFoundError,
    UnsupportedError,
)
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox.checks import check_argv, check_env, check_stdin, check_terminal
from llm_sandbox.sandbox.facts import SandboxFacts
from llm_sandbox.sandbox.process import Pipe, Process, redacted
from llm_sandbox.sandbox.redirect import ErrorTarget, OutputTarget, check_streams, open_redirection
from llm_sandbox.sandbox.secret_files import inject_secrets
from llm_sandbox.secrets.plan import SecretPlan, plan_secrets
from llm_sandbox.secrets.secret import Secret

__all__ = ["SandboxPrograms"]

_USERS = (None, "sandbox", 65532, "65532")


class _Roster:
    """The programs that a handle knows: those that run, and those that somebody still holds.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Process] = {}
        self._held: weakref.WeakValueDictionary[str, Process] = weakref.WeakValueDictionary()

    def add(self, process: Process) -> None:
        with self._lock:
            ended = [key for key, one in self._running.items() if one.poll() is not None]
            for key in ended:
                del self._running[key]
            self._running[process.id] = self._held[process.id] = process

    def get(self, process_id: str) -> Process | None:
        with self._lock:
            return self._held.get(process_id)

    def running(self) -> list[Process]:
        with self._lock:
            return [process for process in self._running.values() if process.poll() is None]


class SandboxPrograms(SandboxFacts):
    """The part of `Sandbox` that runs programs."""

    def __init__(
        self,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan | None = None,
    ) -> None:
        super().__init__(machine, env, secrets)
        self._roster = _Roster()
        self._entry: Process | None = None

    def exec(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        cwd: str | None = None,
        stdin: bytes | str | Pipe | None = None,
        timeout: float | None = None,
        user: str | int | None = None,
        pty: bool | Terminal = False,
        stdout: OutputTarget = "pipe",
        stderr: ErrorTarget = "pipe",
    ) -> Process:
        r"""Start a program; its words are passed on as they are, no shell sees them.

        Args:
            argv: The program and its arguments.
            env: Variables for this program, over those of the sandbox, secrets included.
            secrets: Secrets for this program, over those of the sandbox. Their files stay until
                the sandbox ends; placeholders are given to the sandbox.
            cwd: Its working directory; relative to the sandbox's, and None for that.
            stdin: What it reads: text, bytes, `PIPE` to write to `Process.stdin`, or None for
                nothing.
            timeout: Seconds until it is killed with everything it started, and ends with 124; None
                for no limit.
            user: None, ``sandbox`` or 65532: the only user there is.
            pty: Whether it has a terminal of its own, True for one of the usual size. What is
                written to `stdin` is typed there, so that ``\x03`` interrupts, and at its end the
                terminal's end of input is; what is shown there is `Process.stdout`.
            stdout: Where its standard output goes besides `Process.stdout`. ``pipe``: nowhere.
                ``null``: it is dropped where it is written, and not even there. ``inherit``: to
                this process' own, raw: a terminal obeys what it says to it. Or to a file of this
                machine, a path with a ``/`` or a binary file object, which gets as much as
                `Process.stdout` has.
            stderr: The same of its standard error; or ``stdout``: it is the same stream as that.

        Raises:
            OSError: A file for its output could not be opened.
            LaunchError: There is no such program or directory, or it cannot be executed.
            CommandEmptyError: There are no words.
            ValidationError: An argument is not acceptable.
            UnsupportedError: Another user.
        """
        self._check_open()
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
                self.backend,
                "the gate replaces it for the whole sandbox",
                hint="Sandbox.create(secrets=[...]); or delivery='env' here",
            )
        inject_secrets(self._machine, own)
        environment = {
            **self._machine.base_env(),
            **self._secrets.env,
            **self._env,
            **own.env,
            **given_env,
        }
        terminal = check_terminal(pty)
        if terminal is not None:
            environment |= {"TERM": terminal.term, **(env or {})}
        timeout = validate_timeout(timeout)
        targets = open_redirection(stdout, stderr, merged=terminal is not None)
        spec = ProcessSpec(
            *(argv, environment, cwd, timeout, stdin is not None, terminal),
            stdout=targets.stdout,
            stderr=targets.stderr,
        )
        started = time.monotonic()
        try:
            check_streams(self._machine, spec)
            raw = self._machine.start(spec)
        except BaseException:
            targets.close()
            raise
        self._touches.follow(raw.ending)
        process = Process(self._machine, raw, argv, started=started, given=given, targets=targets)
        self._roster.add(process)
        return process

    def sh(self, text: str, **options: Any) -> Process:
        """Start a shell with a command line; options as in `exec`."""
        return self.exec("sh", "-c", text, **options)

    def check(self, *argv: str, **options: Any) -> ProcessResult:
        """Run a program to its end and return its `ProcessResult`; options as in `exec`.

        Raises:
            CommandFailedError: Its exit status was not 0; values of secrets are left out of the
                error.
        """
        process = self.exec(*argv, **options)
        try:
            result = process.collect()
        except BaseException:
            process.kill()
            raise
        if result.exit_code == 0:
            return result
        own = plan_secrets(options.get("secrets"))
        shown = redacted(result, (*own.hidden, *self._secrets.hidden))
        raise CommandFailedError(
            " ".join(shown.command),
            result.exit_code,
            shown.stdout + shown.stderr,
            op="check",
            backend=self.backend,
        )

    def _check_user(self, user: str | int | None) -> None:
        if user is None:
            return
        if user not in _USERS or self.isolation.level == "none":
            raise UnsupportedError(
                f"user={user!r}", self.backend, "programs run as the sandbox's one user"
            )

    @property
    def entry(self) -> Process | None:
        """The program that the sandbox was created for, which it ends with; None without one.

        Its output is there from the first byte, in every handle.
        """
        return self._entry

    def processes(self) -> builtins.list[Process]:
        """The programs that run, oldest first.

        In a sandbox that has a daemon (see `create`) these are all that any handle has started,
        besides `entry`; else those of this one.
        """
        self._check_open()
        running = self._machine.programs()
        if running is None:
            return self._roster.running()
        return [self._reattach(one) for one in running if one.exit is None and not one.is_entry]

    def process(self, process_id: str) -> Process:
        """Return a program by its id, with its output from the first byte.

        A sandbox that has a daemon (see `create`) knows all that run and the last 128 that have
        ended; another those that run and those that somebody holds. What another handle has started
        has no `Process.stdin`.

        Raises:
            ProcessNotFoundError: It is not known.
        """
        self._check_open()
        found = self._roster.get(process_id)
        if found is not None:
            return found
        for one in self._machine.programs() or ():
            if one.id == process_id:
                return self._reattach(one)
        raise ProcessNotFoundError(process_id, backend=self.backend)

    def _reattach(self, one: RunningProgram) -> Process:
        found = self._roster.get(one.id)
        if found is not None:
            return found
        raw = self._machine.reattach(one.id)
        started = time.monotonic() - max(0.0, time.time() - one.started_at)
        process = Process(self._machine, raw, one.argv, started=started)
        if one.is_entry:
            self._entry = process
        else:
            self._touches.follow(raw.ending)
            self._roster.add(process)
        return process
