"""The interpreter of a session: claimed or started, run, ended when it must be, and replaced."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Backend, KernelSpec, Machine, MachineSpec
from llm_sandbox.const import StateOutcome, SupportedLanguage
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    ContainerGoneError,
    KernelDiedError,
    KernelNotReadyError,
    SandboxError,
    SandboxTimeoutError,
    UnsupportedError,
)
from llm_sandbox.kernel.client import KernelClient, KernelRun
from llm_sandbox.kernel.collector import Collector, OutputCallback
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.session.assembly import assemble
from llm_sandbox.session.collection import Collected, Collection
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.pool import shared_pool, start_kernel
from llm_sandbox.session.program import Programs
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from llm_sandbox.session.layers import Layer

__all__ = ["KERNEL_ENVIRONMENT", "Interpreter"]

KERNEL_ENVIRONMENT = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    # Its own pool reserves a gigabyte, which a limit on memory counts as used.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

_OTHERWISE = "persistent=False runs each piece of code as a program of its own, without a kernel"


class Interpreter:
    """Keeps one machine with one kernel in it.

    Args:
        backend: Where.
        spec: What kind of machine.
        config: The session's settings.
        handler: The language.
    """

    def __init__(
        self,
        backend: Backend,
        spec: MachineSpec,
        config: SessionConfig,
        handler: AbstractLanguageHandler,
    ) -> None:
        self._backend = backend
        self._spec = spec
        self._config = config
        self._handler = handler
        self._has_kernel = handler.name == SupportedLanguage.PYTHON
        self._programs: Programs | None = None
        self._cold = config.start == "cold"
        self._library_paths: list[str] = []
        self._machine: Machine | None = None
        self._client: KernelClient | None = None
        self._collection: Collection | None = None
        self._fresh = True

    def settle(self, sandbox: Sandbox) -> None:
        """Called once, before anything has run: from here on, what runs do to the working directory
        is collected.
        """
        self._collection = Collection(sandbox, self._config.limits)
        if not self._has_kernel:
            self._programs = Programs(sandbox, self.machine, self._handler)

    def open(self) -> Machine:
        """Claim a ready kernel or start one, and return its machine.

        Raises:
            KernelNotReadyError: Its Python cannot run one, and runs are not each a program.
        """
        ready = None
        if self._has_kernel and not self._cold and self._backend.pooled:
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
        if self._machine.library_path is not None:
            self._library_paths.append(self._machine.library_path)
        if self._client is not None:
            self._configure()
        return self._machine

    @property
    def python_path(self) -> str:
        """Where programs find the libraries: those installed last, which hold all before, and those
        that the machine was made with.
        """
        made_with = self._library_paths[:1] if self.machine.library_path is not None else []
        return ":".join(dict.fromkeys([self._library_paths[-1], *made_with]))

    def _start_first(self) -> KernelClient | None:
        """Start a kernel; None if there is none, and every run is a program of its own."""
        if not self._has_kernel:
            return None
        try:
            return self._start()
        except KernelNotReadyError as error:
            if self._config.persistent:
                error.hint = "; ".join(filter(None, (error.hint, _OTHERWISE)))
                raise
        self._has_kernel = False
        return None

    @property
    def machine(self) -> Machine:
        """The machine; only while open."""
        assert self._machine is not None
        return self._machine

    @property
    def expired(self) -> bool:
        """Whether the session's own deadline has ended the machine."""
        return self.machine.end_reason == "deadline"

    def _environment(self) -> dict[str, str]:
        variables = {**self.machine.base_env(), **KERNEL_ENVIRONMENT}
        variables.update(self._config.program_environment())
        if self._library_paths:
            variables["PYTHONPATH"] = self.python_path
        return variables

    def _start(self) -> KernelClient:
        return start_kernel(self.machine, KernelSpec(self.machine.base_env(), cold=self._cold))

    def _configure(self) -> None:
        assert self._client is not None
        limits = self._config.limits
        self._client.configure(
            environment=self._environment(),
            library_paths=self._library_paths,
            output_bytes=limits.output_bytes,
            display_bytes=limits.display_bytes,
        )
        self._fresh = True

    # --- running

    def run(
        self,
        code: str,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        on_output: OutputCallback | None,
        stop: Stop | None = None,
    ) -> ExecutionResult:
        """Run code to whatever end; see `BaseSession.run`.

        `stop` may be asked by any thread, at any time from before the call; there is no other way
        into a run from outside.

        Raises:
            ContainerGoneError: The machine had ended before.
        """
        started = time.perf_counter()
        self._check_alive()
        if self._client is None or (not self._config.persistent and not self._fresh):
            self.restart()
        if self._collection is not None:
            self._collection.before()
        prepared = time.perf_counter()
        collector = Collector(self._config.limits, on_output)
        self._fresh = False
        run = self._execute(code, collector, deadline, stdin, stop)
        executed = time.perf_counter()
        state, notes = self._recover(run)
        recovered = time.perf_counter()
        left = self._collection.after() if self._collection is not None else Collected()
        collected = time.perf_counter()
        result = assemble(
            run,
            collector,
            state=state,
            spec=self.machine.spec,
            isolation=self.machine.isolation,
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
            notes=(*notes, *left.notes),
        )
        if collector.callback_error is not None:
            error = collector.callback_error
            error.add_note(f"raised by a callback of run(); the code itself ended as {result!r}")
            raise error
        return result

    def _execute(
        self,
        code: str,
        collector: Collector,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        stop: Stop | None,
    ) -> KernelRun:
        if self._programs is not None:
            return self._programs.run(
                code,
                collector,
                deadline=deadline,
                env=self._config.program_environment(),
                library_paths=self._library_paths[-1:],
                stdin=stdin,
                stop=stop,
            )
        assert self._client is not None
        try:
            return self._client.execute(code, collector, deadline=deadline, stdin=stdin, stop=stop)
        except BaseException:
            if self._client.is_lost:
                self._end_client(kill=True)
            raise

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
        self._check_alive()
        if not self._has_kernel:
            raise UnsupportedError(
                "keeping variables",
                self._backend.name,
                "every run of this session is a program of its own",
                hint="sessions that keep variables need Python 3.11 or newer with ipykernel in the "
                "sandbox, and persistent=True",
            )
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
            kept = StateOutcome.KEPT if self._config.persistent else StateOutcome.RESET
            return kept, ()
        if run.end == "ended" and self.machine.end_reason is None:
            return StateOutcome.RESET, ()
        trouble = self._end_client(kill=run.end != "died")
        try:
            if self.machine.end_reason is not None:
                raise ContainerGoneError("the sandbox has ended")
            self.machine.sweep()
            self._client = self._start()
            self._configure()
        except SandboxError:
            why = "its time was up" if self.expired else trouble or "it could not be kept"
            return StateOutcome.LOST, (f"The sandbox has ended: {why}.",)
        return StateOutcome.RESET, (
            "The interpreter was restarted: variables are gone, files are still there.",
        )

    def _check_alive(self) -> None:
        reason = self.machine.end_reason
        if reason is not None:
            words = {"deadline": "its session_timeout is over"}.get(reason, f"it is {reason}")
            raise ContainerGoneError(
                f"the sandbox of this session has ended: {words}",
                backend=self._backend.name,
                hint="open a new session",
            )

    def restart(self) -> None:
        """Replace the kernel by a fresh one in the same machine."""
        self._check_alive()
        if not self._has_kernel:
            return
        self._end_client(kill=True)
        self._client = self._start()
        self._configure()

    def add_libraries(self, layer: "Layer") -> None:
        """Make a layer importable; an interpreter that may have loaded what it replaces is replaced
        itself.
        """
        self._library_paths.append(layer.guest_path)
        if not self._has_kernel:
            return
        if layer.shadows:
            self._cold = True
            self.restart()
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
        if self._machine is not None:
            self._machine.destroy()
