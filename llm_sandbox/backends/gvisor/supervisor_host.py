"""One gVisor sandbox: a supervisor with its one machine, and all that they need on the host."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import KernelSpec, MachineSpec, RawKernel
from llm_sandbox.backends.connection import SupervisorConnection
from llm_sandbox.backends.gvisor import launcher
from llm_sandbox.backends.gvisor.binary import Runsc
from llm_sandbox.backends.gvisor.bundle import TRUSTED_HOME, SharedFolder, configuration
from llm_sandbox.backends.gvisor.launch import launch_in_gvisor
from llm_sandbox.backends.hardening.cgroup_removal import remove_group
from llm_sandbox.backends.hardening.cgroups import Cgroup, CgroupTree
from llm_sandbox.backends.host_root import describe_root
from llm_sandbox.backends.supervised import GuestPaths, SupervisedMachine, guest_command
from llm_sandbox.guest.control import Message
from llm_sandbox.limits import Limits
from llm_sandbox.settings import Preload, get_settings

__all__ = ["BUILD_ROOT", "Building", "GvisorHost", "GvisorMachine", "base_env"]

_LOWEST_USER = 1_700_000_000
"""Root's sandboxes run as users from here up, each as its own: no account and no subordinate range
has them."""

_OWN_BYTES = 512 << 20
"""What a sandbox may use of the host's memory beyond what its programs may: gVisor's kernel and
file server, the supervisor, and what kernels are forked from."""

_OWN_TASKS = 512
_TIDY_UP_S = 4.0
BUILD_ROOT = "/build"
"""Where a machine that builds layers writes them."""


@dataclass(frozen=True)
class Building:
    """What a sandbox that builds layers has more than others.

    Attributes:
        staging: The host folder that is /build inside.
        binds: Path inside to host path of what else is there, read-only.
    """

    staging: Path
    binds: Mapping[str, str]


class GvisorHost:
    """Starts a sandbox for one machine.

    Args:
        runsc: The program.
        platform: What it runs on.
        spec: The machine that will be made in it.
        tree: Where control groups can be made; None where they cannot.
        preload: What is loaded before kernels are forked.
        building: What it is given besides, to build layers in; None for nothing.

    Raises:
        BackendUnavailableError: It did not start.
    """

    def __init__(
        self,
        runsc: Runsc,
        platform: str,
        spec: MachineSpec,
        tree: CgroupTree | None,
        *,
        preload: Preload = "lean",
        building: Building | None = None,
    ) -> None:
        self.spec = spec
        self.paths = GuestPaths(environment.current().executable, environment.GUEST_ROOT)
        self.machine: SupervisedMachine | None = None
        self.zygote_loaded = threading.Event()
        self._runsc = runsc
        self._platform = platform
        self._tree = tree
        self._preload = preload
        self._building = building
        self._cgroups: list[str] = []
        self._lock = threading.Lock()
        self._zygote_started = spec.for_kernel
        self.connection = SupervisorConnection(
            launch_in_gvisor(self._plan), backend="gvisor", on_event=self._hear
        )

    def _plan(self) -> tuple[str, list[int]]:
        spec = self.spec
        name = f"llm-sandbox-{os.getpid()}-{os.urandom(4).hex()}"
        layers = get_settings().cache_dir / "layers"
        layers.mkdir(parents=True, exist_ok=True)
        layout = describe_root(network=spec.network == "open", layers=None)
        layout.folders += [spec.workdir, environment.LAYERS_ROOT, "/proc", "/sys", "/dev"]
        layout.folders.append("/tmp")  # noqa: S108 - inside
        shared = [SharedFolder(environment.LAYERS_ROOT, launcher.LAYERS, str(layers))]
        user = _new_user()
        build = self._building
        if build is not None:
            # A private package index may be known by this file alone.
            layout.binds.update({"/etc/hosts": "/etc/hosts", **build.binds})
            layout.folders.append(BUILD_ROOT)
            shared.append(
                SharedFolder(BUILD_ROOT, launcher.BUILD, str(build.staging), writable=True)
            )
            if os.geteuid() == 0:
                os.chown(build.staging, user, user)
        joined: list[int] = []
        if self._tree is not None:
            joined = Cgroup(self._tree, name, _whole(spec.limits)).open_procs()
            self._cgroups = [str(folder / name) for folder in self._tree.folders()]
        zygote = [*self._zygote_words()[1:], self._preload, "0"] if spec.for_kernel else None
        work = {"env": _ZYGOTE_VARIABLES, "zygote": zygote, "folders": None}
        command = guest_command(self.paths, "container.main", work, isolated_site=True)
        text = launcher.plan(
            runsc=str(self._runsc.path),
            flags=[
                "--rootless",
                f"--platform={self._platform}",
                f"--network={'none' if spec.network == 'blocked' else 'host'}",
            ],
            name=name,
            configuration=configuration(spec, command, root=launcher.ROOT, shared=shared),
            binds=layout.binds,
            links=layout.links,
            files=layout.files,
            folders=layout.folders,
            layers=str(layers),
            build=None if build is None else str(build.staging),
            user=user if os.geteuid() == 0 else None,
            joined=joined,
            cgroups=self._cgroups,
        )
        return text, joined

    def _hear(self, message: Message) -> None:
        if message["event"] == "zygote":
            if message["stage"] == "loaded":
                self.zygote_loaded.set()
        elif message["event"] == "gone":
            if self.machine is not None:
                self.machine.ended(message["reason"])
            # Done by the launcher already, unless that was killed.
            for group in self._cgroups:
                remove_group(group, _TIDY_UP_S)
        elif message["event"] == "ended" and self.machine is not None:
            self.machine.ended(message["reason"])

    def start_zygote(self) -> None:
        """Start what kernels are forked from, once."""
        with self._lock:
            if self._zygote_started:
                return
            argv = [*self._zygote_words(), self._preload, "0"]
            env = {**base_env(TRUSTED_HOME), **_ZYGOTE_VARIABLES}
            self.connection.request("zygote", argv=argv, env=env)
            self._zygote_started = True

    def _zygote_words(self) -> list[str]:
        return guest_command(self.paths, "zygote.main", isolated_site=False)


def _caches(folder: str) -> dict[str, str]:
    """Variables that keep caches out of the working directory, whose files are the user's."""
    return {
        "XDG_CACHE_HOME": f"{folder}/.cache",
        "XDG_CONFIG_HOME": f"{folder}/.config",
        "MPLCONFIGDIR": f"{folder}/.matplotlib",
        "IPYTHONDIR": f"{folder}/.ipython",
    }


_ZYGOTE_VARIABLES = {
    "LANG": "C.UTF-8",
    "HOME": TRUSTED_HOME,
    # What another user has made, programs could not write to.
    **_caches(TRUSTED_HOME),
    **environment.FORKABLE,
}


def base_env(home: str) -> dict[str, str]:
    """The environment of every program, before what the caller adds."""
    python = environment.current()
    variables = {
        "PATH": f"{python.bin}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "USER": "sandbox",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        **_caches("/tmp"),  # noqa: S108 - inside
    }
    if python.library_path:
        variables["LD_LIBRARY_PATH"] = python.library_path
    return variables


class GvisorMachine(SupervisedMachine):
    """A machine whose supervisor starts a zygote of its own for its first kernel."""

    host: GvisorHost

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        if not spec.cold and self.end_reason is None:
            self.host.start_zygote()
        # A fork pays for each page that it is first to write to, here many times what it does
        # elsewhere: the first cell shall not.
        return super().start_kernel(replace(spec, warm=True))


def _new_user() -> int:
    return _LOWEST_USER + int.from_bytes(os.urandom(3), "little")


def _whole(limits: Limits) -> Limits:
    """What all processes of a sandbox may use together on the host, gVisor's own among them."""
    return Limits(
        memory_bytes=limits.memory_bytes + _OWN_BYTES,
        processes=4 * limits.processes + _OWN_TASKS,
        cpus=limits.cpus,
        cpus_requested=limits.cpus_requested,
        memory_requested_bytes=limits.memory_requested_bytes,
    )
