"""Supervisor: process 1 of a sandbox, which makes machines and starts, limits and reaps processes.

It serves one control connection, runs no user code, and ends with its host. Requests have an ``op``
and an ``id`` and are answered by a record with the same ``id``; events are reported as records with
an ``event``:

    exit      a process ended: ``process, status (raw), timed_out, over_memory, cpu_s, peak_rss``
    ended     a machine ended by itself: ``machine, reason`` ("deadline" or "memory")
    zygote    the zygote reached a ``stage``, or ended

In a container, `container` starts it. Elsewhere it is started as ``python -I -S -c 'from guest
import supervisor; supervisor.main()' FD MODE FOLDERS`` where FD is the control socket, MODE is
``namespaces`` or ``plain``, and FOLDERS are removed at the end. ``FD runners MODULES`` is a
supervisor for machines with a runner of tests, which are forked from it with those libraries.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import selectors
import signal
import socket
import sys
import time

from . import linux, memory, process_tree
from .control import ControlChannel, Message
from .machine import (
    ContainedMachine,
    MachineSpec,
    NamespaceMachine,
    PlainMachine,
    restore_files,
)
from .state import MachineState, PendingStart, RunningProcess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Mode = Literal["namespaces", "container", "plain"]

_MEMORY_WATCH_S = 0.25
_WATCH_PAUSE = 20
"""Least pause between two checks of memory, as a multiple of the time that a check takes."""
_KILLED = (signal.SIGKILL, (128 + signal.SIGKILL) << 8)
"""Statuses of a killed process, and of a shell whose last command was killed."""
_HOST_ENDED = signal.SIGUSR1
"""Parent-death signal of the host: a fork of the host may keep the connection open."""


class MachineGoneError(Exception):
    """Request for a machine that has ended."""


class Supervisor:
    """The loop of process 1."""

    def __init__(self, control: ControlChannel, mode: Mode, helpers: Sequence[int] = ()) -> None:
        self._control = control
        self._mode = mode
        self._namespaces = namespaces = mode == "namespaces"
        self._helpers = helpers
        self._own_pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY) if namespaces else -1
        self._machines: dict[str, MachineState] = {}
        self._running: dict[int, RunningProcess] = {}
        self._by_key: dict[str, RunningProcess] = {}
        self._zygote: ControlChannel | None = None
        self._zygote_pid = 0
        self._pending_forks: set[int] = set()
        self._starting: dict[int, PendingStart] = {}
        self._selector = selectors.DefaultSelector()
        self._next_memory_watch = 0.0

    def run(self) -> None:
        """Serve until the host hangs up."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if self._mode == "plain" and not self._helpers:
            signal.signal(_HOST_ENDED, lambda *_: None)
            linux.set_parent_death_signal(_HOST_ENDED)
        self._selector.register(wake_read, selectors.EVENT_READ)
        self._selector.register(self._control, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select(self._next_tick()):
                if key.fd == wake_read:
                    if bytes([_HOST_ENDED]) in os.read(wake_read, 4096):
                        return
                elif key.fd in self._starting:
                    self._finish_start(key.fd)
                elif key.fileobj is self._control:
                    if not self._serve():
                        return
                else:
                    self._receive_from_zygote()
            self._reap()
            self._enforce()

    # --- requests

    def _serve(self) -> bool:
        while True:
            record = self._control.receive()
            if record is None:
                return False
            request, fds = record
            try:
                reply = getattr(self, f"_op_{request['op']}")(request, fds)
            except MachineGoneError:
                reply = {"gone": True}
            except Exception as error:  # noqa: BLE001 - one bad request must not end every machine
                errno = error.errno if isinstance(error, OSError) else None
                reply = {"error": f"{type(error).__name__}: {error}", "errno": errno}
            finally:
                for fd in fds:
                    os.close(fd)
            if reply is not None:
                self._control.send({"id": request["id"], **reply})
            if not self._control.pending():
                return True

    def _op_machine(self, request: Message, fds: list[int]) -> Message:
        """Make a machine. Descriptors: the ``cgroup.procs`` files of its processes, the archive of
        a saved root, the connection of its runner of tests.
        """
        spec = MachineSpec(request["spec"])
        cgroups = [os.dup(fd) for fd in fds]
        runner = cgroups.pop() if request.get("has_runner") else None
        machine: PlainMachine
        if self._mode == "namespaces":
            machine = NamespaceMachine(spec, cgroups, self._own_pid_namespace, runner)
        elif self._mode == "container":
            machine = ContainedMachine(spec, cgroups)
        else:
            machine = PlainMachine(spec, cgroups)
        if request.get("restore") is not None:
            restore_files(request["restore"], spec.workdir, spec.user)
        self._machines[spec.id] = MachineState(machine, memory_limit=request.get("watch_memory"))
        self._set_deadline(spec.id, request.get("deadline_s"))
        return {"user": spec.user}

    def _op_deadline(self, request: Message, fds: list[int]) -> Message:
        self._set_deadline(request["machine"], request["deadline_s"])
        return {}

    def _machine_state(self, machine: str) -> MachineState:
        try:
            return self._machines[machine]
        except KeyError:
            raise MachineGoneError from None

    def _set_deadline(self, machine: str, seconds: float | None) -> None:
        deadline = None if seconds is None else time.monotonic() + seconds
        self._machine_state(machine).deadline = deadline

    def _op_start(self, request: Message, fds: list[int]) -> None:
        """Start a program; answered when it runs. Descriptors: its stdin, stdout and stderr."""
        machine_state = self._machine_state(request["machine"])
        from . import launch

        running, report = launch.start_process(machine_state, request, fds)
        self._register(running)
        self._starting[report] = PendingStart(request["id"], running)
        self._selector.register(report, selectors.EVENT_READ)

    def _finish_start(self, report: int) -> None:
        starting = self._starting.pop(report)
        self._selector.unregister(report)
        failure = None
        if select.select([report], [], [], 0)[0]:
            text = os.read(report, 1 << 16)
            failure = json.loads(text) if text else None
        else:
            failure = {"kind": "other", "message": "it was stopped while it was being started"}
        os.close(report)
        if failure is None:
            self._control.send({"id": starting.request, "pid": starting.running.pid})
            return
        running = starting.running
        if self._running.pop(running.pid, None) is not None:
            del self._by_key[running.key]
            os.kill(running.pid, signal.SIGKILL)
            running.close()
        self._control.send({"id": starting.request, "launch_error": failure})

    def _op_kernel(self, request: Message, fds: list[int]) -> Message | None:
        """Fork an interpreter into a machine. Descriptors: its stream, stdout and stderr."""
        if self._zygote is None:
            return {"error": "the zygote is not running"}
        machine = self._machine_state(request["machine"]).machine
        pidfd = machine.pidfd()
        joining = [*fds, *([] if pidfd is None else [pidfd]), *machine.cgroups]
        self._pending_forks.add(request["id"])
        self._zygote.send({**request, "joins": pidfd is not None}, joining)
        return None  # answered when the zygote answers

    def _op_zygote(self, request: Message, fds: list[int]) -> Message:
        """Start the zygote."""
        if self._zygote is not None:
            return {}
        from . import launch

        near, far = socket.socketpair()
        pid = launch.launch_zygote(request, far.fileno(), with_parent=not self._namespaces)
        far.close()
        self.adopt_zygote(ControlChannel(near), pid)
        return {}

    def adopt_zygote(self, channel: ControlChannel, pid: int) -> None:
        """Use a running zygote."""
        self._zygote, self._zygote_pid = channel, pid
        self._selector.register(channel, selectors.EVENT_READ)

    def _op_agent(self, request: Message, fds: list[int]) -> Message:
        """Start an agent in the machine; see `agents`. Descriptor: its connection."""
        from . import agents

        machine_state = self._machine_state(request["machine"])
        agent = agents.launch(machine_state.machine, request, fds[0])
        machine_state.agents.add(agent)
        return {"pid": agent}

    def _op_limits(self, request: Message, fds: list[int]) -> Message:
        """Change the sizes of file systems, and the limits of processes started from now on."""
        machine = self._machine_state(request["machine"]).machine
        if request["tmpfs"]:
            machine.resize_memory(request["tmpfs"])
        machine.spec.confinement.rlimits.update(request["rlimits"])
        return {}

    def _op_signal(self, request: Message, fds: list[int]) -> Message:
        running = self._by_key.get(request["process"])
        if running is None:
            return {"delivered": False}
        try:
            running.send(request["signal"])
        except ProcessLookupError:
            return {"delivered": False}
        return {"delivered": True}

    def _op_resize(self, request: Message, fds: list[int]) -> Message:
        from . import launch

        running = self._by_key.get(request["process"])
        return launch.resize_terminal(running, request["rows"], request["cols"])

    def _op_kill(self, request: Message, fds: list[int]) -> Message:
        running = self._by_key.get(request["process"])
        keep = request["children_only"]
        return {"killed": running is not None and self._kill(running, keep_root=keep)}

    def _op_limit_events(self, request: Message, fds: list[int]) -> Message:
        """Report how often the kernel has enforced limits of the container."""
        # Reported kills are not the reason of a later death.
        self._machine_state(request["machine"]).machine.killed_for_memory()
        return {"oom_kills": memory.oom_kills(), "refused_forks": memory.refused_forks()}

    def _op_sweep(self, request: Message, fds: list[int]) -> Message:
        """Kill the leftovers of ended processes in a machine."""
        machine_state = self._machine_state(request["machine"])
        machine = machine_state.machine
        alone = {getattr(machine, "init", 0), *self._outside_machines(), *machine_state.agents}
        running = {r.pid: r.key for r in self._running.values() if r.machine == request["machine"]}
        below = None if self._namespaces else os.getpid()
        if not process_tree.kill_strays(running, alone, machine.pid_namespace, below):
            machine.kill_all()
        return {}

    def _op_kill_all(self, request: Message, fds: list[int]) -> Message:
        machine_state = self._machines.get(request["machine"])
        if machine_state is not None and not machine_state.machine.kill_all():
            for running in list(self._running.values()):
                if running.machine == request["machine"]:
                    self._kill(running)
        return {}

    def _op_destroy(self, request: Message, fds: list[int]) -> Message:
        self._destroy(request["machine"])
        return {}

    # --- ends

    def _register(self, running: RunningProcess) -> None:
        self._running[running.pid] = running
        self._by_key[running.key] = running

    def _kill(self, running: RunningProcess, *, keep_root: bool = False) -> bool:
        machine_state = self._machines.get(running.machine)
        if machine_state is None:
            return False  # killed with its machine, and not reaped yet
        init: int | None = getattr(machine_state.machine, "init", None)
        exempt = {r.pid for r in self._running.values() if r.machine == running.machine}
        exempt |= {pid for each in self._machines.values() for pid in each.agents}
        exempt |= {init or 0, *self._outside_machines()}
        if running.wraps and keep_root:
            exempt |= process_tree.children(running.pid)
        exempt -= {running.pid}
        adopter = (init or os.getpid()) if running.forked else None
        if process_tree.kill_tree(
            running.pid,
            running.key,
            pid_namespace=machine_state.machine.pid_namespace,
            adopter=adopter,
            exempt=exempt,
            keep_root=keep_root,
        ):
            return True
        return machine_state.machine.kill_all()

    def _outside_machines(self) -> set[int]:
        """Return the pids that belong to no machine."""
        return {self._zygote_pid, os.getpid(), *self._helpers}

    def _destroy(self, machine: str) -> None:
        machine_state = self._machines.pop(machine, None)
        if machine_state is None:
            return
        if self._mode == "plain":
            # A supervisor without namespaces has one machine, to which all its descendants belong.
            process_tree.kill_descendants(os.getpid(), exempt=self._helpers)
        for agent in machine_state.agents:
            # Not reaped yet, so the pid is not reused. The machine's end may not include it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(agent, signal.SIGKILL)
        machine_state.machine.destroy()

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._report_exit(pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def _report_exit(self, pid: int, status: int, cpu_s: float, peak_rss: int) -> None:
        running = self._running.pop(pid, None)
        if running is None:
            for other in self._machines.values():
                other.agents.discard(pid)
            return
        del self._by_key[running.key]
        running.close()
        machine_state = self._machines.get(running.machine)
        if machine_state is not None and status in _KILLED:
            running.over_memory |= machine_state.machine.killed_for_memory()
        self._control.send(
            {
                "event": "exit",
                "process": running.key,
                "status": status,
                "timed_out": running.timed_out,
                "over_memory": running.over_memory,
                "cpu_s": cpu_s,
                "peak_rss": peak_rss,
            }
        )

    def _receive_from_zygote(self) -> None:
        assert self._zygote is not None
        while True:
            record = self._zygote.receive()
            if record is None:
                self._selector.unregister(self._zygote)
                self._zygote.close()
                self._zygote = None
                for number in self._pending_forks:
                    self._control.send({"id": number, "error": "the zygote ended"})
                self._pending_forks.clear()
                self._control.send({"event": "zygote", "stage": "ended"})
                return
            message, fds = record
            if "forked" in message:
                key, pid = message["process"], message["forked"]
                self._pending_forks.discard(message["id"])
                pidfd = fds[0] if fds else None
                self._register(RunningProcess(key, pid, message["machine"], pidfd, forked=True))
                self._control.send({"id": message["id"], "pid": pid})
            elif "exited" in message:
                self._report_exit(
                    message["exited"], message["status"], message["cpu_s"], message["peak_rss"]
                )
            else:
                self._control.send(message)
            if not self._zygote.pending():
                return

    # --- deadlines and watches

    def _next_tick(self) -> float | None:
        moments = [r.deadline for r in self._running.values() if r.deadline is not None]
        moments += [h.deadline for h in self._machines.values() if h.deadline is not None]
        moments += [starting.deadline for starting in self._starting.values()]
        if any(h.memory_limit is not None for h in self._machines.values()):
            moments.append(self._next_memory_watch)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _enforce(self) -> None:
        now = time.monotonic()
        for report, starting in list(self._starting.items()):
            if starting.deadline <= now:
                self._finish_start(report)
        for running in list(self._running.values()):
            if running.deadline is not None and running.deadline <= now:
                running.deadline, running.timed_out = None, True
                self._kill(running)
        for name, machine_state in list(self._machines.items()):
            if machine_state.deadline is not None and machine_state.deadline <= now:
                self._end_machine(name, "deadline")
        if now >= self._next_memory_watch:
            self._watch_memory()
            # With more processes a check takes longer, and happens less often.
            taken = time.monotonic() - now
            self._next_memory_watch = now + max(_MEMORY_WATCH_S, taken * _WATCH_PAUSE)

    def _watch_memory(self) -> None:
        limits = {
            name: (machine_state.machine.pid_namespace, machine_state.memory_limit)
            for name, machine_state in self._machines.items()
            if machine_state.memory_limit is not None
        }
        for name in memory.over_limit(limits, self._outside_machines()) if limits else ():
            for running in self._running.values():
                running.over_memory |= running.machine == name
            self._machines[name].machine.kill_all()
            self._control.send({"event": "ended", "machine": name, "reason": "memory"})

    def _end_machine(self, name: str, reason: str) -> None:
        self._destroy(name)
        self._control.send({"event": "ended", "machine": name, "reason": reason})


def main() -> None:
    """Entry point outside of containers: ``FD MODE FOLDERS`` as arguments."""
    control = ControlChannel(socket.socket(fileno=int(sys.argv[1])))
    os.set_inheritable(control.fileno(), False)
    if sys.argv[2] == "runners":
        from . import runner

        runner.preload(sys.argv[3:])
        serve(control, "namespaces")
    # Not needed by runners, whose forks would pay for their memory.
    from . import agents, launch  # noqa: F401

    if sys.argv[2] == "namespaces":
        serve(control, "namespaces")
    linux.set_child_subreaper()
    try:
        serve(control, "plain")
    finally:
        process_tree.kill_descendants(os.getpid())
        remove_folders(sys.argv[3:])
        os._exit(0)


def serve(
    control: ControlChannel,
    mode: Mode,
    *,
    helpers: Sequence[int] = (),
    facts: Message | None = None,
    zygote: tuple[ControlChannel, int] | None = None,
) -> None:
    """Run a supervisor until the host hangs up.

    Args:
        control: The connection to the host.
        mode: The isolation of machines: ``namespaces`` made by this process, the ``container``
            whose process 1 this is, or none in a ``plain`` process.
        helpers: Processes that belong to no machine.
        facts: Further entries of the first record.
        zygote: A running zygote: the connection to it, and its pid.
    """
    linux.set_process_name("supervisor")
    if mode == "namespaces":
        # Only overlays need it, and their code makes it effective again.
        linux.use_capability(linux.CAP_DAC_OVERRIDE, False)
    os.umask(0o022)
    # The host may have inherited ignored or blocked signals: programs must not inherit them.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # The kernel counts descriptors in flight per user, against the limit of the sender: a machine
    # that fills its own, lower limit must not block the supervisor.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    supervisor = Supervisor(control, mode, helpers)
    if zygote is not None:
        supervisor.adopt_zygote(*zygote)
    ready = {
        "event": "ready",
        "landlock": linux.landlock_abi(),
        "pid": os.getpid(),
        "network": linux.network_name(),
    }
    control.send({**ready, **(facts or {})})
    try:
        supervisor.run()
    finally:
        if mode != "plain":
            os._exit(0)


def remove_folders(folders: list[str]) -> None:
    """Remove the folders of a machine; retry while killed processes end their last calls."""
    deadline = time.monotonic() + 2.0
    while left := [folder for folder in folders if os.path.lexists(folder)]:
        for folder in left:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)
