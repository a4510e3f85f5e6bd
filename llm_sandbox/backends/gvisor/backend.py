"""gVisor backend: one `runsc` sandbox for each machine, with a kernel of its own.

That kernel answers the system calls of programs; on the host it is an ordinary process with few
rights. What it cannot enforce is in the isolation report, or refused.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Control, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.gvisor.binary import Runsc, find_runsc
from llm_sandbox.backends.gvisor.supervisor_host import BuildFolders, GvisorHost, GvisorMachine
from llm_sandbox.backends.hardening.cgroups import explain_missing, find_tree
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.host_root import BUILD_LIMITS, SEARCH_PATH, program_environment
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import refuse_mounts
from llm_sandbox.backends.self_test import SelfTest, find_cause
from llm_sandbox.backends.supervised import resource_limits
from llm_sandbox.backends.supervisor_host import SupervisedBackend
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    IsolationUnavailableError,
    UnsupportedError,
)
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.guest.linux import architecture
from llm_sandbox.settings import Preload, get_settings

__all__ = ["GvisorBackend", "describe_isolation"]

_CONTROLLERS = {"cpus": "cpu", "cpus_requested": "cpu", "memory_requested_bytes": "memory"}
"""Controllers of control groups, by the limits that need them."""
_IS_GVISOR = """
named = 'gvisor' in open('/proc/version').read().lower()
if not named and not os.path.exists('/proc/sentry-meminfo'): found.append('not a kernel of gVisor')
"""


class GvisorBackend(SupervisedBackend):
    """Backend of gVisor sandboxes. Safe to use from several threads."""

    name = "gvisor"
    hardens = True
    search_path = SEARCH_PATH

    def __init__(self) -> None:
        super().__init__()
        self._spares: dict[Network, GvisorHost] = {}
        self._chosen: tuple[Runsc, str] | None = None
        self._tree = find_tree()

    def _after_fork(self) -> None:
        super()._after_fork()
        self._spares = {}

    def check(self) -> Isolation:
        runsc, _ = self._choose()
        return self._report(MachineSpec(), runsc)

    def describe_engine(self) -> str:
        runsc, _ = self._choose()
        return f"runsc {runsc.version} at {runsc.path}"

    def _choose(self) -> tuple[Runsc, str]:
        with self._lock:
            if self._chosen is None:
                runsc = find_runsc()
                self._chosen = runsc, self._find_platform(runsc)
            return self._chosen

    def _find_platform(self, runsc: Runsc) -> str:
        """Return the quickest platform on which the self-test passes."""
        environment.compile_guest()
        test = _self_test(runsc)
        proof = test.proof_file(get_settings().cache_dir)
        with contextlib.suppress(OSError):
            proven = proof.read_text(encoding="ascii")
            if proven in runsc.platforms:
                return proven
        failures: list[BackendUnavailableError] = []
        for platform in runsc.platforms:
            spec = MachineSpec()
            try:
                host = GvisorHost(runsc, platform, spec, self._tree)
                machine = self._make_machine(host, spec, runsc)
                try:
                    test.run(machine)
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
        why = "the file system of its sandboxes is fixed before a machine is created"
        refuse_mounts(spec.mounts, spec.gpu, self.name, why)
        self.check()
        for field, controller in _CONTROLLERS.items():
            missing = explain_missing(self._tree, controller)
            if missing is not None and getattr(spec.limits, field) is not None:
                raise UnsupportedError(f"limits.{field}", self.name, missing)
        with self._lock:
            spare = self._spares.get(spec.network)
            if spare is not None and _fits(spare, spec):
                del self._spares[spec.network]
            else:
                spare = None
        # With "lean" preloading: more would slow down the first kernel for the benefit of others.
        host = spare if spare is not None and spare.connection.is_alive else self._open(spec)
        try:
            return self._make_machine(host, spec, self._choose()[0])
        except BaseException:
            host.connection.close()
            raise

    def layers(self, machine: Machine) -> LayerLocation:
        return LayerLocation(environment.LAYERS_ROOT)

    @contextlib.contextmanager
    def builder(self, staging: Path, *, binds: Mapping[str, str]) -> Iterator[Machine]:
        self.check()
        spec = MachineSpec(limits=BUILD_LIMITS, network="open")
        host = self._open(spec, build=BuildFolders(staging, binds))
        try:
            # As user 0 inside, which outside is the owner of the written files.
            machine = self._make_machine(host, spec, self._choose()[0], user=None)
            yield machine
            machine.destroy()
        finally:
            host.connection.close(wait_s=10.0)

    def _open(
        self,
        spec: MachineSpec,
        *,
        preload: Preload = "lean",
        build: BuildFolders | None = None,
    ) -> GvisorHost:
        runsc, platform = self._choose()
        host = GvisorHost(runsc, platform, spec, self._tree, preload=preload, build=build)
        with self._lock:
            self._hosts.add(host)
        return host

    def _make_machine(
        self, host: GvisorHost, spec: MachineSpec, runsc: Runsc, *, user: int | None = USER_ID
    ) -> GvisorMachine:
        machine = GvisorMachine(
            host.connection,
            spec,
            self._report(spec, runsc),
            host.paths,
            program_environment(spec.workdir),
            confinement={
                "rlimits": resource_limits(spec.limits, processes=True),
                "seccomp": build_filter(architecture(), memory_objects=True),
                "user": None if user is None else [user, user],
            },
            tmpfs=[],
            cgroup=None,
            machine_id=os.urandom(8).hex(),
            on_destroyed=lambda machine: host.connection.close(),
            start_zygote=host.start_zygote,
        )
        host.machines[machine.id] = machine
        return machine

    def warm_up(self, network: Network = "blocked") -> None:
        self._spare(network)

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        return self._spare(network).wait_for_zygote(timeout_s)

    def _spare(self, network: Network) -> GvisorHost:
        self.check()
        with self._lock:
            host = self._spares.get(network)
            if host is None or not host.connection.is_alive:
                spec = MachineSpec(network=network, for_kernel=True)
                host = self._open(spec, preload=get_settings().preload)
                self._spares[network] = host
        return host

    def _report(self, spec: MachineSpec, runsc: Runsc) -> Isolation:
        return describe_isolation(spec, cgroup=self._tree is not None, version=runsc.version)

    def close(self) -> None:
        with self._lock:
            self._spares = {}
        super().close()


def describe_isolation(spec: MachineSpec, *, cgroup: bool, version: str = "") -> Isolation:
    """Return the isolation report of a machine.

    Args:
        spec: The machine.
        cgroup: Whether control groups can be made on this computer.
        version: Version of runsc.
    """
    kernel = f"gVisor {version}".rstrip()
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
            "kernel": Control("enforced", f"{kernel}: a kernel of its own answers system calls"),
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
    """Return whether a sandbox that was started ahead fits a specification."""
    old, new = host.spec, spec
    return (old.workdir, old.limits, old.network) == (new.workdir, new.limits, new.network)


def _explain(error: BackendUnavailableError, runsc: Runsc) -> BackendUnavailableError:
    _, hint = find_cause()
    return BackendUnavailableError(
        f"gVisor ({runsc.path}, {runsc.version}) does not start here: {error.message}",
        backend="gvisor",
        hint=hint,
    )


def _self_test(runsc: Runsc) -> SelfTest:
    return SelfTest(
        "gvisor",
        f"gVisor ({runsc.path}, {runsc.version})",
        runsc.path,
        capabilities=("CapInh", "CapPrm", "CapEff", "CapBnd"),
        kernel_setting="/proc/sys/kernel/hostname",
        kernel_folder="/sys/kernel/debug",
        more=_IS_GVISOR,
    )
