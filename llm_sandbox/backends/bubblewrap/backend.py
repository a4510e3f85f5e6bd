"""The bubblewrap backend: one supervisor a network mode, machines on request."""

import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Backend, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.bubblewrap.binary import Bwrap, find_bwrap
from llm_sandbox.backends.bubblewrap.isolation import describe_isolation
from llm_sandbox.backends.bubblewrap.machine import BubblewrapMachine
from llm_sandbox.backends.bubblewrap.machine_mounts import MachineMounts
from llm_sandbox.backends.bubblewrap.root import BUILD_ROOT, Layout, describe_root
from llm_sandbox.backends.bubblewrap.self_test import explain_failure, proof_file, verify
from llm_sandbox.backends.bubblewrap.supervisor_host import BubblewrapHost, new_user
from llm_sandbox.backends.bubblewrap.writable_root import (
    describe_writable,
    explain_root,
    open_saved_root,
)
from llm_sandbox.backends.font_lists import font_lists
from llm_sandbox.backends.hardening.cgroups import Cgroup, find_tree
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.host_root import SEARCH_PATH
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import hold_volumes, refuse_mounts, writes_to_host
from llm_sandbox.backends.process_hooks import register
from llm_sandbox.backends.supervised import (
    GuestPaths,
    SupervisedMachine,
    resource_limits,
)
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    IsolationUnavailableError,
    SandboxError,
)
from llm_sandbox.guest.linux import architecture, landlock_abi
from llm_sandbox.limits import Limits
from llm_sandbox.settings import get_settings

__all__ = ["BubblewrapBackend"]

_BUILD_LIMITS = Limits(
    memory_bytes=2 << 30, workdir_bytes=1 << 30, file_size_bytes=4 << 30, inodes=1 << 20
)


class BubblewrapBackend(Backend):
    """See `Backend`. Safe to use from several threads."""

    name = "bubblewrap"
    hardens = True
    writable_root = True
    search_path = SEARCH_PATH

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._hosts: dict[Network, BubblewrapHost] = {}
        self._own_hosts: weakref.WeakSet[BubblewrapHost] = weakref.WeakSet()
        self._isolation: Isolation | None = None
        self._bwrap: Bwrap | None = None
        self._tree = find_tree()
        self.paths = GuestPaths(environment.current().executable, environment.GUEST_ROOT)
        register(self)

    def _forget(self) -> None:
        # The supervisors belong to the parent; a fork that talked to them would mix up answers.
        self._lock = threading.RLock()
        self._hosts = {}
        self._own_hosts = weakref.WeakSet()

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
                host = self._host("blocked")
                proof = proof_file(get_settings().cache_dir, self.bwrap)
                if not proof.exists():
                    machine = self._create(host, MachineSpec(), self._report("blocked"))
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
        if spec.gpu is not None:
            refuse_mounts({}, spec.gpu, self.name, "")
        mounts = MachineMounts(spec.mounts)
        report = mounts.report(self._report(spec.network, spec))
        if not mounts.found:
            with self._lock:
                host = self._host(spec.network)
            return self._create(host, spec, report, mounts=mounts)
        # What one sandbox was given, no other one's supervisor has.
        with hold_volumes(spec.mounts) as held:
            layout = _layout(spec.network)
            mounts.stage(layout, is_root=os.geteuid() == 0)
            host = BubblewrapHost(self, spec.network, layout, mounts=mounts)
            try:
                machine = self._create(host, spec, report, mounts=mounts)
            except BaseException:
                host.connection.close()
                raise
        machine.start_zygote = functools.partial(host.start_zygote, get_settings().preload)
        machine.on_end(functools.partial(_end_host, host, held))
        with self._lock:
            self._own_hosts.add(host)
        return machine

    def layers(self, machine: Machine) -> LayerLocation:
        return LayerLocation(environment.LAYERS_ROOT)

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
        user = new_user()
        if os.geteuid() == 0:
            os.chown(staging, user, user)
        host = BubblewrapHost(self, "open", layout, user=user)
        try:
            spec = MachineSpec(limits=_BUILD_LIMITS, network="open")
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
    ) -> BubblewrapMachine:
        mounts = mounts or MachineMounts({})
        machine_id = os.urandom(8).hex()
        saved_root = open_saved_root(spec.saved_root)
        cgroup = None
        if self._tree is not None:
            cgroup = Cgroup(self._tree, f"{host.cgroup_name}/{machine_id}", spec.limits)
        limits = spec.limits
        size = {"inodes": limits.inodes, "mode": "1777"}
        workdir_size = {"inodes": limits.inodes, "mode": "755"}
        root = describe_writable(limits, saved=bool(saved_root)) if spec.writable_root else None

        def gone(machine: SupervisedMachine) -> None:
            host.machines.pop(machine.id, None)
            if cgroup is not None:
                threading.Thread(target=cgroup.remove, daemon=True).start()

        try:
            machine = BubblewrapMachine(
                host.connection,
                spec,
                report,
                self.paths,
                self.base_env(spec.workdir),
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
                on_destroyed=gone,
                root=root,
                saved_root=saved_root,
            )
        except BackendError as error:
            if cgroup is not None:
                cgroup.remove()
            raise explain_root(error) from None
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
            self._host(network).start_zygote(get_settings().preload)

    def prepare(self, network: Network = "blocked") -> None:
        def work() -> None:
            with contextlib.suppress(SandboxError, OSError):
                self.warm_up(network)

        if network in ("blocked", "open") and network not in self._hosts:
            threading.Thread(target=work, name="llm-sandbox-prepare", daemon=True).start()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        self.warm_up(network)
        with self._lock:
            host = self._host(network)
        return host.zygote_loaded.wait(timeout_s)

    def _host(self, network: Network) -> BubblewrapHost:
        host = self._hosts.get(network)
        if host is None or not host.connection.is_alive:
            environment.compile_guest()
            layout = _layout(network)
            try:
                host = BubblewrapHost(self, network, layout)
            except IsolationUnavailableError:
                raise
            except BackendUnavailableError as error:
                raise explain_failure(error) from error
            self._hosts[network] = host
        return host

    def _report(self, network: Network, spec: MachineSpec | None = None) -> Isolation:
        return describe_isolation(
            network=network,
            cgroup=self._tree is not None,
            landlock=landlock_abi(),
            limits=None if spec is None else spec.limits,
        )

    def close(self) -> None:
        """End every sandbox of this process. Called at exit; new ones can be made after."""
        with self._lock, contextlib.suppress(RuntimeError):
            hosts, self._hosts = [*self._hosts.values(), *self._own_hosts], {}
            for host in hosts:
                host.connection.close(wait_s=5.0)


def _layout(network: Network) -> Layout:
    layout = describe_root(network=network == "open", layers=_layers())
    for name, text in font_lists(get_settings().cache_dir).items():
        layout.files[f"{environment.GUEST_ROOT}/fonts/{name}"] = text
    return layout


def _layers() -> Path:
    layers = get_settings().cache_dir / "layers"
    layers.mkdir(parents=True, exist_ok=True)
    return layers


def _end_host(host: BubblewrapHost, held: list[int]) -> None:
    host.connection.close()
    while held:
        os.close(held.pop())
