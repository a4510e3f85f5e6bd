"""The gVisor backend: one `runsc` sandbox a machine, each with a kernel of its own.

A program's system calls are answered by that kernel, which is an ordinary process here and has few
rights. What it does not enforce is said by the isolation report, or refused.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Backend, Control, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.gvisor.binary import Runsc, find_runsc
from llm_sandbox.backends.gvisor.self_test import proof_file, verify
from llm_sandbox.backends.gvisor.supervisor_host import (
    Building,
    GvisorHost,
    GvisorMachine,
    base_env,
)
from llm_sandbox.backends.hardening.cgroups import find_tree
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.host_root import SEARCH_PATH
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import refuse_mounts
from llm_sandbox.backends.process_hooks import register
from llm_sandbox.backends.supervised import resource_limits
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    IsolationUnavailableError,
    UnsupportedError,
)
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.guest.linux import architecture
from llm_sandbox.limits import Limits
from llm_sandbox.settings import Preload, get_settings

__all__ = ["GvisorBackend", "describe_isolation"]

_BUILD_LIMITS = Limits(
    memory_bytes=2 << 30, workdir_bytes=1 << 30, file_size_bytes=4 << 30, inodes=1 << 20
)


class GvisorBackend(Backend):
    """See `Backend`. Safe to use from several threads."""

    name = "gvisor"
    hardens = True
    search_path = SEARCH_PATH

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._hosts: weakref.WeakSet[GvisorHost] = weakref.WeakSet()
        self._spares: dict[Network, GvisorHost] = {}
        self._chosen: tuple[Runsc, str] | None = None
        self._tree = find_tree()
        register(self)

    def _forget(self) -> None:
        # The supervisors belong to the parent; a fork that talked to them would mix up answers.
        self._lock = threading.RLock()
        self._hosts = weakref.WeakSet()
        self._spares = {}

    def check(self) -> Isolation:
        self._choose()
        return self._report(MachineSpec())

    def _choose(self) -> tuple[Runsc, str]:
        with self._lock:
            if self._chosen is None:
                runsc = find_runsc()
                self._chosen = runsc, self._find_platform(runsc)
            return self._chosen

    def _find_platform(self, runsc: Runsc) -> str:
        """Return the quickest platform on which the probe passes."""
        environment.compile_guest()
        proof = proof_file(get_settings().cache_dir, runsc)
        with contextlib.suppress(OSError):
            noted = proof.read_text(encoding="ascii")
            if noted in runsc.platforms:
                return noted
        failures: list[BackendUnavailableError] = []
        for platform in runsc.platforms:
            spec = MachineSpec()
            try:
                host = GvisorHost(runsc, platform, spec, self._tree)
                machine = self._furnish(host, spec)
                try:
                    verify(machine, runsc)
                finally:
                    machine.destroy()
            except IsolationUnavailableError:
                raise
            except BackendUnavailableError as error:
                failures.append(error)
                continue
            proof.parent.mkdir(parents=True, exist_ok=True)
            proof.write_text(platform, encoding="ascii")
            return platform
        raise _explain(failures[0], runsc)

    def create(self, spec: MachineSpec) -> Machine:
        why = "its file system is described before there is a sandbox, and has no place for them"
        refuse_mounts(spec.mounts, spec.gpu, self.name, why)
        self.check()
        for field in ("cpus_requested", "memory_requested_bytes"):
            if getattr(spec.limits, field) is not None and self._tree is None:
                raise UnsupportedError(
                    f"limits.{field}",
                    self.name,
                    "it needs a control group, which this user may not make",
                )
        if spec.limits.cpus is not None and self._tree is None:
            raise UnsupportedError(
                "limits.cpus", self.name, "it needs a control group, which this user may not make"
            )
        with self._lock:
            spare = self._spares.get(spec.network)
            if spare is not None and _fits(spare, spec):
                del self._spares[spec.network]
            else:
                spare = None
        # The rest would be loaded beside the first kernel, to its cost, and for later ones only.
        host = spare if spare is not None and spare.connection.is_alive else self._open(spec)
        try:
            return self._furnish(host, spec)
        except BaseException:
            host.connection.close()
            raise

    def layers(self, machine: Machine) -> LayerLocation:
        return LayerLocation(environment.LAYERS_ROOT)

    @contextlib.contextmanager
    def builder(self, staging: Path, *, binds: Mapping[str, str]) -> Iterator[Machine]:
        """A throw-away machine with an open network that writes to one folder of the host.

        Args:
            staging: The folder, which is /build inside; root gives it to the user the machine runs
                as.
            binds: Path inside to host path of what else is there, read-only.
        """
        self.check()
        spec = MachineSpec(limits=_BUILD_LIMITS, network="open")
        host = self._open(spec, building=Building(staging, binds))
        try:
            # As user 0, which is the one that owns what is written, outside.
            machine = self._furnish(host, spec, user=None)
            yield machine
            machine.destroy()
        finally:
            host.connection.close(wait_s=10.0)

    def _open(
        self,
        spec: MachineSpec,
        *,
        preload: Preload = "lean",
        building: Building | None = None,
    ) -> GvisorHost:
        runsc, platform = self._choose()
        host = GvisorHost(runsc, platform, spec, self._tree, preload=preload, building=building)
        with self._lock:
            self._hosts.add(host)
        return host

    def _furnish(
        self, host: GvisorHost, spec: MachineSpec, user: int | None = USER_ID
    ) -> GvisorMachine:
        machine = GvisorMachine(
            host.connection,
            spec,
            self._report(spec),
            host.paths,
            base_env(spec.workdir),
            confinement={
                "rlimits": resource_limits(spec.limits, processes=True),
                "seccomp": build_filter(architecture(), memory_objects=True),
                "user": None if user is None else [user, user],
            },
            tmpfs=[],
            cgroup=None,
            machine_id=os.urandom(8).hex(),
            on_destroyed=lambda machine: host.connection.close(),
        )
        machine.host = host
        host.machine = machine
        return machine

    def warm_up(self, network: Network = "blocked") -> None:
        self._spare(network)

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        return self._spare(network).zygote_loaded.wait(timeout_s)

    def _spare(self, network: Network) -> GvisorHost:
        self.check()
        with self._lock:
            host = self._spares.get(network)
            if host is None or not host.connection.is_alive:
                spec = MachineSpec(network=network, for_kernel=True)
                host = self._open(spec, preload=get_settings().preload)
                self._spares[network] = host
        return host

    def _report(self, spec: MachineSpec) -> Isolation:
        return describe_isolation(spec, cgroup=self._tree is not None)

    def close(self) -> None:
        """End every sandbox of this process. Called at exit; new ones can be made after."""
        with self._lock:
            hosts, self._hosts, self._spares = list(self._hosts), weakref.WeakSet(), {}
        for host in hosts:
            host.connection.close()
        for host in hosts:
            with contextlib.suppress(RuntimeError):
                host.connection.close(wait_s=5.0)


def describe_isolation(spec: MachineSpec, *, cgroup: bool) -> Isolation:
    """What holds a machine, given whether this host has control groups for it."""
    memory = "gVisor's count of the whole sandbox is watched four times a second"
    if cgroup:
        memory += "; a memory control group 512 MiB above the limit ends the sandbox"
    if spec.limits.cpus is None:
        cpu = Control("absent", "no limit was asked for")
    else:
        cpu = Control("enforced", "cpu control group")
    return Isolation(
        "gvisor",
        "container",
        {
            "kernel": Control("enforced", "gVisor: a kernel of its own answers system calls"),
            "files": Control("enforced", "a private root; what it shares is read-only"),
            "network": Control("enforced", "a network of its own with loopback only")
            if spec.network == "blocked"
            else Control("absent", "network='open' shares the host's network"),
            "processes": Control("enforced", "a process table of its own"),
            "privileges": Control(
                "enforced", "another user without capabilities, no new privileges or namespaces"
            ),
            "system_calls": Control("enforced", "seccomp filter inside, gVisor's own outside"),
            "landlock": Control("absent", "gVisor has no Landlock"),
            "process_count": Control("enforced", "RLIMIT_NPROC of a user of its own"),
            "disk": Control(
                "approximated", "sized file systems in memory; gVisor has no inode limit"
            ),
            "lifetime": Control("enforced", "process 1 ends with the host's connection"),
            "memory": Control("approximated", memory),
            "cpu": cpu,
        },
    )


def _fits(host: GvisorHost, spec: MachineSpec) -> bool:
    """Whether what was fixed when a sandbox started is what is asked for now."""
    old, new = host.spec, spec
    return (old.workdir, old.limits, old.network) == (new.workdir, new.limits, new.network)


def _explain(error: BackendUnavailableError, runsc: Runsc) -> BackendUnavailableError:
    hint = "if this is inside a container, start it with --security-opt seccomp=unconfined"
    if os.geteuid() != 0:
        with contextlib.suppress(OSError):
            with open("/proc/sys/user/max_user_namespaces", encoding="ascii") as file:
                if file.read().strip() == "0":
                    hint = "sysctl -w user.max_user_namespaces=15000"
            with open("/proc/sys/kernel/unprivileged_userns_clone", encoding="ascii") as file:
                if file.read().strip() == "0":
                    hint = "sysctl -w kernel.unprivileged_userns_clone=1"
    return BackendUnavailableError(
        f"gVisor ({runsc.path}, {runsc.version}) does not start here: {error.message}",
        backend="gvisor",
        hint=hint,
    )
