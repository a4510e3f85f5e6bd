"""Kernel of a session as a process: started, configured, awaited, replaced and ended.

States::

    STOPPED --start()--> STARTING --await_start()--> READY --execute()--> USED
       ^                     |                          |                   |
       '------- it has ended, was killed, or was lent to another client ----'

An interpreter that runs code at once, such as Python's, skips STARTING. NONE is the state of a
session without a kernel, whose every run is a program of its own; it is never left.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from llm_sandbox.backends.base import Backend, Exit, Machine, RawKernel
from llm_sandbox.exceptions import (
    ContainerGoneError,
    KernelNotReadyError,
    SandboxError,
    SessionExpiredError,
    UnsupportedError,
)
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.client import KernelClient, KernelRun
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.session.assembly import claimed_cpu_s
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.kernel_setup import (
    KernelSetup,
    await_start,
    start_kernel,
    wait_for_kernel,
)

__all__ = ["KernelHandle", "KernelProcess", "KernelState", "check_alive", "end_sentence"]

_EXIT_REPORT_S = 0.5
"""Seconds that the report of a killed kernel's exit may take."""
_NO_KERNEL_HINT = (
    "persistent=False runs each piece of code as a program of its own, without a kernel"
)
_END_REASONS = {
    "deadline": "its session_timeout is over",
    "oom": "it used more memory than it may",
    "idle": "nothing was run in it for its idle_timeout",
    "terminated": "it was ended from outside",
    "closed": "it was closed",
    "gone": "its sandbox daemon, or its backend, was killed",
}
_UNSPECIFIC = ("closed", "gone")


class KernelState(Enum):
    """State of a session's kernel; the module draws the transitions."""

    NONE = "none"
    """No kernel: every run is a program of its own."""
    STOPPED = "stopped"
    """No kernel process; the next run starts one."""
    STARTING = "starting"
    """Started kernel that does not run code yet."""
    READY = "ready"
    """Kernel that runs code, and has run none of this session's."""
    USED = "used"
    """Kernel that has run code of this session."""


@dataclass(frozen=True)
class KernelHandle:
    """Kernel that another client than the session uses."""

    raw: RawKernel
    """Stream and descriptors of the kernel, which the new owner closes."""
    signal: Callable[[int], bool]
    """Function that sends a signal to the kernel; it returns False when the kernel has ended."""


class KernelProcess:
    """Kernel process of one session, and everything that starting a replacement needs.

    Args:
        setup: Choice of interpreter.
        config: Settings of the session.
        background: Receiver of the output of ended runs.
    """

    def __init__(self, setup: KernelSetup, config: SessionConfig, background: Background) -> None:
        self.config = config
        self.state = KernelState.STOPPED if setup.has_kernel else KernelState.NONE
        self.is_cold = config.start == "cold"
        """Whether kernels are started cold: not as forks of the preloaded interpreter."""
        self.library_paths: list[str] = []
        """Folders of libraries in the machine, in the order of installation."""
        self.claimed_cpu_s: float | None = None
        """CPU seconds of the kernel's runs so far, as it claims; None before the first."""
        self._setup = setup
        self._background = background
        self._machine: Machine | None = None
        self._client: KernelClient | None = None
        self._told: dict[str, str] = {}
        self._lent: str | None = None
        """Id of the process that another client uses."""
        self._packages: str | None = None
        """Folder of the kernel's own packages; None where its Python has them."""

    @property
    def machine(self) -> Machine:
        """The machine; only while open."""
        assert self._machine is not None
        return self._machine

    @machine.setter
    def machine(self, machine: Machine) -> None:
        self._machine = machine

    @property
    def client(self) -> KernelClient | None:
        """The connection to the kernel; None in the states NONE and STOPPED."""
        return self._client

    @property
    def library_variables(self) -> dict[str, str]:
        """The variables by which programs find the libraries.

        The folder installed last holds all before; what the machine was made with comes after it.
        """
        made_with = self.library_paths[:1] if self.machine.library_path is not None else []
        paths = dict.fromkeys([*self.library_paths[-1:], *made_with])
        return self._setup.library_variables(list(paths))

    @property
    def environment(self) -> dict[str, str]:
        """The variables of everything that the session runs."""
        return self._setup.environment(self.machine, self.library_variables)

    # --- starting

    def adopt(self, client: KernelClient) -> None:
        """Take over a kernel that was just started, and configure it for this session."""
        self._client = client
        self._configure()
        self.state = KernelState.READY

    def reattach(self, client: KernelClient) -> None:
        """Take over the kernel of a detached session, which has run code."""
        client.background = self._background
        self._client = client
        self.state = KernelState.USED

    def start_first(self, backend: Backend) -> None:
        """Start Python's kernel in a new machine, with packages that its Python may lack.

        The state is NONE afterwards where there can be no kernel and runs may be programs.

        Args:
            backend: The machine's.

        Raises:
            KernelNotReadyError: The machine's Python cannot run a kernel, and the session keeps
                variables.
        """
        try:
            client = self._spawn()
            # A kernel that is not forked reports what the image's Python lacks only by its end.
            if self.is_cold and backend.has_containers:
                wait_for_kernel(client)
        except KernelNotReadyError as error:
            if not self.config.persistent:
                self.state = KernelState.NONE
                return
            from llm_sandbox.packages.libraries import start_with_packages

            client = start_with_packages(backend, self.machine, self._spawn, error, _NO_KERNEL_HINT)
        self.adopt(client)

    def start(self) -> None:
        """Start a kernel where none runs."""
        self.adopt(self._spawn())
        if self._setup.starts_late:
            self.state = KernelState.STARTING

    def await_start(self, deadline: Deadline, stop: Stop | None) -> Deadline:
        """Wait until a starting kernel runs code; see `kernel_setup.await_start`."""
        assert self._client is not None
        if self.state is KernelState.STARTING:
            deadline = await_start(self._client, deadline, stop)
            self.state = KernelState.READY
        return deadline

    def restart(self) -> None:
        """Replace the kernel by a fresh one in the same machine; does nothing without a kernel.

        Raises:
            ContainerGoneError: The machine has ended.
        """
        check_alive(self.machine, self.config.session_timeout)
        if self.state is not KernelState.NONE:
            self.end(kill=True)
            self.start()

    def _spawn(self, packages: str | None = None) -> KernelClient:
        self._packages = packages or self._packages
        environment = {} if self._setup.is_python else self.environment
        spec = self._setup.spec(
            self.machine, environment, cold=self.is_cold, packages=self._packages
        )
        self.claimed_cpu_s = None
        return start_kernel(self.machine, spec)

    # --- settings

    def _configure(self) -> None:
        assert self._client is not None
        self._client.background = self._background
        self._background.forget_processes()
        limits = self.config.limits
        self._told = self.environment
        self._client.configure(
            environment=self._told,
            library_paths=self.library_paths,
            output_bytes=limits.output_bytes,
            display_bytes=limits.display_bytes,
            script=self._setup.is_python and not self.config.persistent,
            offline=self.config.network == "blocked",
        )

    def update_environment(self) -> None:
        """Give a fresh kernel the variables that the network of its sandbox has added since."""
        if self._client is not None and self.environment != self._told:
            self._told = self.environment
            self._client.configure(environment=self._told)

    def add_library_path(self, path: str, *, fresh: bool) -> None:
        """Make a folder of libraries importable.

        Args:
            path: The folder in the machine.
            fresh: Whether the kernel is replaced, by one that is not a fork of an interpreter that
                has loaded other versions.
        """
        self.library_paths.append(path)
        self.is_cold = self.is_cold or fresh
        if self._client is None:
            return
        if fresh:
            self.restart()
        else:
            self._client.configure(environment=self.environment, library_paths=self.library_paths)

    def update_limits(self, before: Limits, after: Limits) -> None:
        """Hold a running kernel to other limits."""
        if self._client is not None:
            # The process limit is below the machine's by a reserve that stays as it is.
            self._client.configure(
                more_memory=after.memory_bytes - before.memory_bytes,
                output_bytes=after.output_bytes,
                display_bytes=after.display_bytes,
            )

    # --- requests

    def execute(
        self,
        code: str,
        collector: OutputBuffer,
        *,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        stop: Stop | None,
        argv: Sequence[str],
    ) -> KernelRun:
        """Run a cell; see `KernelClient.execute`."""
        assert self._client is not None
        self.state = KernelState.USED
        if argv:
            self._client.configure(argv=list(argv))
        with self._kill_if_lost():
            return self._client.execute(code, collector, deadline=deadline, stdin=stdin, stop=stop)

    def call(
        self,
        service: str,
        arguments: Mapping[str, Any],
        buffers: Sequence[bytes] = (),
        *,
        deadline: Deadline,
        stop: Stop | None = None,
    ) -> KernelRun:
        """Call a service of the kernel; see `KernelClient.call`."""
        assert self._client is not None
        with self._kill_if_lost():
            return self._client.call(
                service, dict(arguments), buffers, deadline=deadline, stop=stop
            )

    @contextlib.contextmanager
    def _kill_if_lost(self) -> Iterator[None]:
        """Kill the kernel if a request is left while code may still run unseen."""
        try:
            yield
        except BaseException:
            if self._client is not None and self._client.is_lost:
                self.end(kill=True)
            raise

    def kill_children(self) -> None:
        """Kill what the kernel's code has started: it must not write into a later run's output."""
        if self._client is not None:
            with contextlib.suppress(SandboxError):
                self.machine.kill(self._client.id, children_only=True)

    def count_cpu(self, run: KernelRun) -> None:
        """Add the CPU seconds that a kernel claims for a run."""
        self.claimed_cpu_s = (self.claimed_cpu_s or 0.0) + claimed_cpu_s(run)

    # --- ending

    def ended_idle(self) -> Exit | None:
        """Return how the kernel ended since its last run; None while it lives, or starts."""
        if self._client is None or self.state is KernelState.STARTING:
            return None
        return self._client.ended_idle()

    def end(self, *, kill: bool) -> str | None:
        """Close the connection to the kernel.

        Args:
            kill: Whether the kernel is killed before, also one that was lent.

        Returns:
            Why it could not be killed alone; None where it was.
        """
        client = self._drop_client()
        process = self._lent if client is None else client.id
        self._lent = None
        trouble = None
        if kill and process is not None and self.machine.end_reason is None:
            # A kernel ends with its machine.
            try:
                self.machine.kill(process)
            except SandboxError as error:
                trouble = error.message
        if client is not None:
            client.close()
        return trouble

    def replace(self, run: KernelRun) -> str | None:
        """Replace the kernel after a run that it did not survive.

        Args:
            run: The run; `KernelRun.killed` is set where the kernel's exit is reported in time.

        Returns:
            None; or, where the machine has ended or no kernel can be started, the sentence that
            says why.
        """
        client = self._client
        trouble = self.end(kill=run.end != "died")
        if client is not None and run.exit is None and self.machine.end_reason is None:
            run.killed = client.await_exit(_EXIT_REPORT_S)
        try:
            if self.machine.end_reason is not None:
                raise ContainerGoneError("the sandbox has ended")
            self.machine.sweep()
            self.start()
        except SandboxError:
            return end_sentence(self.machine.end_reason, trouble)
        return None

    def lend(self) -> KernelHandle:
        """Hand the kernel over to another client; `restart` kills it, and starts another one.

        Raises:
            UnsupportedError: There is no kernel.
        """
        if self._client is None:
            self.restart()
        client = self._drop_client()
        if client is None:
            raise UnsupportedError(
                "a kernel", self.machine.isolation.backend, "every run is a program of its own here"
            )
        raw = client.release()
        self._lent = raw.id
        return KernelHandle(raw, partial(self.machine.signal, raw.id))

    def detach(self) -> bool:
        """Disconnect from the kernel, which lives on.

        Returns:
            Whether no request was left half-sent.
        """
        client = self._drop_client()
        if client is None:
            return True
        settled = client.settle()
        client.close()
        return settled

    def close(self) -> None:
        """Close the connection; the kernel ends with the machine."""
        client = self._drop_client()
        if client is not None:
            client.close()

    def _drop_client(self) -> KernelClient | None:
        client, self._client = self._client, None
        if client is not None:
            self.state = KernelState.STOPPED
        return client


# --- the machine


def end_sentence(reason: str | None, trouble: str | None) -> str:
    """Return the sentence that says why a sandbox has ended.

    Args:
        reason: The `end_reason` of its machine.
        trouble: The error of the last request to it; None for none.
    """
    known = _END_REASONS.get(reason or "")
    if trouble is not None and (known is None or reason in _UNSPECIFIC):
        known = trouble
    return f"The sandbox has ended: {known or 'it could not be kept'}."


def check_alive(machine: Machine, session_timeout: float | None) -> None:
    """Refuse a machine that has ended.

    Args:
        machine: The session's.
        session_timeout: Seconds after which it was to end.

    Raises:
        SessionExpiredError: Its time is over.
        ContainerGoneError: It has ended otherwise.
    """
    reason, backend = machine.end_reason, machine.isolation.backend
    if reason == "deadline":
        raise SessionExpiredError(session_timeout, backend=backend)
    if reason is not None:
        raise ContainerGoneError(
            f"the sandbox of this session has ended: {_END_REASONS.get(reason, f'it is {reason}')}",
            backend=backend,
            hint="open it again, or create a new session",
        )
