"""A supervisor in bubblewrap, and the machines that it makes."""

import os
import sys
import threading
from typing import TYPE_CHECKING

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import Network
from llm_sandbox.backends.bubblewrap import launcher
from llm_sandbox.backends.bubblewrap.machine_mounts import MachineMounts
from llm_sandbox.backends.bubblewrap.root import Layout, arguments
from llm_sandbox.backends.connection import SupervisorConnection, launch_process
from llm_sandbox.backends.supervised import SupervisedMachine, guest_command
from llm_sandbox.guest.control import Message

if TYPE_CHECKING:
    from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend

__all__ = ["BubblewrapHost", "new_user"]

_LOWEST_USER = 1_600_000_000
"""Root's sandboxes run as users from here up, one for each supervisor: no account and no
subordinate range has them."""


class BubblewrapHost:
    """One supervisor with the machines that live in its bubblewrap.

    Args:
        backend: Whose it is.
        network: What of one its machines have.
        layout: Their private root.
        user: Root's sandboxes run as this user; None for one that nobody else has.
        mounts: Mounts of its one machine; None for a host with many machines.
    """

    def __init__(
        self,
        backend: "BubblewrapBackend",
        network: Network,
        layout: Layout,
        *,
        user: int | None = None,
        mounts: MachineMounts | None = None,
    ) -> None:
        self.network = network
        self._mounts = mounts or MachineMounts({})
        self._user = new_user() if user is None else user
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
            *guest_command(self._backend.paths, "supervisor.main", isolated_site=True),
            str(control),
            "namespaces",
        ]
        library_path = environment.current().library_path
        variables = ["--setenv", "LD_LIBRARY_PATH", library_path] if library_path else []
        bwrap = self._backend.bwrap
        if os.geteuid() != 0:
            words = arguments(layout, network=network, file_fds=descriptors)
            return [str(bwrap.path), *words, *variables, *guest], list(descriptors.values())
        mapped = self._mounts.mapped(self._user)
        sources = sorted({*layout.binds.values(), *layout.writable.values()})
        staged = Layout(
            {inside: launcher.STAGED + host for inside, host in layout.binds.items()},
            {inside: launcher.STAGED + host for inside, host in layout.writable.items()},
            layout.links,
            layout.files,
            layout.folders,
        )
        for name, folder in mapped.items():
            place = staged.binds if folder.read_only else staged.writable
            place[folder.target] = launcher.STAGED + name
        program = str(bwrap.path)
        if bwrap.from_wheel:
            # Its library lies beside it, so the folder that holds both is made reachable.
            packages = str(bwrap.path.parents[2])
            sources.append(packages)
            program = f"{launcher.STAGED}{packages}//{bwrap.path.relative_to(packages)}"
        words = arguments(staged, network=network, file_fds=descriptors)
        work = launcher.plan(
            [program, *words, *variables, *guest],
            list(dict.fromkeys(sources)),
            mapped=mapped,
            exact=[one.source for one in self._mounts.found],
            user=self._user,
            kept_fds=[control, *descriptors.values()],
            cgroups=[str(folder / self.cgroup_name) for folder in self._backend.cgroup_folders()],
        )
        code = (
            f"import sys; sys.path.insert(0, {str(environment.PACKAGE.parent)!r}); "
            "from llm_sandbox.backends.bubblewrap import launcher; launcher.main()"
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


def new_user() -> int:
    """A user that no account and no other supervisor has."""
    return _LOWEST_USER + int.from_bytes(os.urandom(3), "little")


def _text_fd(text: str) -> int:
    fd = os.memfd_create("llm-sandbox", 0)
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
