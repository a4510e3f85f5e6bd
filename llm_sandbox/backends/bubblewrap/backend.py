"""Bubblewrap backend: one supervisor for each network mode, machines on request."""

import contextlib
import os
import socket
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Control, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.bubblewrap.binary import Bwrap, find_bwrap
from llm_sandbox.backends.bubblewrap.machine import BubblewrapMachine
from llm_sandbox.backends.bubblewrap.machine_mounts import MachineMounts
from llm_sandbox.backends.bubblewrap.supervisor_host import BubblewrapHost, new_user
from llm_sandbox.backends.bubblewrap.writable_root import (
    describe_writable,
    explain_root,
    open_saved_root,
)
from llm_sandbox.backends.font_lists import font_lists
from llm_sandbox.backends.hardening.cgroups import Cgroup, explain_missing, find_tree
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.host_root import (
    BUILD_LIMITS,
    BUILD_ROOT,
    SEARCH_PATH,
    Layout,
    describe_root,
    program_environment,
)
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import hold_volumes, refuse_mounts, writes_to_host
from llm_sandbox.backends.self_test import SelfTest, find_cause
from llm_sandbox.backends.supervised import SupervisedMachine, resource_limits
from llm_sandbox.backends.supervisor_host import SupervisedBackend
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    IsolationUnavailableError,
    SandboxError,
    UnsupportedError,
)
from llm_sandbox.guest.linux import architecture, landlock_abi
from llm_sandbox.limits import Limits
from llm_sandbox.settings import get_settings

__all__ = ["BubblewrapBackend", "describe_isolation"]


class BubblewrapBackend(SupervisedBackend):
    """Backend of unprivileged namespaces. Safe to use from several threads."""

    name = "bubblewrap"
    hardens = True
    writable_root = True
    search_path = SEARCH_PATH

    def __init__(self) -> None:
        super().__init__()
        self._shared_hosts: dict[Network, BubblewrapHost] = {}
        self._runner_hosts: dict[tuple[str, ...], list[BubblewrapHost]] = {}
        self._isolation: Isolation | None = None
        self._bwrap: Bwrap | None = None
        self._tree = find_tree()

    def _after_fork(self) -> None:
        super()._after_fork()
        self._shared_hosts = {}
        self._runner_hosts = {}

    @property
    def bwrap(self) -> Bwrap:
        """The program in use."""
        if self._bwrap is None:
            self._bwrap = find_bwrap(get_settings().bwrap)
        return self._bwrap

    def describe_engine(self) -> str:
        return f"bwrap {self.bwrap.version_text} at {self.bwrap.path}"

    def check(self) -> Isolation:
        with self._lock:
            if self._isolation is None:
                host = self._shared_host("blocked")
                test = _self_test(self.bwrap)
                proof = test.proof_file(get_settings().cache_dir)
                if not proof.exists():
                    machine = self._create(host, MachineSpec(), self._report("blocked"))
                    try:
                        test.run(machine)
                    finally:
                        machine.destroy()
                    proof.parent.mkdir(parents=True, exist_ok=True)
                    proof.touch()
                self._isolation = self._report("blocked")
            return self._isolation

    def create(self, spec: MachineSpec) -> Machine:
        self.check()
        self._check_cpus(spec.limits)
        if spec.gpu is not None:
            refuse_mounts({}, spec.gpu, self.name, "")
        mounts = MachineMounts(spec.mounts)
        report = mounts.report(self._report(spec.network, spec))
        if not mounts.found:
            with self._lock:
                host = self._shared_host(spec.network)
            return self._create(host, spec, report, mounts=mounts)
        # A supervisor of its own: no other machine's supervisor may see its mounts.
        with hold_volumes(spec.mounts) as volumes:
            layout = _layout(spec.network)
            mounts.stage(layout, is_root=os.geteuid() == 0)
            host = self._host(spec.network, layout, mounts=mounts)
            try:
                machine = self._create(host, spec, report, mounts=mounts)
            except BaseException:
                host.connection.close()
                raise

        def end() -> None:
            host.connection.close()
            while volumes:
                os.close(volumes.pop())

        machine.on_end(end)
        return machine

    def create_runner(
        self, spec: MachineSpec, preload: Sequence[str] = ()
    ) -> tuple[Machine, socket.socket]:
        self.check()
        self._check_cpus(spec.limits)
        if spec.mounts or spec.gpu is not None or spec.network != "blocked":
            raise UnsupportedError("mounts, GPUs and networks of evaluated code", self.name)
        with self._lock:
            host = self._runner_host(tuple(preload))
        near, far = socket.socketpair()
        try:
            return self._create(host, spec, self._report("blocked", spec), runner=far), near
        except BaseException:
            near.close()
            raise
        finally:
            far.close()

    def _check_cpus(self, limits: Limits) -> None:
        missing = explain_missing(self._tree, "cpu")
        if missing is not None and limits.cpus is not None:
            hint = "leave cpus out, or use the docker or podman backend"
            raise UnsupportedError("limits.cpus", self.name, missing, hint=hint)

    def _runner_host(self, preload: tuple[str, ...]) -> BubblewrapHost:
        """Return the supervisor with the fewest machines, one for each CPU at most: each makes one
        machine at a time.
        """
        hosts = [host for host in self._runner_hosts.get(preload, ()) if host.connection.is_alive]
        host = min(hosts, key=lambda host: len(host.machines), default=None)
        if host is None or (host.machines and len(hosts) < (os.cpu_count() or 1)):
            environment.compile_guest()
            host = self._host("blocked", _layout("blocked"), preload=preload)
            hosts.append(host)
        self._runner_hosts[preload] = hosts
        return host

    def layers(self, machine: Machine) -> LayerLocation:
        return LayerLocation(environment.LAYERS_ROOT)

    @contextlib.contextmanager
    def builder(self, staging: Path, *, binds: Mapping[str, str]) -> Iterator[Machine]:
        # A supervisor of its own: it shares nothing with the sandboxes of sessions.
        self.check()
        layout = describe_root(network=True, layers=None)
        # A private package index may be known by this file alone.
        layout.binds["/etc/hosts"] = "/etc/hosts"
        layout.binds.update(binds)
        layout.writable[BUILD_ROOT] = str(staging)
        user = new_user()
        if os.geteuid() == 0:
            os.chown(staging, user, user)
        host = self._host("open", layout, user=user)
        try:
            spec = MachineSpec(limits=BUILD_LIMITS, network="open")
            machine = self._create(host, spec, self._report("open", spec), writable=[BUILD_ROOT])
            yield machine
            machine.destroy()
        finally:
            host.connection.close(wait_s=10.0)

    def _create(
        self,
        host: BubblewrapHost,
        spec: MachineSpec,
        report: Isolation,
        *,
        writable: Sequence[str] = (),
        mounts: MachineMounts | None = None,
        runner: socket.socket | None = None,
    ) -> BubblewrapMachine:
        mounts = mounts or MachineMounts({})
        machine_id = os.urandom(8).hex()
        saved_root = open_saved_root(spec.saved_root)
        cgroup: Cgroup | None = None
        limits = spec.limits
        size = {"inodes": limits.inodes, "mode": "1777"}
        workdir_size = {"inodes": limits.inodes, "mode": "755"}
        root = describe_writable(limits, saved=bool(saved_root)) if spec.writable_root else None

        def destroyed(machine: SupervisedMachine) -> None:
            host.machines.pop(machine.id, None)
            if cgroup is not None:
                threading.Thread(target=cgroup.remove, daemon=True).start()

        try:
            if self._tree is not None:
                cgroup = Cgroup(self._tree, f"{host.cgroup_name}/{machine_id}", spec.limits)
            machine = BubblewrapMachine(
                host.connection,
                spec,
                report,
                host.paths,
                program_environment(spec.workdir),
                confinement={
                    "rlimits": resource_limits(limits, processes=True),
                    "raisable": ["DATA"] if cgroup is not None else [],
                    "seccomp": build_filter(
                        architecture(),
                        memory_objects=cgroup is not None,
                        set_id_bits=not writes_to_host(spec.mounts),
                    ),
                    "read_only": ["/"],
                    "writable": [
                        *(spec.workdir, "/tmp", "/dev/shm", "/dev/pts", "/dev"),  # noqa: S108
                        *writable,
                        *(root["places"] if root is not None else ()),
                        *mounts.writable,
                    ],
                    "binds": mounts.binds,
                },
                tmpfs=[
                    {"path": "/tmp", "size": limits.tmp_bytes, **size},  # noqa: S108
                    {"path": "/dev/shm", "size": limits.shm_bytes, **size},  # noqa: S108
                    *mounts.workdir(spec, {"size": limits.workdir_bytes, **workdir_size}),
                    *({"path": path, **size, "size": all_} for path, all_ in mounts.sizes.items()),
                ],
                cgroup=cgroup,
                machine_id=machine_id,
                on_destroyed=destroyed,
                root=root,
                saved_root=saved_root,
                start_zygote=host.start_zygote,
                runner=runner,
            )
        except BackendError as error:
            if cgroup is not None:
                cgroup.remove()
            raise explain_root(error) from None
        except OSError as error:  # the group of a supervisor that has ended is gone
            if cgroup is not None:
                cgroup.remove()
            raise BackendError(f"the sandbox could not be made: {error}", op="create") from error
        except BaseException:
            if cgroup is not None:
                cgroup.remove()
            raise
        finally:
            for fd in saved_root:
                os.close(fd)
        host.machines[machine.id] = machine
        return machine

    def warm_up(self, network: Network = "blocked") -> None:
        with self._lock:
            host = self._shared_host(network)
        host.start_zygote()

    def prepare(self, network: Network = "blocked") -> None:
        def work() -> None:
            with contextlib.suppress(SandboxError, OSError):
                self.warm_up(network)

        if network in ("blocked", "open") and network not in self._shared_hosts:
            threading.Thread(target=work, name="llm-sandbox-prepare", daemon=True).start()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        self.warm_up(network)
        with self._lock:
            host = self._shared_host(network)
        return host.wait_for_zygote(timeout_s)

    def _shared_host(self, network: Network) -> BubblewrapHost:
        host = self._shared_hosts.get(network)
        if host is None or not host.connection.is_alive:
            environment.compile_guest()
            layout = _layout(network)
            try:
                host = self._host(network, layout)
            except IsolationUnavailableError:
                raise
            except BackendUnavailableError as error:
                raise _explain(error) from error
            self._shared_hosts[network] = host
        return host

    def _host(
        self,
        network: Network,
        layout: Layout,
        *,
        user: int | None = None,
        mounts: MachineMounts | None = None,
        preload: Sequence[str] | None = None,
    ) -> BubblewrapHost:
        folders = self._tree.folders() if self._tree is not None else []
        host = BubblewrapHost(
            self.bwrap,
            network,
            layout,
            cgroup_folders=folders,
            user=user,
            mounts=mounts,
            preload=preload,
        )
        with self._lock:
            self._hosts.add(host)
        return host

    def _report(self, network: Network, spec: MachineSpec | None = None) -> Isolation:
        return describe_isolation(
            network=network,
            controllers=() if self._tree is None else self._tree.bases,
            landlock=landlock_abi(),
            limits=None if spec is None else spec.limits,
            version=self.bwrap.version_text,
        )

    def close(self) -> None:
        with self._lock:
            self._shared_hosts = {}
            self._runner_hosts = {}
        super().close()


def _layout(network: Network) -> Layout:
    settings = get_settings()
    layers = settings.cache_dir / "layers"
    layers.mkdir(parents=True, exist_ok=True)
    layout = describe_root(network=network == "open", layers=layers)
    for name, text in font_lists(settings.cache_dir).items():
        layout.files[f"{environment.GUEST_ROOT}/fonts/{name}"] = text
    return layout


def _self_test(bwrap: Bwrap) -> SelfTest:
    return SelfTest(
        "bubblewrap",
        f"bubblewrap ({bwrap.path}, {bwrap.version_text})",
        bwrap.path,
        capabilities=("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"),
        kernel_setting="/proc/sys/kernel/core_pattern",
        kernel_folder="/sys/kernel",
    )


def describe_isolation(
    *,
    network: Network,
    controllers: Collection[str],
    landlock: int,
    limits: Limits | None = None,
    version: str = "",
) -> Isolation:
    """Return the isolation report of a machine.

    Args:
        network: Its network.
        controllers: Controllers of the control groups that can be made on this computer.
        landlock: Version of Landlock of this kernel; 0 for none.
        limits: Its limits; None for the defaults.
        version: Version of bwrap.
    """
    limits = limits or Limits()
    by = f" made by bwrap {version}" if version else ""
    controls: dict[str, Control] = {
        "files": Control("enforced", f"a private root{by}; what it shares is read-only"),
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
        if "memory" in controllers
        else Control("approximated", "RLIMIT_DATA a process; the sum is watched, memfd refused"),
        "cpu": Control("absent", "no limit was asked for")
        if limits.cpus is None
        else _hold("cpus", "cpu", controllers, Control("enforced", "cpu control group")),
    }
    for name, field, controller in (
        ("cpu_request", "cpus_requested", "cpu"),
        ("memory_request", "memory_requested_bytes", "memory"),
    ):
        if getattr(limits, field) is not None:
            by = f"{controller} control group: a share, where others want some too"
            controls[name] = _hold(field, controller, controllers, Control("approximated", by))
    return Isolation("bubblewrap", "namespaces", controls)


def _hold(field: str, controller: str, controllers: Collection[str], control: Control) -> Control:
    if controller in controllers:
        return control
    return Control("absent", f"limits.{field} needs the {controller} control group")


def _explain(error: BackendUnavailableError) -> IsolationUnavailableError:
    """Return the error that says why bubblewrap did not start, and what to do."""
    reason, hint = find_cause()
    if reason is None and error.hint is not None:
        hint = error.hint
    return IsolationUnavailableError(
        f"this machine cannot isolate with bubblewrap: {reason or error.message}",
        backend="bubblewrap",
        hint=hint,
    )
