"""Execution of a session's code: by its kernel or as programs, from request to result."""

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
    SandboxError,
    SandboxTimeoutError,
)
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.client import KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer, OutputCallback
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.sandbox.file_service import disk_usage
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.assembly import assemble
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.hints import BlockedConnections
from llm_sandbox.session.kernel_process import (
    KernelHandle,
    KernelProcess,
    KernelState,
    check_alive,
)
from llm_sandbox.session.kernel_setup import KernelSetup, connect_kernel
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.session.programs import ProgramRunner, figure_notes
from llm_sandbox.session.workdir_changes import WorkdirChanges
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from llm_sandbox.packages.store import Layer
    from llm_sandbox.sandbox.detached.machine import DetachedMachine
    from llm_sandbox.session.detached import DetachOptions

__all__ = ["KernelSession"]

_CLEAN_ENDS = ("replied", "interrupted", "ended")
_SHORT_S = 0.01
_BACKGROUND = "background"
_ANSWER_S = 5.0


class KernelSession:
    """Machine of a session, and the kernel or the programs that run its code.

    Args:
        backend: The session's backend.
        spec: Specification of the machine.
        config: The session's settings.
        handler: The language.
        background: Receiver of the output of ended runs.
        detach_options: Options of a detached session; None for a session of this process.
    """

    def __init__(
        self,
        backend: Backend,
        spec: MachineSpec,
        config: SessionConfig,
        handler: AbstractLanguageHandler,
        background: Background,
        detach_options: "DetachOptions | None" = None,
    ) -> None:
        self._backend = backend
        self._spec = spec
        self._config = config
        self._handler = handler
        self._background = background
        self._detach_options = detach_options
        self._detached: DetachedMachine | None = None
        self._notes: dict[str, Any] = {}
        self._lost = ""
        """Exit of a detached session's kernel since its last run; empty if it lives."""
        self._setup = KernelSetup(handler, config)
        self._kernel = KernelProcess(self._setup, config, background)
        self._machine: Machine | None = None
        self._sandbox: Sandbox | None = None
        self._changes: WorkdirChanges | None = None
        self._programs: ProgramRunner | None = None
        self._events = LimitEvents(0, 0)

    # --- life

    def open(self) -> Machine:
        """Claim a ready kernel or start one, and return its machine.

        Raises:
            KernelNotReadyError: The machine's Python cannot run one, and the session keeps
                variables.
        """
        if self._detach_options is not None:
            return self._open_detached(self._detach_options)
        ready = None
        pooled = self._setup.is_python and self._backend.pooled
        # Pooled machines, made ahead for any session, have no mounts of the host.
        pooled = pooled and not self._spec.mounts
        if pooled and not self._kernel.is_cold:
            self._backend.warm_up(self._spec.network)
            ready = shared_pool().claim(self._backend, self._spec, get_settings().prefork)
        if ready is not None:
            self._use_machine(ready[0])
            self._kernel.adopt(ready[1])
            return ready[0]
        machine = self._backend.create(self._spec)
        try:
            self._use_machine(machine)
            self._start_first()
        except BaseException:
            machine.destroy()
            raise
        return machine

    def _use_machine(self, machine: Machine) -> None:
        self._machine = self._kernel.machine = machine
        if machine.library_path is not None:
            self._kernel.library_paths.append(machine.library_path)

    def _start_first(self) -> None:
        """Start Python's kernel; another language's is started by `attach`."""
        if self._setup.is_python:
            self._kernel.start_first(self._backend)

    def _open_detached(self, options: "DetachOptions") -> Machine:
        """Let a sandbox daemon create the machine, or continue with an existing one."""
        machine = options.machine(self._backend, self._spec, self._config)
        self._detached = machine
        is_new = options.found is None
        try:
            claim, raw = machine.claim()
            if is_new:
                self._use_machine(machine)
                self._start_first()
                return machine
        except BaseException:
            if is_new:
                machine.destroy()
            raise
        self._machine = self._kernel.machine = machine
        if not claim.state:
            raise ContainerGoneError(
                "the session is incomplete: the process that made it was killed meanwhile",
                hint=f"end it: Sandbox.attach({machine.id!r}).terminate()",
            )
        self._notes = json.loads(claim.state)
        if not self._notes["has_kernel"]:
            self._kernel.state = KernelState.NONE
        self._kernel.is_cold = self._kernel.is_cold or bool(self._notes.get("cold"))
        self._kernel.library_paths = [str(path) for path in self._notes.get("paths", ())]
        self._lost = claim.lost
        if raw is not None:
            self._kernel.reattach(connect_kernel(machine, raw))
        return machine

    def attach(self, sandbox: Sandbox) -> None:
        """Attach the sandbox of the machine, once, before anything runs in it.

        From here on the changes of runs in the working directory are collected.
        """
        self._changes = WorkdirChanges(sandbox, self._config.limits)
        self._sandbox = sandbox
        if self._detach_options is not None and self._detach_options.found is not None:
            self._setup.restore_shim(self._notes.get("brought"), sandbox)
        else:
            if not self._setup.is_python:
                self._setup.upload_shim(sandbox)
                if self.has_kernel and not self._setup.starts_late:
                    self.restart()
            else:
                self._kernel.update_environment()
            self.note(has_kernel=self.has_kernel, brought=self._setup.uploaded_shim)
        if not (self.has_kernel and self._setup.is_python):
            self._programs = ProgramRunner(sandbox, self.machine, self._handler, self._setup)

    def use_config(self, config: SessionConfig) -> None:
        """Run by other settings from now on, which need the same machine and environment."""
        self._config = self._kernel.config = config

    @property
    def machine(self) -> Machine:
        """The machine; only while open."""
        assert self._machine is not None
        return self._machine

    @property
    def is_alive(self) -> bool:
        """Whether there is a machine, and it has not ended."""
        return self._machine is not None and self._machine.end_reason is None

    @property
    def is_lost(self) -> bool:
        """Whether its kernel has ended by itself; the next run would start another one."""
        client = self._kernel.client
        return client is not None and client.exit is not None

    @property
    def has_kernel(self) -> bool:
        """Whether code is run by a kernel; if not, each run is a program of its own."""
        return self._kernel.state is not KernelState.NONE

    def detach(self) -> None:
        """Disconnect from the kernel and the machine, which live on."""
        assert self._detached is not None
        settled = self._kernel.detach()
        if self._detached.end_reason is None:
            self._detached.leave(settled=settled)

    def close(self) -> None:
        """End the kernel and the machine."""
        self._kernel.close()
        self._setup.remove_shim()
        if self._machine is not None:
            self._machine.destroy()

    # --- notes for processes that attach later

    @property
    def notes(self) -> Mapping[str, Any]:
        """The notes of a detached session, as JSON types."""
        return self._notes

    def note(self, **notes: Any) -> None:
        """Store notes with the sandbox daemon, if there is one, for processes that attach later.

        Args:
            notes: JSON types; they replace those of the same names.
        """
        self._notes |= notes
        if self._detached is not None:
            self._detached.note(json.dumps(self._notes))

    # --- settings

    @property
    def library_variables(self) -> dict[str, str]:
        """The variables by which programs find the libraries."""
        return self._kernel.library_variables

    def update_limits(self, limits: Limits) -> None:
        """Adopt the limits that the machine has now."""
        before = self._config.limits
        self.use_config(replace(self._config, limits=limits))
        if self._changes is not None:
            self._changes.limits = limits
        self._kernel.update_limits(before, limits)

    def add_libraries(self, layer: "Layer") -> None:
        """Make a layer importable; a kernel that may have loaded other versions is replaced."""
        replaces = bool(layer.shadows)
        self._kernel.add_library_path(layer.guest_path, fresh=replaces)
        self.note(paths=self._kernel.library_paths, **({"cold": True} if replaces else {}))

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
        """Run code and return its result, however it ended; see `BaseSession.run`.

        `stop` may be asked by any thread at any time; it is the only way to end a run from outside.

        Raises:
            ContainerGoneError: The machine had ended before.
        """
        started = time.perf_counter()
        check_alive(self.machine, self._config.session_timeout)
        programs = self._programs if self._is_program(code) else None
        restarted: tuple[str, ...] = ()
        if programs is None:
            self._setup.check_argv(argv, self._backend.name)
            restarted = self._prepare_kernel()
            deadline = self._kernel.await_start(deadline, stop)
        assert self._sandbox is not None
        assert self._changes is not None
        self._changes.before_run(deadline)
        connections = BlockedConnections(self._sandbox)
        prepared = time.perf_counter()
        collector = OutputBuffer(self._config.limits, on_output)
        self._background.begin_run()
        earlier_cpu_s = None if programs is not None else self._kernel.claimed_cpu_s
        if programs is not None:
            run = programs.run(
                code,
                collector,
                deadline=deadline,
                env=self._config.program_environment(),
                library_paths=self._kernel.library_paths[-1:],
                argv=argv,
                stdin=stdin,
                stop=stop,
            )
        else:
            run = self._kernel.execute(
                code, collector, deadline=deadline, stdin=stdin, stop=stop, argv=argv
            )
        executed = time.perf_counter()
        events = self._limit_events() if executed - prepared > _SHORT_S else LimitEvents()
        state, notes = self._recover(run)
        if restarted and state is StateOutcome.KEPT:
            state = StateOutcome.RESET
        recovered = time.perf_counter()
        changes = self._changes.after_run(deadline)
        is_script = self._setup.is_python and not self._config.persistent
        if (is_script or argv) and run.end not in _CLEAN_ENDS:
            changes = changes.without_script(self._sandbox, code, argv[0] if argv else None)
        collected = time.perf_counter()
        plotting = self._config.enable_plotting
        draws_unseen = programs is not None and self._setup.is_python and plotting
        result = assemble(
            run,
            collector,
            state=state,
            spec=self.machine.spec,
            isolation=self.machine.isolation,
            connections=connections,
            events=events,
            measure=partial(disk_usage, self._sandbox),
            expired=self.machine.end_reason == "deadline",
            earlier_cpu_s=earlier_cpu_s,
            phases={
                "prepare": prepared - started,
                "execute": executed - prepared,
                "recover": recovered - executed,
                "collect": collected - recovered,
            },
            wall_s=time.perf_counter() - started,
            plotting=plotting,
            files=changes.files,
            deleted=changes.deleted,
            notes=(
                *restarted,
                *notes,
                *changes.notes,
                *self._background.notes(shared_pipes=run.shared_pipes),
                *(figure_notes(code) if draws_unseen else ()),
            ),
        )
        if collector.callback_error is not None:
            error = collector.callback_error
            error.add_note(f"raised by a callback of run(); the code itself ended as {result!r}")
            raise error
        return result

    def _is_program(self, code: str) -> bool:
        return self._programs is not None and (
            not self.has_kernel or self._handler.is_program(code)
        )

    def _prepare_kernel(self) -> tuple[str, ...]:
        """Start a kernel where the next run needs another one.

        Returns:
            The notes of the run: whether the kernel had ended since the last one.
        """
        used = self._kernel.state is KernelState.USED
        if used and not self._config.persistent:
            self.restart()
            return ()
        restarted = self._replace_dead()
        if self._kernel.state is KernelState.STOPPED:
            self.restart()
        return restarted

    def _replace_dead(self) -> tuple[str, ...]:
        """Start another kernel if the last one has ended since its last run, and note that."""
        how, self._lost = self._lost, ""
        ended = self._kernel.ended_idle()
        if ended is None and not how:
            return ()
        self._kernel.end(kill=False)
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

    def _recover(self, run: KernelRun) -> tuple[StateOutcome, tuple[str, ...]]:
        """Replace a kernel that did not survive its run.

        Returns:
            What became of the variables, and the notes that say so.
        """
        persistent = self._config.persistent
        if run.end == "interrupted":
            self._kernel.kill_children()
        if run.end in ("replied", "interrupted"):
            self._kernel.count_cpu(run)
            return StateOutcome.KEPT if persistent else StateOutcome.RESET, ()
        if run.end == "ended" and self.machine.end_reason is None:
            # A program beside the kernel, which it has not touched, or without one.
            return StateOutcome.KEPT if self.has_kernel else StateOutcome.RESET, ()
        failure = self._kernel.replace(run)
        if failure is not None:
            return StateOutcome.LOST, (failure,)
        if not persistent:
            return StateOutcome.RESET, ()
        return StateOutcome.RESET, (
            "The interpreter was restarted: variables are gone, files are still there.",
        )

    def _limit_events(self) -> LimitEvents:
        """Return the limits that Linux has enforced since the last call.

        No limit is met within a few milliseconds, so short runs skip this.
        """
        before = self._events
        try:
            self._events = now = self.machine.limit_events()
        except SandboxError:
            return LimitEvents()
        return now.since(before)

    # --- beside runs

    def restart(self) -> None:
        """Replace the kernel by a fresh one in the same machine; see `KernelProcess.restart`."""
        self._kernel.restart()

    def lend(self) -> KernelHandle:
        """Hand the kernel over to another client; see `KernelProcess.lend`."""
        return self._kernel.lend()

    def receive_background(self) -> None:
        """Receive all that runs have written since they ended.

        Raises:
            ContainerGoneError: The machine has ended.
        """
        check_alive(self.machine, self._config.session_timeout)
        if self._kernel.client is not None:
            # The reply comes after everything that the interpreter held back.
            run = self._kernel.client.call(_BACKGROUND, {}, deadline=Deadline.after(_ANSWER_S))
            self._recover(run)

    def call(
        self,
        service: str,
        arguments: dict[str, Any],
        buffers: Sequence[bytes] = (),
        *,
        deadline: Deadline,
        stop: Stop | None = None,
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Call a service of the kernel; see `KernelClient.call`.

        Returns:
            The reply and its buffers.

        Raises:
            SandboxTimeoutError: The time was up.
            KernelDiedError: The kernel ended, or was stopped, instead of answering.
            ContainerGoneError: The machine had ended before.
            UnsupportedError: There is no kernel, because every run is a program of its own.
        """
        check_alive(self.machine, self._config.session_timeout)
        self._setup.check_variables(self._backend.name, has_kernel=self.has_kernel)
        if self._kernel.state is KernelState.STOPPED:
            self.restart()
        run = self._kernel.call(service, arguments, buffers, deadline=deadline, stop=stop)
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
