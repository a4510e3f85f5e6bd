"""Machine of our supervisor, wherever the supervisor runs."""

import base64
import contextlib
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from llm_sandbox.backends.base import (
    Isolation,
    KernelSpec,
    LimitEvents,
    Machine,
    MachineSpec,
    ProcessSpec,
    RawKernel,
    RawProcess,
)
from llm_sandbox.backends.connection import SupervisorConnection
from llm_sandbox.backends.hardening.cgroups import Cgroup
from llm_sandbox.backends.ports import connect_port
from llm_sandbox.backends.processes import whole_seconds
from llm_sandbox.backends.python_environment import FORKABLE
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    KernelNotReadyError,
    LaunchError,
    SandboxError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.guest.descriptors import open_pipe
from llm_sandbox.limits import Limits

__all__ = [
    "GuestPaths",
    "SupervisedMachine",
    "guest_command",
    "launch_error",
    "resource_limits",
]

_SIGNAL_S = 5.0
_KILL_S = 20.0
_LAUNCH_ERRORS = {
    "not_found": "there is no such program in the sandbox",
    "not_executable": "it cannot be executed",
    "bad_cwd": "its working directory cannot be entered",
}


@dataclass(frozen=True)
class GuestPaths:
    """Paths in a machine."""

    python: str
    """Python interpreter of programs."""
    guest: str
    """Folder of the packages `guest` and `shim`, and of `languages`."""
    own: tuple[str, ...] = ()
    """Command line of the supervisor's own interpreter; empty where it is `python`."""


def guest_command(
    paths: GuestPaths,
    call: str,
    *arguments: object,
    isolated_site: bool,
    packages: str | None = None,
    reads_environment: bool = False,
) -> list[str]:
    """Return the command line that runs a function of the guest package.

    Args:
        paths: Paths of the interpreter and the package.
        call: Module and function, such as ``zygote.main``.
        arguments: Its arguments: numbers, text, and lists and dictionaries of them.
        isolated_site: Whether site packages are left out, for a start in half the time.
        packages: Folder of further packages, last in the path; None for none.
        reads_environment: Whether variables such as PYTHONHASHSEED count.
    """
    module = call.partition(".")[0]
    given = ", ".join(map(repr, arguments))
    more = "" if packages is None else f"sys.path.append({packages!r}); "
    code = (
        f"import sys; sys.path.insert(0, {paths.guest!r}); {more}"
        f"from guest import {module}; {call}({given})"
    )
    start = paths.own if paths.own and isolated_site else (paths.python,)
    isolation = ("-s", "-P") if reads_environment else ("-I",)
    return [*start, *isolation, *(["-S"] if isolated_site else []), "-c", code]


def resource_limits(limits: Limits, *, processes: bool) -> dict[str, int]:
    """Return the limits of each process, by their names in `guest.confinement`.

    Args:
        limits: Limits of the sandbox.
        processes: Whether a limit of processes inside counts those of the machine only.
    """
    rlimits = {
        "NOFILE": limits.open_files,
        "FSIZE": limits.file_size_bytes,
        # Private writable memory: an allocation beyond it fails in the program, before the limit of
        # the group kills.
        "DATA": limits.memory_bytes,
        "CORE": 0,
    }
    if processes:
        rlimits["NPROC"] = limits.processes
    if limits.cpu_seconds is not None:
        rlimits["CPU"] = whole_seconds(limits.cpu_seconds)
    return rlimits


_ON_HOST = frozenset({"output_bytes", "display_bytes", "displays", "artifact_bytes", "artifacts"})
"""Limits that this process enforces."""


class SupervisedMachine(Machine):
    """Machine that a supervisor creates and controls; see `Machine`.

    Args:
        connection: Connection to the supervisor.
        spec: Specification.
        isolation: Report of what isolates it.
        paths: Paths inside.
        environment: Environment of every program.
        confinement: Seccomp program, Landlock paths and more, as `guest.confinement` reads them.
        tmpfs: File systems in memory.
        cgroup: Control group; None without one.
        machine_id: Unique identifier.
        watch_memory: Whether the supervisor watches the memory of all processes together, where no
            control group limits it.
        on_destroyed: Called once when the machine has ended.
        restore: Folder inside whose files are copied into the working directory first.
        root: Description of a writable root for `guest.overlay`; None for a read-only one.
        saved_root: Descriptor of the archive that the root starts from, if `root` says so.
        start_zygote: Called before a kernel is forked, to start the zygote; None where that is
            started otherwise.
        runner: Connection that its first process serves as a runner of tests.

    Raises:
        BackendError: The supervisor could not create the machine.
    """

    arranges_streams = True
    kernel_hint: ClassVar[str] = "install ipykernel in the environment that runs this program"
    """Hint for a Python that cannot run a kernel."""

    def __init__(
        self,
        connection: SupervisorConnection,
        spec: MachineSpec,
        isolation: Isolation,
        paths: GuestPaths,
        environment: Mapping[str, str],
        *,
        confinement: Mapping[str, Any],
        tmpfs: list[dict[str, Any]],
        cgroup: Cgroup | None,
        machine_id: str,
        on_destroyed: Callable[["SupervisedMachine"], None],
        watch_memory: bool = True,
        restore: str | None = None,
        root: Mapping[str, Any] | None = None,
        saved_root: Sequence[int] = (),
        start_zygote: Callable[[], None] | None = None,
        runner: socket.socket | None = None,
    ) -> None:
        self.id = machine_id
        self.spec = spec
        self.isolation = isolation
        self._connection = connection
        self._paths = paths
        self._environment = dict(environment)
        self._confinement = {
            **confinement,
            "seccomp": base64.b64encode(confinement.get("seccomp", b"")).decode(),
        }
        self._cgroup = cgroup
        self._tmpfs = tmpfs
        self._oom_seen = 0
        self._end_reason: str | None = None
        self._ready_files: socket.socket | None = None
        self._on_destroyed = on_destroyed
        self._start_zygote = start_zygote
        self._at_end: list[Callable[[], None]] = []
        fds = cgroup.open_procs() if cgroup is not None else []
        watched = spec.limits.memory_bytes if watch_memory and cgroup is None else None
        try:
            made = connection.request(
                "machine",
                [*fds, *saved_root, *([] if runner is None else [runner.fileno()])],
                spec={
                    "id": self.id,
                    "workdir": spec.workdir,
                    "hostname": "sandbox",
                    "confinement": self._confinement,
                    "own_network": spec.network == "blocked",
                    "tmpfs": tmpfs,
                    "writable_root": root,
                },
                watch_memory=watched,
                restore=restore,
                has_runner=runner is not None,
                deadline_s=spec.timeout_s,
            )
        finally:
            for fd in fds:
                os.close(fd)
        if made["user"] is not None:
            self._confinement["user"] = made["user"]

    # --- processes

    def start(self, spec: ProcessSpec) -> RawProcess:
        near_in, far_in = _stdin_pair(is_piped=spec.stdin)
        return self._start(spec, near_in, far_in)

    def _start(
        self, spec: ProcessSpec, near_in: int | None, far_in: int, *, wraps: bool = False
    ) -> RawProcess:
        out_read, out_write = open_pipe()
        err_read, err_write = open_pipe()
        key = os.urandom(8).hex()
        terminal = spec.terminal
        ending = self._connection.watch(key, self._killed_for_memory)
        try:
            reply = self._request(
                "start",
                (far_in, out_write, err_write),
                machine=self.id,
                process=key,
                argv=list(spec.argv),
                env=dict(spec.env),
                cwd=spec.cwd,
                timeout_s=spec.timeout_s,
                wraps=wraps,
                terminal=None if terminal is None else [terminal.rows, terminal.cols],
                stdout=spec.stdout,
                stderr=spec.stderr,
            )
            if "launch_error" in reply:
                where = self.spec.workdir, self.isolation.backend
                raise launch_error(spec, *where, reply["launch_error"])
        except BaseException:
            self._connection.forget(key)
            for fd in (near_in, out_read, err_read):
                if fd is not None:
                    os.close(fd)
            raise
        finally:
            for fd in (far_in, out_write, err_write):
                os.close(fd)
        has_terminal = terminal is not None
        return RawProcess(key, near_in, out_read, err_read, ending, has_terminal=has_terminal)

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        near, far = socket.socketpair()
        try:
            if spec.command:
                return self._start_interpreter(spec, near, far)
            if spec.cold:
                return self._start_cold_kernel(spec, near, far)
            if self._start_zygote is not None and self._end_reason is None:
                self._start_zygote()
            return self._fork_kernel(spec, near, far)
        except BaseException:
            near.close()
            raise
        finally:
            far.close()

    def _start_cold_kernel(
        self, spec: KernelSpec, near: socket.socket, far: socket.socket
    ) -> RawKernel:
        command = guest_command(
            self._paths, "zygote.main_cold", isolated_site=False, packages=spec.packages
        )
        raw = self._start(ProcessSpec(tuple(command), spec.env), None, os.dup(far.fileno()))
        return RawKernel(raw.id, near, raw.stdout, raw.stderr, raw.ending, cold=True)

    def _start_interpreter(
        self, spec: KernelSpec, near: socket.socket, far: socket.socket
    ) -> RawKernel:
        command = guest_command(self._paths, "wrapper.main", list(spec.command), isolated_site=True)
        raw = self._start(
            ProcessSpec(tuple(command), spec.env), None, os.dup(far.fileno()), wraps=True
        )
        return RawKernel(raw.id, near, raw.stdout, raw.stderr, raw.ending, cold=True)

    def _fork_kernel(self, spec: KernelSpec, near: socket.socket, far: socket.socket) -> RawKernel:
        out_read, out_write = open_pipe()
        err_read, err_write = open_pipe()
        key = os.urandom(8).hex()
        ending = self._connection.watch(key, self._killed_for_memory)
        try:
            self._request(
                "kernel",
                (far.fileno(), out_write, err_write),
                machine=self.id,
                process=key,
                env=dict(spec.env),
                workdir=self.spec.workdir,
                confinement={**self._confinement},
                own_network=self.spec.network == "blocked",
                warm=spec.warm,
            )
        except BaseException as error:
            self._connection.forget(key)
            os.close(out_read)
            os.close(err_read)
            if isinstance(error, BackendError) and "zygote" in error.message:
                raise KernelNotReadyError(
                    f"the sandbox's Python could not load a kernel: {self._connection.log_tail()}",
                    hint=self.kernel_hint,
                ) from None
            raise
        finally:
            os.close(out_write)
            os.close(err_write)
        return RawKernel(key, near, out_read, err_read, ending)

    def start_runner(self, preload: Sequence[str] = ()) -> socket.socket:
        """Start a runner of tests as a process of the machine, and return the connection to it.

        Args:
            preload: Python libraries that it loads before the tests.

        Raises:
            UnsupportedError: The machine isolates nothing, or has no Python.
        """
        if self.isolation.level == "none":
            raise UnsupportedError("runners of tests", self.isolation.backend)
        if not self._paths.python:
            raise UnsupportedError(
                "runners of tests",
                self.isolation.backend,
                "a runner is a program of Python, which the image does not have",
            )
        near, far = socket.socketpair()
        command = guest_command(
            self._paths,
            "runner.main",
            list(preload),
            isolated_site=False,
            reads_environment=True,
        )
        variables = {**self._environment, **FORKABLE, "PYTHONHASHSEED": "0"}
        try:
            raw = self._start(ProcessSpec(tuple(command), variables), None, os.dup(far.fileno()))
        except BaseException:
            near.close()
            raise
        finally:
            far.close()
        for fd in (raw.stdout, raw.stderr):
            os.close(fd)
        return near

    def open_files(self) -> socket.socket:
        ready, self._ready_files = self._ready_files, None
        return ready if ready is not None else self._start_files()

    def prepare_files(self) -> None:
        if self._ready_files is None:
            self._ready_files = self._start_files()
            if self._end_reason is not None:
                self._close_ready_files()

    def _start_files(self) -> socket.socket:
        near, far = socket.socketpair()
        try:
            self._request("agent", (far.fileno(),), machine=self.id, serves="files")
        except BaseException:
            near.close()
            raise
        finally:
            far.close()
        return near

    def connect(self, port: int) -> socket.socket:
        return connect_port(self._request, self.id, port)

    def signal(self, process_id: str, number: int) -> bool:
        reply = self._request("signal", answer_s=_SIGNAL_S, process=process_id, signal=number)
        return bool(reply["delivered"])

    def resize(self, process_id: str, rows: int, cols: int) -> bool:
        reply = self._request(
            "resize", answer_s=_SIGNAL_S, process=process_id, rows=rows, cols=cols
        )
        if reply.get("no_terminal"):
            raise ValidationError("the program has no terminal: start it with pty=True")
        return bool(reply["resized"])

    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        reply = self._request(
            "kill", answer_s=_KILL_S, process=process_id, children_only=children_only
        )
        return bool(reply["killed"])

    def sweep(self) -> None:
        self._request("sweep", machine=self.id)

    def _request(self, op: str, fds: tuple[int, ...] = (), **fields: Any) -> dict[str, Any]:
        if self._end_reason is not None:
            raise ContainerGoneError(
                f"the sandbox has ended ({self._end_reason})",
                backend=self.isolation.backend,
                hint="make a new one: nothing in this one is left",
            )
        return self._connection.request(op, fds, **fields)

    def limit_events(self) -> LimitEvents:
        if self._cgroup is None:
            return LimitEvents()
        # A kill that was reported is not the cause of a later exit.
        self._oom_seen = self._cgroup.oom_kills()
        return LimitEvents(self._oom_seen, self._cgroup.refused_forks())

    def _killed_for_memory(self) -> bool:
        if self._cgroup is None:
            return False
        before, self._oom_seen = self._oom_seen, self._cgroup.oom_kills()
        return self._oom_seen > before

    # --- limits

    def live_limits(self) -> frozenset[str]:
        """Return the limits that can change while it lives, as names of fields of `Limits`."""
        return _ON_HOST

    def update_limits(self, limits: Limits) -> None:
        changed = self.spec.limits.differences(limits)
        fixed = sorted(changed - self.live_limits())
        if fixed:
            raise UnsupportedError(
                f"changing {', '.join(fixed)} of an open sandbox",
                self.isolation.backend,
                f"it can change {', '.join(sorted(self.live_limits()))}",
                hint="set the others when the sandbox is created: limits=",
            )
        if not changed:
            return
        rlimits = {"DATA": limits.memory_bytes} if "memory_bytes" in changed else {}
        if changed - _ON_HOST:
            tmpfs = self._resized(limits)
            try:
                self._enforce(limits, changed)
                resized = [entry for entry in tmpfs if entry not in self._tmpfs]
                self._request("limits", machine=self.id, tmpfs=resized, rlimits=rlimits)
            except (OSError, BackendError) as error:
                # Limits that were changed before the failure are changed back.
                with contextlib.suppress(OSError, BackendError):
                    self._enforce(self.spec.limits, changed)
                    self._request("limits", machine=self.id, tmpfs=self._tmpfs, rlimits={})
                raise BackendError(
                    f"the limits could not be changed: {error}",
                    op="update_limits",
                    backend=self.isolation.backend,
                    hint="a limit cannot be less than what is used already",
                ) from None
            self._tmpfs = tmpfs
        if rlimits:
            self._confinement["rlimits"] = {**self._confinement["rlimits"], **rlimits}
        self.spec = replace(self.spec, limits=limits)

    def _enforce(self, limits: Limits, changed: frozenset[str]) -> None:
        """Change the limits that are enforced from outside of the machine."""
        if self._cgroup is not None and changed & {"memory_bytes", "cpus"}:
            self._cgroup.update(limits)

    def _resized(self, limits: Limits) -> list[dict[str, Any]]:
        """Return its file systems in memory, with the sizes of new limits."""
        sizes = {
            self.spec.workdir: limits.workdir_bytes,
            "/tmp": limits.tmp_bytes,  # noqa: S108 - inside
            "/dev/shm": limits.shm_bytes,  # noqa: S108
        }
        return [
            {**entry, "size": sizes.get(entry["path"], entry["size"]), "inodes": limits.inodes}
            for entry in self._tmpfs
        ]

    # --- life

    def set_deadline(self, seconds: float | None) -> None:
        self._request("deadline", machine=self.id, deadline_s=seconds)

    @property
    def end_reason(self) -> str | None:
        return self._end_reason

    def base_env(self) -> dict[str, str]:
        return dict(self._environment)

    def python(self) -> str:
        return self._paths.python

    def language_folder(self, language: str) -> str:
        return f"{self._paths.guest}/languages/{language}"

    def ended(self, reason: str) -> None:
        """Note an event of the supervisor.

        Args:
            reason: ``deadline``, ``gone`` or ``oom``, the end of the machine; or ``memory``: all
                programs were killed, and the machine lives on.
        """
        if reason != "memory" and self._end_reason is None:
            self._end_reason = reason
            self._clean_up()

    def destroy(self) -> None:
        if self._end_reason is not None:
            return
        self._end_reason = "closed"
        with contextlib.suppress(ContainerGoneError, BackendError):
            self._connection.request("destroy", answer_s=_KILL_S, machine=self.id)
        self._clean_up()

    def on_end(self, call: Callable[[], None]) -> None:
        self._at_end.append(call)
        if self._end_reason is not None:
            call()

    def _clean_up(self) -> None:
        self._close_ready_files()
        for call in self._at_end:
            call()
        self._on_destroyed(self)

    def _close_ready_files(self) -> None:
        ready, self._ready_files = self._ready_files, None
        if ready is not None:
            ready.close()


def _stdin_pair(*, is_piped: bool) -> tuple[int | None, int]:
    if not is_piped:
        return None, os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    read, write = open_pipe()
    return write, read


def launch_error(
    spec: ProcessSpec, workdir: str, backend: str, report: Mapping[str, Any]
) -> SandboxError:
    """Return the exception for a program that did not start.

    Args:
        spec: The program.
        workdir: Working directory of the machine.
        backend: Name for the message.
        report: ``kind`` and ``message``, as `guest.launch` wrote them.
    """
    kind = report["kind"]
    if kind == "no_terminal":
        return UnsupportedError("pty", backend, report["message"])
    words = _LAUNCH_ERRORS.get(kind, report["message"])
    subject = (spec.cwd or workdir) if kind == "bad_cwd" else spec.argv[0]
    return LaunchError(f"{subject!r} did not start: {words}", kind=kind, op="exec")
