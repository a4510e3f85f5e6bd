"""A session's machine: opened and closed, commands run in it, files copied in and out.

States::

    new --open()--> open --close()--> closed        (a with block does both)
                     ^------open()------'
"""

import contextlib
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from llm_sandbox.backends.base import Backend, Isolation, MachineSpec
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.data import ProcessResult, StreamCallback
from llm_sandbox.exceptions import (
    CommandEmptyError,
    LibraryInstallationNotSupportedError,
    NotOpenSessionError,
    SessionBusyError,
    SessionClosedError,
    SessionExpiredError,
    ToolchainNotFoundError,
    UnsupportedError,
)
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline, validate_timeout
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.network import machine_network
from llm_sandbox.session.commands import check_command, check_entry, run_command
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.copying import Source, copy_in
from llm_sandbox.session.guard import Guard
from llm_sandbox.session.history import History
from llm_sandbox.session.kernel_session import KernelSession
from llm_sandbox.session.lock import SessionLock
from llm_sandbox.session.recorder import Recorder

if TYPE_CHECKING:
    from llm_sandbox.packages.libraries import Libraries
    from llm_sandbox.session.detached import DetachOptions
    from llm_sandbox.telemetry import RunObserver

__all__ = ["MachineSession"]

logger = logging.getLogger("llm_sandbox")

_STOP_S = 3.0
_FIND = 'for name; do command -v "$name" >/dev/null && echo "$name"; done; true'


class MachineSession:
    """The part of a session that is its machine; `BaseSession` is the whole.

    Args:
        config: What was asked for.
        backend: Where the sandbox is made.
        reason: Why this backend, for `verbose` and for people.
        handler: The language.
        keeping: How it outlives this process; None where it does not.
    """

    def __init__(
        self,
        config: SessionConfig,
        backend: Backend,
        reason: str,
        handler: AbstractLanguageHandler,
        keeping: "DetachOptions | None" = None,
    ) -> None:
        self.config = config
        self.language_handler = handler
        self.backend_reason = reason
        self._backend = backend
        self._keeping = keeping
        self._lock = SessionLock(config.busy)
        self._stop: Stop | None = None
        self._closing = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._interpreter: KernelSession | None = None
        self._libraries: Libraries | None = None
        self._committed: str | None = None
        self._history = History()
        self._background = Background(config.limits)
        self._guard = Guard(config.security_policy, handler)
        self._records = Recorder(backend.name, handler.name, config.observers)
        self._closed = False
        self._let_go = ""
        if config.verbose and not logging.getLogger().handlers and not logger.handlers:
            logger.addHandler(logging.StreamHandler(sys.stderr))
            logger.setLevel(logging.INFO)

    # --- life

    def open(self) -> None:
        """Make the sandbox and its interpreter. Opening an open session does nothing.

        One that was closed, or whose sandbox has ended, gets a new sandbox: of what was there, its
        `history` alone is left.

        Raises:
            BackendUnavailableError: The backend does not work on this machine.
            SecurityViolationError: The security policy refuses one of its libraries.
        """
        if self.is_open:
            return
        if self._let_go or (self._closed and self._keeping is not None and self._keeping.found):
            raise SessionClosedError(
                op="open", hint=f"attach_session({self.name or 'its id'!r}) finds it while it lives"
            )
        if self._sandbox is not None:
            self.close()
        self._closed = False
        self._guard.warm_up()
        found = self._keeping is not None and self._keeping.found is not None
        libraries = () if found else self.config.libraries
        if libraries:
            with self._records.watch("install", None, libraries, libraries) as told:
                self._guard.admit_libraries(libraries)
                told.withdraw()
        self._log("opening a %s sandbox: %s", self._backend.name, self.backend_reason)
        config = self.config
        spec = MachineSpec(
            workdir=config.workdir,
            limits=config.limits,
            network=machine_network(config.network),
            mounts=config.mounts,
            for_kernel=config.start == "warm" and config.lang == SupportedLanguage.PYTHON,
        )
        interpreter = KernelSession(
            self._backend, spec, config, self.language_handler, self._background, self._keeping
        )
        machine = interpreter.open()
        try:
            if config.session_timeout is not None and self._keeping is None:
                machine.set_deadline(config.session_timeout)
            self._sandbox = Sandbox.from_machine(
                machine, config.env, config.secrets, network=config.network
            )
            self._interpreter = interpreter
            if not found:
                self._check_toolchain(self._sandbox)
            interpreter.settle(self._sandbox)
            if found:
                self._find_libraries(interpreter)
            elif libraries:
                self.install(list(libraries))
        except BaseException:
            made, self._sandbox, self._interpreter = self._sandbox, None, None
            if found:
                interpreter.detach()
                raise
            interpreter.close()
            if made is not None:
                made.destroy()
            raise

    def _find_libraries(self, interpreter: KernelSession) -> None:
        """Go on with what was installed before this handle."""
        specs = interpreter.noted.get("specs")
        if specs:
            self._ready_libraries(interpreter).restore(specs)
        self.sandbox.update_env(interpreter.library_variables)

    def _ready_libraries(self, interpreter: KernelSession) -> "Libraries":
        if self._libraries is None:
            from llm_sandbox.packages.libraries import Libraries

            self._libraries = Libraries(
                self._backend, self.language_handler, interpreter.machine, self.sandbox.files
            )
        return self._libraries

    def _take_over(self, ready: "MachineSession") -> None:
        """Go on in the open sandbox of a session that has run nothing and loses it; what made the
        sandbox is the same for both.
        """
        assert ready._interpreter is not None
        self._guard.warm_up()
        self._sandbox, ready._sandbox = ready._sandbox, None
        self._interpreter, ready._interpreter = ready._interpreter, None
        self._libraries, self._background = ready._libraries, ready._background
        self._interpreter.serve(self.config)
        self._closed = False
        if self.config.session_timeout is not None:
            self._interpreter.machine.set_deadline(self.config.session_timeout)

    def _check_toolchain(self, sandbox: Sandbox) -> None:
        """Refuse a sandbox with programs of its own that has not those of the language."""
        needs = self.language_handler.toolchain
        if needs is None or self._backend.search_path:
            return  # none, or the choice of the backend has looked
        found = sandbox.exec("sh", "-c", _FIND, "sh", *needs.programs).collect().stdout.split()
        missing = [name for name in needs.programs if name not in found]
        if missing:
            lang = self.language_handler.name
            raise ToolchainNotFoundError(
                lang,
                missing,
                "in the sandbox's PATH",
                backend=self._backend.name,
                hint=f"use an image that has it, such as ours: llm-sandbox images build {lang}; "
                f"on Debian: apt-get install {' '.join(needs.packages)}",
            )

    def close(self) -> None:
        """End the sandbox and everything in it. Closing twice does nothing.

        Code that runs is stopped first, as by `interrupt`. When a callback of that run closes the
        session, or a task that a callback has started, the session ends as soon as the run does.
        """
        self._closed = True
        stop = self._stop
        if stop is None or not stop.ask():
            self._take_down()
            return
        if self._lock.is_held_by_caller():
            return  # the run ends, and takes down what it still reads
        try:
            with self._lock.hold(_STOP_S, busy="wait", first=True):
                self._take_down()
        except SessionBusyError:
            sandbox = self._sandbox
            if sandbox is not None:
                sandbox.destroy()

    @contextlib.contextmanager
    def _running(self, patience_s: float | None) -> Iterator[Stop]:
        """Have the session to oneself for something that can be stopped."""
        with self._lock.hold(patience_s):
            try:
                with Stop() as self._stop:
                    yield self._stop
            finally:
                if self._closed:
                    self._take_down()

    def _take_down(self) -> None:
        with self._closing:
            interpreter, self._interpreter = self._interpreter, None
            sandbox, self._sandbox = self._sandbox, None
            libraries, self._libraries = self._libraries, None
        try:
            if interpreter is not None and sandbox is not None:
                self._committed = self._commit(interpreter, sandbox, libraries)
        finally:
            if interpreter is not None:
                interpreter.close()
            if sandbox is not None:
                sandbox.destroy()
                self._log("closed")

    def detach(self) -> None:
        """Let go of a session that is kept, which lives on; this handle is closed. May be called
        twice.

        It then lives until its `session_timeout`, its `idle_timeout`, or until somebody attaches
        and closes it; see `attach_session`. What runs have left running goes on; what that prints
        waits, and holds it up when there is much of it.

        Raises:
            UnsupportedError: It lives in this process only: it was made without a name, an
                `idle_timeout` and ``on_exit="keep"``.
            SessionBusyError: Another thread is running code in it.
        """
        if self._keeping is None:
            raise UnsupportedError(
                "detach()",
                self.backend,
                "this session lives in the process that made it",
                hint="create it with a name or on_exit='keep'",
            )
        if self._closed:
            return
        _ = self.sandbox
        with self._lock.hold():
            self._closed = True
            self._let_go = self.name or self.sandbox.id
            interpreter, self._interpreter = self._interpreter, None
            sandbox, self._sandbox = self._sandbox, None
            assert interpreter is not None
            assert sandbox is not None
            try:
                interpreter.detach()
            finally:
                sandbox.detach()
                self._log("let go of session %s", self._let_go)

    def _commit(
        self, interpreter: KernelSession, sandbox: Sandbox, libraries: "Libraries | None"
    ) -> str | None:
        """Save the container as an image if that was asked for; returns its name."""
        options = getattr(self._backend, "options", None)
        if options is None or not options.commit_container:
            return None
        if sandbox.end_reason is not None:
            logger.warning("the sandbox has ended before it could be saved: %s", sandbox.end_reason)
            return None
        name = options.commit_image_tag or f"llm-sandbox/committed:{sandbox.id}"
        site = libraries.folder if libraries is not None else None
        return interpreter.machine.snapshot(sandbox.files.archive(), name, site).name

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if self._keeping is not None and self._keeping.lets_go and self.is_open:
            self.detach()
        else:
            self.close()

    @property
    def is_open(self) -> bool:
        """Whether code can be run: it was opened, and its sandbox has not ended."""
        return not self._closed and self._interpreter is not None and self._interpreter.is_alive

    @property
    def name(self) -> str | None:
        """The name that it is found by; None without one."""
        return None if self._keeping is None else self._keeping.name

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._backend.name

    @property
    def committed_image(self) -> str | None:
        """Name of the image that the container was saved as when the session was closed; None
        before that, and without ``commit_container=True``.
        """
        return self._committed

    @property
    def isolation(self) -> Isolation:
        """What holds the sandbox, resource by resource.

        Raises:
            NotOpenSessionError: The session is not open.
        """
        return self.sandbox.isolation

    @property
    def sandbox(self) -> Sandbox:
        """The machine that the interpreter is in.

        Raises:
            NotOpenSessionError: The session is not open.
            SessionClosedError: It was closed.
            SessionExpiredError: Its `session_timeout` is over.
        """
        if self._sandbox is None or self._closed:
            if self._let_go:
                raise SessionClosedError(
                    "this handle has let go of the session",
                    hint=f"attach_session({self._let_go!r})",
                )
            raise SessionClosedError() if self._closed else NotOpenSessionError()
        if self._interpreter is not None and self._sandbox.end_reason == "deadline":
            raise SessionExpiredError(self.config.session_timeout, backend=self.backend)
        return self._sandbox

    def install(self, libraries: list[str] | None = None) -> None:
        """Install libraries for this session, now; waits for code that another thread runs.

        Raises:
            LibraryInstallationError: One could not be installed; it has the installer's words.
            LibraryInstallationNotSupportedError: The language has nothing that installs libraries,
                or the session was made with ``skip_environment_setup=True``.
            ValidationError: A name is not a plain requirement.
            SecurityViolationError: The security policy refuses one; none was fetched.
        """
        if libraries:
            watch = self._records.watch("install", self._sandbox, libraries, libraries)
            with watch, self._lock.hold():
                self._open_interpreter()
                self._install(libraries)

    def _install(self, libraries: Sequence[str]) -> None:
        assert self._interpreter is not None
        if self.config.skip_environment_setup:
            raise LibraryInstallationNotSupportedError(
                self.language_handler.name,
                hint="the session was made with skip_environment_setup=True",
            )
        self._guard.admit_libraries(libraries)
        wanted = self._ready_libraries(self._interpreter)
        added = wanted.add(libraries)
        if added:
            self._interpreter.add_libraries(added)
            self._interpreter.note(specs=wanted.specs)
            self.sandbox.update_env(self._interpreter.library_variables)

    def _open_interpreter(self) -> KernelSession:
        _ = self.sandbox
        assert self._interpreter is not None
        return self._interpreter

    # --- commands

    def execute_command(
        self,
        command: str | Sequence[str],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
        *,
        timeout: float | None = None,
    ) -> ProcessResult:
        """Run a command in the sandbox.

        Args:
            command: A line for the shell, or a program and its arguments.
            workdir: Directory to run it in; default: the session's.
            on_stdout: Called with each piece of standard output as it arrives.
            on_stderr: Called with each piece of standard error as it arrives.
            timeout: Seconds until it is killed; default: the session's `default_timeout`.

        Returns:
            Its exit code and streams.

        Raises:
            CommandEmptyError: There is no command.
            ValidationError: It is neither a line nor words.
            LaunchError: The program or directory does not exist.
            SandboxTimeoutError: The time was up; its `result` holds the output until then.
            SecurityViolationError: The security policy refuses it; it was not started.
        """
        with self._records.watch("command", self._sandbox, command) as told:
            check_command(command)
            timeout = validate_timeout(timeout, "timeout")
            limit = timeout if timeout is not None else self.config.default_timeout
            self._guard.admit_command(command, Deadline.after(limit))
            return told.ended(
                run_command(self.sandbox, command, workdir, limit, on_stdout, on_stderr)
            )

    def execute_commands(
        self,
        commands: Sequence[str | tuple[str, str | None]],
        workdir: str | None = None,
        on_stdout: StreamCallback | None = None,
        on_stderr: StreamCallback | None = None,
    ) -> ProcessResult:
        """Run commands one after another until one fails.

        Args:
            commands: Lines for the shell, each alone or with a directory of its own.
            workdir: Directory for those without one.
            on_stdout: As in `execute_command`.
            on_stderr: As in `execute_command`.

        Returns:
            The result of the first that failed, or of the last.
        """
        if not commands:
            raise CommandEmptyError()
        # All of them first: nothing of what is refused in part is run.
        entries = [check_entry(entry) for entry in commands]
        for line, _ in entries:
            with self._records.watch("command", self._sandbox, line) as told:
                self._guard.admit_command(line)
                told.withdraw()
        for line, folder in entries:
            result = self.execute_command(line, folder or workdir, on_stdout, on_stderr)
            if result.exit_code != 0:
                break
        return result

    # --- observers

    def add_observer(self, observer: "RunObserver") -> None:
        """Call `observer` with a `RunRecord` after each run, command and installation from now on.

        Observers are called in the thread of the run, in the order in which they were added; what
        one raises is logged once and disturbs nothing. What is done to `sandbox` itself, and
        through a lent kernel, is not recorded.

        Raises:
            ValidationError: It cannot be called, or is a coroutine function.
        """
        self._records.add(observer)

    def remove_observer(self, observer: "RunObserver") -> None:
        """Do not call `observer` any more; one that was added twice is still called once.

        Raises:
            ValidationError: It is no observer of this session.
        """
        self._records.remove(observer)

    # --- files

    def copy_to_runtime(self, src: Source, dest: str) -> None:
        """Copy a file or directory of the host, or bytes, into the sandbox.

        Args:
            src: Path on the host; or bytes, or a file that is open for reading them.
            dest: Path in the sandbox; a relative one is below the working directory. Into a folder,
                or what ends with ``/``, a file is copied by its own name. A directory becomes
                `dest`, over what is there.

        Raises:
            SandboxPermissionError: It cannot be written there; the hint names where it can.
            ValidationError: `src` is none of these, or has no name and `dest` is a folder.
        """
        copy_in(self.sandbox.files, src, dest)

    def copy_from_runtime(self, src: str, dest: str | Path) -> None:
        """Copy a file or directory of the sandbox to the host, without following links.

        Args:
            src: Path in the sandbox; a relative one is below the working directory.
            dest: Path on the host; folders on the way to it that are missing are made.
        """
        files = self.sandbox.files
        files.stat(src)  # nothing is made for what is not there
        Path(dest).absolute().parent.mkdir(parents=True, exist_ok=True)
        files.download(src, dest)

    def get_archive(self, path: str) -> tuple[bytes, dict[str, object]]:
        """Return a file or directory of the sandbox as a tar archive, with a description of it."""
        entry = self.sandbox.files.stat(path)
        facts: dict[str, object] = {"name": entry.name, "size": entry.size, "mode": entry.mode}
        return self.sandbox.files.archive(path), facts

    def _log(self, message: str, *values: object) -> None:
        logger.log(logging.INFO if self.config.verbose else logging.DEBUG, message, *values)

    def __repr__(self) -> str:
        is_new = self._sandbox is None and not self._closed
        state = "open" if self.is_open else "new" if is_new else "closed"
        return f"<{type(self).__name__} {self.config.lang} on {self.backend}, {state}>"
