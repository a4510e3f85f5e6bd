"""The interpreter of a session: claimed or started, run, ended when it must be, and replaced."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Backend, LimitEvents, Machine, MachineSpec
from llm_sandbox.const import StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    ContainerGoneError,
    KernelDiedError,
    KernelNotReadyError,
    SandboxError,
    SandboxTimeoutError,
)
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.client import KernelClient, KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer, OutputCallback
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.sandbox.file_service import disk_usage
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.assembly import assemble, claimed_cpu_s
from llm_sandbox.session.attempts import BlockedConnections
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.ended import check_alive, why_ended
from llm_sandbox.session.kernel_setup import KernelSetup
from llm_sandbox.session.lending import KernelHandle, lend_kernel
from llm_sandbox.session.prefork import (
    await_start,
    connect_kernel,
    shared_pool,
    start_kernel,
    wait_for_kernel,
)
from llm_sandbox.session.programs import ProgramRunner, figure_notes
from llm_sandbox.session.workdir_changes import RunFiles, WorkdirChanges
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from llm_sandbox.packages.store import Layer
    from llm_sandbox.sandbox.detached.machine import DetachedMachine
    from llm_sandbox.session.detached import DetachOptions

__all__ = ["KernelSession"]

_CLEAN_ENDS = ("replied", "interrupted", "ended")
_SHORT_S = 0.01
_REPORT_S = 0.5
"""How long the report of a kernel's death by our hand may take."""
_BACKGROUND = "background"
_ANSWER_S = 5.0
_OTHERWISE = "persistent=False runs each piece of code as a program of its own, without a kernel"


class KernelSession:
    """Keeps one machine with one kernel in it.

    Args:
        backend: Where.
        spec: What kind of machine.
        config: The session's settings.
        handler: The language.
        background: Gets what runs put out after they have ended.
        keeping: How the machine outlives this process; None where it does not.
    """

    def __init__(
        self,
        backend: Backend,
        spec: MachineSpec,
        config: SessionConfig,
        handler: AbstractLanguageHandler,
        background: Background,
        keeping: "DetachOptions | None" = None,
    ) -> None:
        self._backend = backend
        self._spec = spec
        self._config = config
        self._handler = handler
        self._background = background
        self._keeping = keeping
        self._kept: DetachedMachine | None = None
        self._noted: dict[str, Any] = {}
        self._lost = ""
        self._setup = KernelSetup(handler, config)
        self._has_kernel = self._setup.has_kernel
        self._programs: ProgramRunner | None = None
        self._is_script = self._setup.is_python and not config.persistent
        self._cold = config.start == "cold"
        self._library_paths: list[str] = []
        self._packages: str | None = None
        """Where the kernel's own packages are; None where its Python has them."""
        self._machine: Machine | None = None
        self._client: KernelClient | None = None
        self._collection: WorkdirChanges | None = None
        self._sandbox: Sandbox | None = None
        self._fresh = True
        self._is_starting = False
        self._events = LimitEvents(0, 0)
        self._claimed_cpu_s: float | None = None
        """CPU seconds of the kernel's runs so far, by its own word; None before the first."""

    def settle(self, sandbox: Sandbox) -> None:
        """Called once, before anything has run: from here on, what runs do to the working directory
        is collected.
        """
        self._collection = WorkdirChanges(sandbox, self._config.limits)
        self._sandbox = sandbox
        is_found = self._keeping is not None and self._keeping.found is not None
        if is_found:
            self._setup.find_brought(self._noted.get("brought"), sandbox)
        elif not self._setup.is_python:
            self._setup.bring(sandbox)
            if self._has_kernel and not self._setup.is_late:
                self.restart()
        if not is_found:
            self.note(has_kernel=self._has_kernel, brought=self._setup.brought)
        if not (self._has_kernel and self._setup.is_python):
            self._programs = ProgramRunner(sandbox, self.machine, self._handler, self._setup)

    def serve(self, config: SessionConfig) -> None:
        """Run by other settings from now on, which ask for the same machine and environment."""
        self._config = config

    def open(self) -> Machine:
        """Claim a ready kernel or start one, and return its machine.

        Raises:
            KernelNotReadyError: Its Python cannot run one, and runs are not each a program.
        """
        if self._keeping is not None:
            return self._open_kept(self._keeping)
        ready = None
        pooled = self._setup.is_python and self._has_kernel and self._backend.pooled
        # What is kept ready for others to come has nothing of this computer's.
        pooled = pooled and not self._spec.mounts
        if pooled and not self._cold:
            self._backend.warm_up(self._spec.network)
            ready = shared_pool().claim(self._backend, self._spec, get_settings().prefork)
        if ready is not None:
            self._machine, self._client = ready
        else:
            self._machine = self._backend.create(self._spec)
            try:
                self._client = self._start_first()
            except BaseException:
                self._machine.destroy()
                raise
        return self._begin(self._machine)

    def _begin(self, machine: Machine) -> Machine:
        if machine.library_path is not None:
            self._library_paths.append(machine.library_path)
        if self._client is not None:
            self._configure()
        return machine

    def _open_kept(self, keeping: "DetachOptions") -> Machine:
        """Have a daemon make the machine, or go on with one that is there."""
        machine = self._machine = self._kept = keeping.machine(
            self._backend, self._spec, self._config
        )
        try:
            claim, raw = machine.claim()
            if keeping.found is None:
                self._client = self._start_first()
                return self._begin(machine)
        except BaseException:
            if keeping.found is None:
                machine.destroy()
            raise
        self._noted = json.loads(claim.state)
        self._has_kernel = bool(self._noted["has_kernel"])
        self._cold = self._cold or bool(self._noted.get("cold"))
        self._library_paths = [str(path) for path in self._noted.get("paths", ())]
        self._lost, self._fresh = claim.lost, False
        if raw is not None:
            self._client = connect_kernel(machine, raw)
            self._client.background = self._background
        return machine

    def note(self, **facts: Any) -> None:
        """Have the daemon remember what whoever attaches to the session must know, if it is kept.

        Args:
            facts: As JSON types; they stand in for those of the same names.
        """
        self._noted |= facts
        if self._kept is not None:
            self._kept.note(json.dumps(self._noted))

    @property
    def noted(self) -> Mapping[str, Any]:
        """What was noted."""
        return self._noted

    def detach(self) -> None:
        """Let go of the kernel and the machine, which live on."""
        assert self._kept is not None
        client, self._client = self._client, None
        settled = client is None or client.settle()
        if client is not None:
            client.close()
        if self._kept.end_reason is None:
            self._kept.leave(settled=settled)

    @property
    def library_variables(self) -> dict[str, str]:
        """The variables by which programs find the libraries: those installed last, which hold all
        before, and those that the machine was made with.
        """
        made_with = self._library_paths[:1] if self.machine.library_path is not None else []
        paths = dict.fromkeys([*self._library_paths[-1:], *made_with])
        return self._setup.library_variables(list(paths))

    def _start_first(self) -> KernelClient | None:
        """Start Python's kernel; None if there is none, and every run is a program of its own, or
        if it is another language's, which `settle` starts.
        """
        if not self._has_kernel or not self._setup.is_python:
            return None
        try:
            client = self._start()
            # Where none is forked, what the image's Python lacks is heard only so.
            sure = self._cold and self._backend.has_containers
            return wait_for_kernel(client) if sure else client
        except KernelNotReadyError as error:
            if self._config.persistent:
                from llm_sandbox.packages.libraries import start_with_packages

                return start_with_packages(
                    self._backend, self.machine, self._start, error, _OTHERWISE
                )
        self._has_kernel = False
        return None

    @property
    def machine(self) -> Machine:
        """The machine; only while open."""
        assert self._machine is not None
        return self._machine

    @property
    def is_alive(self) -> bool:
        """Whether there is a machine, and it has not ended."""
        return self._machine is not None and self._machine.end_reason is None

    def _environment(self) -> dict[str, str]:
        return self._setup.environment(self.machine, self.library_variables)

    def _start(self, packages: str | None = None) -> KernelClient:
        self._packages = packages or self._packages
        environment = {} if self._setup.is_python else self._environment()
        spec = self._setup.spec(self.machine, environment, cold=self._cold, packages=self._packages)
        self._is_starting = self._setup.is_late
        self._claimed_cpu_s = None
        return start_kernel(self.machine, spec)

    def _configure(self) -> None:
        assert self._client is not None
        self._client.background = self._background
        self._background.forget_processes()
        limits = self._config.limits
        self._client.configure(
            environment=self._environment(),
            library_paths=self._library_paths,
            output_bytes=limits.output_bytes,
            display_bytes=limits.display_bytes,
            script=self._is_script,
            offline=self._config.network == "blocked",
        )
        self._fresh = True

    def update_limits(self, limits: Limits) -> None:
        """Take over the limits that the machine has now."""
        before = self._config.limits
        self._config = replace(self._config, limits=limits)
        if self._collection is not None:
            self._collection.limits = limits
        if self._client is not None:
            # The process limit is less by what a sandbox of its own is held to besides.
            self._client.configure(
                more_memory=limits.memory_bytes - before.memory_bytes,
                output_bytes=limits.output_bytes,
                display_bytes=limits.display_bytes,
            )

    # --- running

    def run(
        self,
        code: str,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        on_output: OutputCallback | None,
        stop: Stop | None = None,
        argv: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code to whatever end; see `BaseSession.run`.

        `stop` may be asked by any thread, at any time from before the call; there is no other way
        into a run from outside.

        Raises:
            ContainerGoneError: The machine had ended before.
        """
        started = time.perf_counter()
        check_alive(self.machine, self._config.session_timeout)
        is_program = self._programs is not None and self._is_program(code)
        if not is_program:
            self._setup.check_argv(argv, self._backend.name)
        plots = self._setup.is_python and self._config.enable_plotting
        stale = not self._config.persistent and not self._fresh
        earlier = () if is_program or stale else self._replace_dead()
        if not is_program and (self._client is None or stale):
            self.restart()
        if not is_program and self._is_starting and self._client is not None:
            deadline = await_start(self._client, deadline, stop)
            self._is_starting = False
        if self._collection is not None:
            self._collection.before(deadline)
        attempts = BlockedConnections(self._sandbox)
        prepared = time.perf_counter()
        collector = OutputBuffer(self._config.limits, on_output)
        self._background.begin_run()
        self._fresh = False
        earlier_cpu_s = self._claimed_cpu_s
        programs = self._programs if is_program else None
        run = self._execute(code, collector, deadline, stdin, stop, programs, argv)
        executed = time.perf_counter()
        events = self._limit_events() if executed - prepared > _SHORT_S else LimitEvents()
        state, notes = self._recover(run)
        if earlier and state is StateOutcome.KEPT:
            state = StateOutcome.RESET
        recovered = time.perf_counter()
        collection = self._collection
        left = collection.after(deadline) if collection is not None else RunFiles()
        is_file = self._is_script or bool(argv)
        if self._sandbox is not None and is_file and run.end not in _CLEAN_ENDS:
            left = left.without_script(self._sandbox, code, argv[0] if argv else None)
        collected = time.perf_counter()
        assert self._sandbox is not None
        result = assemble(
            run,
            collector,
            state=state,
            spec=self.machine.spec,
            isolation=self.machine.isolation,
            attempts=attempts,
            events=events,
            measure=partial(disk_usage, self._sandbox),
            expired=self.machine.end_reason == "deadline",
            earlier_cpu_s=None if is_program else earlier_cpu_s,
            phases={
                "prepare": prepared - started,
                "execute": executed - prepared,
                "recover": recovered - executed,
                "collect": collected - recovered,
            },
            wall_s=time.perf_counter() - started,
            plotting=self._config.enable_plotting,
            files=left.files,
            deleted=left.deleted,
            notes=(
                *earlier,
                *notes,
                *left.notes,
                *self._background.notes(shared_pipes=run.shared_pipes),
                *(figure_notes(code) if is_program and plots else ()),
            ),
        )
        if collector.callback_error is not None:
            error = collector.callback_error
            error.add_note(f"raised by a callback of run(); the code itself ended as {result!r}")
            raise error
        return result

    def _limit_events(self) -> LimitEvents:
        """What the kernel has enforced since this was last asked.

        No limit is met in a few milliseconds of use, so that short runs need not ask.
        """
        before = self._events
        try:
            self._events = now = self.machine.limit_events()
        except SandboxError:
            return LimitEvents()
        return now.since(before)

    def hear_background(self) -> None:
        """Take in all that runs have put out since they ended.

        Raises:
            ContainerGoneError: The machine has ended.
        """
        check_alive(self.machine, self._config.session_timeout)
        if self._client is None:
            return
        # An interpreter that answers has sent what it held.
        run = self._client.call(_BACKGROUND, {}, deadline=Deadline.after(_ANSWER_S))
        self._recover(run)

    def _execute(
        self,
        code: str,
        collector: OutputBuffer,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        stop: Stop | None,
        programs: ProgramRunner | None,
        argv: Sequence[str],
    ) -> KernelRun:
        if programs is not None:
            return programs.run(
                code,
                collector,
                deadline=deadline,
                env=self._config.program_environment(),
                library_paths=self._library_paths[-1:],
                argv=argv,
                stdin=stdin,
                stop=stop,
            )
        assert self._client is not None
        if argv:
            self._client.configure(argv=list(argv))
        try:
            return self._client.execute(code, collector, deadline=deadline, stdin=stdin, stop=stop)
        except BaseException:
            if self._client.is_lost:
                self._end_client(kill=True)
            raise

    def _is_program(self, code: str) -> bool:
        return not self._has_kernel or self._handler.is_program(code)

    def call(
        self,
        service: str,
        arguments: dict[str, Any],
        buffers: Sequence[bytes] = (),
        *,
        deadline: Deadline,
        stop: Stop | None = None,
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Have the interpreter do something besides running code; see `KernelClient.call`.

        Returns:
            The reply and its buffers.

        Raises:
            SandboxTimeoutError: The time was up.
            KernelDiedError: The interpreter ended, or was stopped, instead of answering.
            ContainerGoneError: The machine had ended before.
            UnsupportedError: There is no interpreter, because every run is a program of its own.
        """
        check_alive(self.machine, self._config.session_timeout)
        self._setup.check_variables(self._backend.name, has_kernel=self._has_kernel)
        if self._client is None:
            self.restart()
        assert self._client is not None
        try:
            run = self._client.call(service, arguments, buffers, deadline=deadline, stop=stop)
        except BaseException:
            if self._client.is_lost:
                self._end_client(kill=True)
            raise
        _, notes = self._recover(run)
        if run.end == "replied":
            return run.reply, run.buffers
        if run.late:
            raise SandboxTimeoutError(
                " ".join(("the interpreter did not answer in time.", *notes)), op=service
            )
        raise KernelDiedError(
            " ".join(("the interpreter ended, or was stopped, before it answered.", *notes)),
            op=service,
        )

    def _recover(self, run: KernelRun) -> tuple[StateOutcome, tuple[str, ...]]:
        """After a run: replace the interpreter if it did not survive, and say what that means."""
        if run.end == "interrupted" and self._client is not None:
            # What the code started must not outlive it, nor write into a later run's output.
            with contextlib.suppress(SandboxError):
                self.machine.kill(self._client.id, children_only=True)
        if run.end in ("replied", "interrupted"):
            self._claimed_cpu_s = (self._claimed_cpu_s or 0.0) + claimed_cpu_s(run)
            kept = StateOutcome.KEPT if self._config.persistent else StateOutcome.RESET
            return kept, ()
        if run.end == "ended" and self.machine.end_reason is None:
            # A whole program beside the interpreter, which it has not touched, or without one.
            return (StateOutcome.KEPT if self._has_kernel else StateOutcome.RESET), ()
        client = self._client
        trouble = self._end_client(kill=run.end != "died")
        if client is not None and run.exit is None and self.machine.end_reason is None:
            run.killed = client.await_exit(_REPORT_S)
        try:
            if self.machine.end_reason is not None:
                raise ContainerGoneError("the sandbox has ended")
            self.machine.sweep()
            self._client = self._start()
            self._configure()
        except SandboxError:
            why = why_ended(self.machine.end_reason, trouble)
            return StateOutcome.LOST, (f"The sandbox has ended: {why}.",)
        if not self._config.persistent:
            return StateOutcome.RESET, ()
        return StateOutcome.RESET, (
            "The interpreter was restarted: variables are gone, files are still there.",
        )

    def _replace_dead(self) -> tuple[str, ...]:
        """If the interpreter has ended since the last run, start another one, and say so."""
        how, self._lost = self._lost, ""
        ended = None if self._client is None or self._is_starting else self._client.ended_idle()
        if ended is None and not how:
            return ()
        self._end_client(kill=False)
        self.machine.sweep()
        self.restart()
        if not self._config.persistent:
            return ()
        if ended is not None:
            how = ended.words
        note = (
            f"The interpreter had ended before this run ({how}) and was started again: variables "
            "of earlier runs are gone, files are still there."
        )
        return (note,)

    def restart(self) -> None:
        """Replace the kernel by a fresh one in the same machine."""
        check_alive(self.machine, self._config.session_timeout)
        if not self._has_kernel:
            return
        self._end_client(kill=True)
        self._client = self._start()
        self._configure()

    def lend(self) -> KernelHandle:
        """Hand the kernel to somebody who speaks to it himself; `restart` makes another."""
        if self._client is None:
            self.restart()
        client, self._client = self._client, None
        return lend_kernel(client, self.machine)

    def add_libraries(self, layer: "Layer") -> None:
        """Make a layer importable; an interpreter that may have loaded what it replaces is replaced
        itself.
        """
        self._library_paths.append(layer.guest_path)
        self.note(paths=self._library_paths)
        if self._client is None:
            return
        if layer.shadows:
            self._cold = True
            self.restart()
            self.note(cold=True)
        else:
            self._configure_libraries()

    def _configure_libraries(self) -> None:
        assert self._client is not None
        self._client.configure(environment=self._environment(), library_paths=self._library_paths)

    def _end_client(self, *, kill: bool) -> str | None:
        """Let go of the kernel; returns why it could not be killed alone."""
        client, self._client = self._client, None
        if client is None:
            return None
        trouble = None
        if kill and self.machine.end_reason is None:
            # If the machine has ended, the kernel has with it.
            try:
                self.machine.kill(client.id)
            except SandboxError as error:
                trouble = error.message
        client.close()
        return trouble

    def close(self) -> None:
        """End the kernel and the machine."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
        self._setup.take_away()
        if self._machine is not None:
            self._machine.destroy()
