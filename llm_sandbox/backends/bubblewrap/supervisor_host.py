"""Supervisor host of bubblewrap: one private root for many machines, or for one with mounts."""

import os
from collections.abc import Sequence
from pathlib import Path

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Network
from llm_sandbox.backends.bubblewrap import launcher
from llm_sandbox.backends.bubblewrap.binary import Bwrap
from llm_sandbox.backends.bubblewrap.machine_mounts import MachineMounts
from llm_sandbox.backends.connection import launch_process
from llm_sandbox.backends.hardening.launch_arguments import text_descriptor, unused_user
from llm_sandbox.backends.host_root import Layout, program_environment
from llm_sandbox.backends.supervised import GuestPaths, guest_command
from llm_sandbox.backends.supervisor_host import SupervisorHost
from llm_sandbox.settings import get_settings

__all__ = ["BubblewrapHost", "new_user"]

_LOWEST_USER = 1_600_000_000
"""Root's sandboxes run as users from here up, one for each supervisor: no account and no
subordinate range has them."""

_CAPABILITIES = (
    "SYS_ADMIN",  # namespaces and mounts
    "NET_ADMIN",  # bring up loopback
    "SETPCAP",  # empty the bounding set
    "SETFCAP",  # map this namespace's user 0 into a machine's
    "SYS_CHROOT",  # join a mount namespace
    "SYS_PTRACE",  # read the process table of machines
    "KILL",
    "DAC_OVERRIDE",  # the kernel's own work in an overlay, done with its maker's rights
)


class BubblewrapHost(SupervisorHost):
    """One supervisor with the machines in its bubblewrap.

    Args:
        bwrap: The program.
        network: Network of its machines.
        layout: Private root of its machines.
        cgroup_folders: Directories in which control groups are made.
        user: User that root's sandboxes run as; None for a new one.
        mounts: Mounts of its one machine; None for a host with many machines.
        preload: Libraries that runners of tests share; None for machines without a runner.

    Raises:
        BackendUnavailableError: The supervisor did not start.
    """

    def __init__(
        self,
        bwrap: Bwrap,
        network: Network,
        layout: Layout,
        *,
        cgroup_folders: Sequence[Path],
        user: int | None = None,
        mounts: MachineMounts | None = None,
        preload: Sequence[str] | None = None,
    ) -> None:
        self.paths = GuestPaths(environment.current().executable, environment.GUEST_ROOT)
        self.cgroup_name = f"llm-sandbox-{os.getpid()}-{os.urandom(4).hex()}"
        """Name of the control group below which its machines have theirs."""
        self._bwrap = bwrap
        self._network = network
        self._layout = layout
        self._cgroups = [str(folder / self.cgroup_name) for folder in cgroup_folders]
        self._user = new_user() if user is None else user
        self._mounts = mounts or MachineMounts({})
        self._preload = preload
        super().__init__(launch_process(self._command), backend="bubblewrap")

    def _command(self, control: int) -> tuple[list[str], list[int]]:
        layout = self._layout
        files = {path: text_descriptor(text) for path, text in layout.files.items()}
        preload = self._preload
        command = guest_command(
            self.paths,
            "supervisor.main",
            isolated_site=preload is None,
            reads_environment=preload is not None,
        )
        library_path = environment.current().library_path
        variables = ["--setenv", "LD_LIBRARY_PATH", library_path] if library_path else []
        if preload is None:
            guest = ["--", *command, str(control), "namespaces"]
        else:
            guest = ["--", *command, str(control), "runners", *preload]
            # The same sets in the same order for the same code.
            for name, value in {**environment.FORKABLE, "PYTHONHASHSEED": "0"}.items():
                variables += ["--setenv", name, value]
        if os.geteuid() != 0:
            arguments = _bwrap_arguments(layout, network=self._network, files=files)
            return [str(self._bwrap.path), *arguments, *variables, *guest], list(files.values())
        staged = Layout(
            {inside: launcher.STAGED + host for inside, host in layout.binds.items()},
            {inside: launcher.STAGED + host for inside, host in layout.writable.items()},
            layout.links,
            layout.files,
            layout.folders,
        )
        sources = sorted({*layout.binds.values(), *layout.writable.values()})
        mapped = self._mounts.mapped(self._user)
        for name, folder in mapped.items():
            binds = staged.binds if folder.read_only else staged.writable
            binds[folder.target] = launcher.STAGED + name
        program = str(self._bwrap.path)
        if self._bwrap.from_wheel:
            # Its library lies beside it, so the folder that holds both is made reachable.
            packages = str(self._bwrap.path.parents[2])
            sources.append(packages)
            program = f"{launcher.STAGED}{packages}//{self._bwrap.path.relative_to(packages)}"
        arguments = _bwrap_arguments(staged, network=self._network, files=files)
        plan = text_descriptor(
            launcher.plan(
                [program, *arguments, *variables, *guest],
                list(dict.fromkeys(sources)),
                mapped=mapped,
                exact=[mount.source for mount in self._mounts.found],
                user=self._user,
                kept_fds=[control, *files.values()],
                cgroups=self._cgroups,
            )
        )
        launch = environment.module_command(launcher.__name__, str(plan))
        return launch, [plan, *files.values()]

    def _zygote_command(self) -> tuple[list[str], dict[str, str]]:
        command = guest_command(self.paths, "zygote.main", isolated_site=False)
        variables = {**program_environment("/tmp"), **environment.FORKABLE}  # noqa: S108 - inside
        return [*command, get_settings().preload, "0"], variables


def new_user() -> int:
    """Return a user number that no account and no other supervisor has."""
    return unused_user(_LOWEST_USER)


def _bwrap_arguments(layout: Layout, *, network: Network, files: dict[str, int]) -> list[str]:
    """Return the arguments of bwrap that make the private root and the namespaces around it.

    The process inside is user 0 of a namespace in which that is an unprivileged user of the host,
    with the capabilities that making machines takes and no others.

    Args:
        layout: The root.
        network: Network of its machines.
        files: Path inside to the descriptor that its content is read from.
    """
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", *([] if network == "open" else ["--unshare-net"])]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--uid", "0", "--gid", "0"]
    words += ["--hostname", "sandbox", "--clearenv", "--cap-drop", "ALL"]
    for capability in _CAPABILITIES:
        words += ["--cap-add", f"CAP_{capability}"]
    for folder in sorted(layout.folders):
        words += ["--dir", folder]
    for inside, host in sorted(layout.binds.items()):
        words += ["--ro-bind", host, inside]
    for inside, host in sorted(layout.writable.items()):
        words += ["--bind", host, inside]
    for inside, target in sorted(layout.links.items()):
        words += ["--symlink", target, inside]
    for inside, fd in sorted(files.items()):
        words += ["--ro-bind-data", str(fd), inside]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm"]  # noqa: S108
    words += ["--remount-ro", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
    words += ["--remount-ro", "/", "--chdir", "/"]
    return words
