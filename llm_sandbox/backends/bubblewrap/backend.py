"""The bubblewrap backend: one supervisor a network mode, machines on request."""

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Backend, Control, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.bubblewrap import privileged
from llm_sandbox.backends.bubblewrap.binary import Bwrap, find_bwrap
from llm_sandbox.backends.bubblewrap.machine import BubblewrapMachine
from llm_sandbox.backends.bubblewrap.root import (
    BUILD_ROOT,
    Layout,
    arguments,
    describe_root,
)
from llm_sandbox.backends.bubblewrap.selftest import explain_failure, proof_file, verify
from llm_sandbox.backends.connection import SupervisorConnection, launch_process
from llm_sandbox.backends.hardening.cgroups import Cgroup, find_tree
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.host_root import SEARCH_PATH
from llm_sandbox.backends.layers import LayerPlace
from llm_sandbox.backends.supervised import (
    GuestPaths,
    SupervisedMachine,
    guest_command,
    resource_limits,
)
from llm_sandbox.exceptions import BackendUnavailableError, IsolationUnavailableError, SandboxError
from llm_sandbox.guest.control import Message
from llm_sandbox.guest.linux import architecture, landlock_abi
from llm_sandbox.limits import Limits
from llm_sandbox.settings import get_settings

__all__ = ["BubblewrapBackend", "describe_isolation"]

_LOWEST_USER = 1_600_000_000
"""Root's sandboxes run as users from here up, one for each supervisor: no account and no
subordinate range has them."""

_BUILD_LIMITS = Limits(
    memory_bytes=2 << 30, workdir_bytes=1 << 30, file_size_bytes=4 << 30, inodes=1 << 20
)


class _House:
    """One supervisor with the machines that live in its bubblewrap."""

    def __init__(
        self,
        backend: "BubblewrapBackend",
        network: Network,
        layout: Layout,
        *,
        user: int | None = None,
    ) -> None:
        self.network = network
        self._user = _new_user() if user is None else user
        self.machines: dict[str, SupervisedMachine] = {}
        self.zygote_started = False
        self.zygote_loaded = threading.Event()
        self.cgroup_name = f"llm-sandbox-{os.getpid()}-{os.urandom(4).hex()}"
        self._backend = backend
        self._layout = layout
        self.connection = SupervisorConnection(
            launch_process(self._command), backend=backend.name, on_event=self._hear
        )

    def _command(self, control: int) -> tuple[list[str], list[int]]:
        network = self.network == "open"
        layout = self._layout
        descriptors = {path: _text_fd(text) for path, text in layout.files.items()}
        guest = [
            "--",
            *guest_command(self._backend.paths, "start.main", isolated_site=True),
            str(control),
            "namespaces",
        ]
        library_path = environment.current().library_path
        variables = ["--setenv", "LD_LIBRARY_PATH", library_path] if library_path else []
        bwrap = self._backend.bwrap
        if os.geteuid() != 0:
            words = arguments(layout, network=network, file_fds=descriptors)
            return [str(bwrap.path), *words, *variables, *guest], list(descriptors.values())
        sources = sorted({*layout.binds.values(), *layout.writable.values()})
        staged = Layout(
            {inside: privileged.STAGED + host for inside, host in layout.binds.items()},
            {inside: privileged.STAGED + host for inside, host in layout.writable.items()},
            layout.links,
            layout.files,
            layout.folders,
        )
        program = str(bwrap.path)
        if bwrap.from_wheel:
            # Its library lies beside it, so the folder that holds both is made reachable.
            packages = str(bwrap.path.parents[2])
            sources.append(packages)
            program = f"{privileged.STAGED}{packages}//{bwrap.path.relative_to(packages)}"
        words = arguments(staged, network=network, file_fds=descriptors)
        work = privileged.plan(
            [program, *words, *variables, *guest],
            list(dict.fromkeys(sources)),
            user=self._user,
            kept_fds=[control, *descriptors.values()],
            cgroups=[str(folder / self.cgroup_name) for folder in self._backend.cgroup_folders()],
        )
        code = (
            f"import sys; sys.path.insert(0, {str(environment.PACKAGE.parent)!r}); "
            "from llm_sandbox.backends.bubblewrap import privileged; privileged.main()"
        )
        plan_fd = _text_fd(work)
        words = [sys.executable, "-I", "-S", "-c", code, str(plan_fd)]
        return words, [plan_fd, *descriptors.values()]

    def _hear(self, message: Message) -> None:
        if message["event"] == "ended":
            machine = self.machines.get(message["machine"])
            if machine is not None:
                machine.ended(message["reason"])
        elif message["event"] == "zygote":
            if message["stage"] == "loaded":
                self.zygote_loaded.set()
        elif message["event"] == "gone":
            for machine in list(self.machines.values()):
                machine.ended("gone")

    def start_zygote(self, preload: str) -> None:
        """Start what kernels are forked from, once."""
        if self.zygote_started:
            return
        self.zygote_started = True
        variables = {**self._backend.base_env("/tmp"), **environment.FORKABLE}  # noqa: S108
        command = guest_command(self._backend.paths, "zygote.main", isolated_site=False)
        self.connection.request("zygote", argv=[*command, preload, "0"], env=variables)


class BubblewrapBackend(Backend):
    """See `Backend`. Safe to use from several threads."""

    name = "bubblewrap"
    search_path = SEARCH_PATH

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._houses: dict[Network, _House] = {}
        self._isolation: Isolation | None = None
        self._bwrap: Bwrap | None = None
        self._tree = find_tree()
        self.paths = GuestPaths(environment.current().executable, environment.GUEST_ROOT)
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        # The supervisors belong to the parent; a fork that talked to them would mix up answers.
        self._lock = threading.RLock()
        self._houses = {}

    @property
    def bwrap(self) -> Bwrap:
        """The program in use."""
        if self._bwrap is None:
            self._bwrap = find_bwrap(get_settings().bwrap)
        return self._bwrap

    def cgroup_folders(self) -> list[Path]:
        """Where control groups are made; empty without the right to."""
        return self._tree.folders() if self._tree is not None else []

    def base_env(self, home: str) -> dict[str, str]:
        """The environment of every program, before what the caller adds."""
        python = environment.current()
        variables = {
            "PATH": f"{python.bin}:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "USER": "sandbox",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            # Kept out of the working directory, whose files are the user's.
            "XDG_CACHE_HOME": "/tmp/.cache",  # noqa: S108
            "XDG_CONFIG_HOME": "/tmp/.config",  # noqa: S108
            "MPLCONFIGDIR": "/tmp/.matplotlib",  # noqa: S108
            "IPYTHONDIR": "/tmp/.ipython",  # noqa: S108
        }
        if python.library_path:
            variables["LD_LIBRARY_PATH"] = python.library_path
        return variables

    def check(self) -> Isolation:
        with self._lock:
            if self._isolation is None:
                house = self._house("blocked")
                proof = proof_file(get_settings().cache_dir, self.bwrap)
                if not proof.exists():
                    machine = self._create(house, MachineSpec(), self._report("blocked"))
                    try:
                        verify(machine, self.bwrap)
                    finally:
                        machine.destroy()
                    proof.parent.mkdir(parents=True, exist_ok=True)
                    proof.touch()
                self._isolation = self._report("blocked")
            return self._isolation

    def create(self, spec: MachineSpec) -> Machine:
        self.check()
        with self._lock:
            house = self._house(spec.network)
        return self._create(house, spec, self._report(spec.network, spec))

    def layers(self, machine: Machine) -> LayerPlace:
        return LayerPlace(environment.LAYERS_ROOT)

    @contextlib.contextmanager
    def builder(self, staging: Path, *, binds: Mapping[str, str]) -> Iterator[Machine]:
        """A throw-away machine with an open network that writes to one folder of the host.

        It has a supervisor of its own, so that it shares nothing with the sandboxes of sessions.

        Args:
            staging: The folder, which is /build inside; root gives it to the user the machine runs
                as.
            binds: Path inside to host path of what else is there, read-only.
        """
        self.check()
        layout = describe_root(network=True, layers=None)
        # A private package index may be known by this file alone.
        layout.binds["/etc/hosts"] = "/etc/hosts"
        layout.binds.update(binds)
        layout.writable[BUILD_ROOT] = str(staging)
        user = _new_user()
        if os.geteuid() == 0:
            os.chown(staging, user, user)
        house = _House(self, "open", layout, user=user)
        try:
            spec = MachineSpec(limits=_BUILD_LIMITS, network="open")
            machine = self._create(house, spec, self._report("open", spec), writable=[BUILD_ROOT])
            yield machine
            machine.destroy()
        finally:
            house.connection.close(wait_s=10.0)

    def _create(
        self,
        house: _House,
        spec: MachineSpec,
        report: Isolation,
        *,
        writable: Sequence[str] = (),
    ) -> SupervisedMachine:
        machine_id = os.urandom(8).hex()
        cgroup = None
        if self._tree is not None:
            cgroup = Cgroup(self._tree, f"{house.cgroup_name}/{machine_id}", spec.limits)
        limits = spec.limits
        size = {"inodes": limits.inodes, "mode": "1777"}
        workdir_size = {"inodes": limits.inodes, "mode": "755"}

        def gone(machine: SupervisedMachine) -> None:
            house.machines.pop(machine.id, None)
            if cgroup is not None:
                threading.Thread(target=cgroup.remove, daemon=True).start()

        try:
            machine = BubblewrapMachine(
                house.connection,
                spec,
                report,
                self.paths,
                self.base_env(spec.workdir),
                confinement={
                    "rlimits": resource_limits(limits, processes=True),
                    "seccomp": build_filter(architecture(), memory_objects=cgroup is not None),
                    "read_only": ["/"],
                    "writable": [
                        *(spec.workdir, "/tmp", "/dev/shm", "/dev/pts", "/dev"),  # noqa: S108
                        *writable,
                    ],
                },
                tmpfs=[
                    {"path": "/tmp", "size": limits.tmp_bytes, **size},  # noqa: S108
                    {"path": "/dev/shm", "size": limits.shm_bytes, **size},  # noqa: S108
                    {"path": spec.workdir, "size": limits.workdir_bytes, **workdir_size},
                ],
                cgroup=cgroup,
                machine_id=machine_id,
                on_destroyed=gone,
            )
        except BaseException:
            if cgroup is not None:
                cgroup.remove()
            raise
        house.machines[machine.id] = machine
        return machine

    def warm_up(self, network: Network = "blocked") -> None:
        with self._lock:
            self._house(network).start_zygote(get_settings().preload)

    def prepare(self, network: Network = "blocked") -> None:
        def work() -> None:
            with contextlib.suppress(SandboxError, OSError):
                self.warm_up(network)

        if network in ("blocked", "open") and network not in self._houses:
            threading.Thread(target=work, name="llm-sandbox-prepare", daemon=True).start()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        self.warm_up(network)
        with self._lock:
            house = self._house(network)
        return house.zygote_loaded.wait(timeout_s)

    def _house(self, network: Network) -> _House:
        house = self._houses.get(network)
        if house is None or not house.connection.is_alive:
            layers = get_settings().cache_dir / "layers"
            layers.mkdir(parents=True, exist_ok=True)
            environment.compile_guest()
            layout = describe_root(network=network == "open", layers=layers)
            try:
                house = _House(self, network, layout)
            except IsolationUnavailableError:
                raise
            except BackendUnavailableError as error:
                raise explain_failure(error) from error
            self._houses[network] = house
        return house

    def _report(self, network: Network, spec: MachineSpec | None = None) -> Isolation:
        return describe_isolation(
            network=network,
            cgroup=self._tree is not None,
            landlock=landlock_abi(),
            cpus=spec is not None and spec.limits.cpus is not None,
        )

    def close(self) -> None:
        """End every sandbox of this process. Called at exit; new ones can be made after."""
        with self._lock, contextlib.suppress(RuntimeError):
            houses, self._houses = list(self._houses.values()), {}
            for house in houses:
                house.connection.close(wait_s=5.0)


def describe_isolation(*, network: Network, cgroup: bool, landlock: int, cpus: bool) -> Isolation:
    """What holds a machine, given what this host has."""
    controls: dict[str, Any] = {
        "files": Control("enforced", "a private root; what it shares is read-only"),
        "network": Control("enforced", "a network namespace with loopback only")
        if network == "blocked"
        else Control("absent", "network='open' shares the host's network"),
        "processes": Control("enforced", "a process namespace with its own init"),
        "privileges": Control("enforced", "no capability, no new privileges, no nested namespaces"),
        "system_calls": Control("enforced", "seccomp filter"),
        "landlock": Control("enforced", f"Landlock version {landlock}")
        if landlock
        else Control("absent", "this kernel has no Landlock"),
        "process_count": Control("enforced", "RLIMIT_NPROC in a user namespace of its own"),
        "disk": Control("enforced", "sized file systems in memory with an inode limit"),
        "lifetime": Control("enforced", "process 1 ends with the host's connection"),
        "memory": Control("enforced", "memory control group")
        if cgroup
        else Control("approximated", "RLIMIT_DATA a process; the sum is watched, memfd refused"),
        "cpu": _cpu_control(cgroup=cgroup, asked=cpus),
    }
    return Isolation("bubblewrap", "namespaces", controls)


def _cpu_control(*, cgroup: bool, asked: bool) -> Control:
    if not asked:
        return Control("absent", "no limit was asked for")
    if cgroup:
        return Control("enforced", "cpu control group")
    return Control("absent", "limits.cpus needs a control group, which this user may not make")


def _new_user() -> int:
    return _LOWEST_USER + int.from_bytes(os.urandom(3), "little")


def _text_fd(text: str) -> int:
    fd = os.memfd_create("llm-sandbox", 0)
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
