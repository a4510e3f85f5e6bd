"""Local backend: plain processes under a supervisor that ends with the host.

It is for trusted code, and for tests where nothing else works. Its programs have the caller's
rights: they read the caller's files and reach the network, whatever the specification says. As
``network="blocked"`` is the default, it is accepted, and the isolation report says ``absent``.
"""

import contextlib
import os
import shutil
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

from llm_sandbox.backends import python_environment
from llm_sandbox.backends.base import (
    Control,
    Isolation,
    Machine,
    MachineSpec,
    Network,
)
from llm_sandbox.backends.connection import launch_process
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import refuse_mounts
from llm_sandbox.backends.supervised import (
    GuestPaths,
    SupervisedMachine,
    guest_command,
    resource_limits,
)
from llm_sandbox.backends.supervisor_host import SupervisedBackend, SupervisorHost
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.settings import get_settings

__all__ = ["LocalBackend", "LocalSandboxWarning"]

_DEFAULT_WORKDIR = "/sandbox"


class LocalSandboxWarning(UserWarning):
    """Warning that code is about to run without any isolation."""


class _LocalHost(SupervisorHost):
    """Supervisor with its one machine, and a folder of both that is removed with them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="llm-sandbox-"))
        guest = self.folder / "lib"
        for name in ("lib", "sandbox", "tmp"):
            (self.folder / name).mkdir()
        package = python_environment.PACKAGE
        (guest / "guest").symlink_to(package / "guest")
        (guest / "shim").symlink_to(package / "language_handlers" / "python" / "shim")
        (guest / "languages").mkdir()
        for language, folder in python_environment.shims().items():
            (guest / "languages" / language).symlink_to(folder)
        self.paths = GuestPaths(sys.executable, str(guest))
        super().__init__(launch_process(self._command), backend="local")

    def _command(self, control: int) -> tuple[list[str], list[int]]:
        words = guest_command(self.paths, "supervisor.main", isolated_site=True)
        return [*words, str(control), "plain", str(self.folder)], []

    def _zygote_command(self) -> tuple[list[str], dict[str, str]]:
        command = guest_command(self.paths, "zygote.main", isolated_site=False)
        variables = {**self.base_env(str(self.folder)), **python_environment.FORKABLE}
        return [*command, get_settings().preload, "0"], variables

    def _on_gone(self) -> None:
        # The supervisor has removed it, unless a program has killed that.
        shutil.rmtree(self.folder, ignore_errors=True)

    def base_env(self, home: str) -> dict[str, str]:
        """Return the environment of every program: nothing of the caller's but the search path."""
        # Not resolved: the interpreter of a virtual environment is a link beside its tools.
        tools = os.path.dirname(sys.executable)
        temporary = self.folder / "tmp"
        return {
            "PATH": f"{tools}:{os.environ.get('PATH', os.defpath)}",
            "HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(temporary),
            "XDG_CACHE_HOME": str(temporary / ".cache"),
            "XDG_CONFIG_HOME": str(temporary / ".config"),
            "MPLCONFIGDIR": str(temporary / ".matplotlib"),
            "IPYTHONDIR": str(temporary / ".ipython"),
        }


class LocalBackend(SupervisedBackend):
    """Backend of plain processes. Safe to use from several threads."""

    name = "local"
    search_path = os.environ.get("PATH", os.defpath)
    isolates = False
    pooled = False  # each of its machines warns, and none is worth making ahead

    def __init__(self) -> None:
        super().__init__()
        self._spare: _LocalHost | None = None

    def _after_fork(self) -> None:
        super()._after_fork()
        self._spare = None

    def check(self) -> Isolation:
        return _ISOLATION

    def create(self, spec: MachineSpec) -> Machine:
        why = "its programs are this machine's own, and see its folders as they are"
        refuse_mounts(spec.mounts, spec.gpu, self.name, why)
        if spec.limits.cpus is not None:
            raise UnsupportedError("limits.cpus", self.name, "plain processes have no such limit")
        for field in ("cpus_requested", "memory_requested_bytes"):
            if getattr(spec.limits, field) is not None:
                why = "plain processes have no share of their own"
                raise UnsupportedError(f"limits.{field}", self.name, why)
        warnings.warn(
            "backend 'local' does not isolate: programs run with your rights, on your files",
            LocalSandboxWarning,
            stacklevel=3,
        )
        with self._lock:
            host, self._spare = self._spare, None
        if host is None or not host.connection.is_alive:
            host = self._open_host()
        try:
            spec = replace(spec, workdir=_workdir(spec.workdir, host.folder))
            return self._create(host, spec)
        except BaseException:
            host.connection.close()
            raise

    def layers(self, machine: Machine) -> LayerLocation:
        return LayerLocation(str(get_settings().cache_dir / "layers"))

    def _create(self, host: _LocalHost, spec: MachineSpec) -> Machine:
        machine = SupervisedMachine(
            host.connection,
            spec,
            _ISOLATION,
            host.paths,
            host.base_env(spec.workdir),
            confinement={
                "privileges": True,
                "rlimits": resource_limits(spec.limits, processes=False),
            },
            tmpfs=[],
            cgroup=None,
            machine_id=os.urandom(8).hex(),
            on_destroyed=lambda machine: host.connection.close(),
            watch_memory=False,
            start_zygote=host.start_zygote,
        )
        host.machines[machine.id] = machine
        return machine

    def _open_host(self) -> _LocalHost:
        host = _LocalHost()
        with self._lock:
            self._hosts.add(host)
        return host

    def warm_up(self, network: Network = "blocked") -> None:
        with self._lock:
            if self._spare is None or not self._spare.connection.is_alive:
                self._spare = self._open_host()
            self._spare.start_zygote()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        with self._lock:
            self.warm_up(network)
            spare = self._spare
        return spare is not None and spare.wait_for_zygote(timeout_s)

    def close(self) -> None:
        with self._lock:
            self._spare = None
        super().close()


def _workdir(wanted: str, folder: Path) -> str:
    """Return the folder for a requested working directory.

    Raises:
        UnsupportedError: The folder does not exist, and may not be created.
    """
    if wanted == _DEFAULT_WORKDIR:
        return str(folder / "sandbox")
    path = Path(wanted)
    if path.is_dir():
        return wanted
    if path.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve()):
        with contextlib.suppress(OSError):
            path.mkdir(parents=True)
            return wanted
    raise UnsupportedError(
        f"workdir={wanted!r}",
        "local",
        "it does not exist, and only /sandbox is replaced by a new folder",
    )


_ISOLATION = Isolation(
    "local",
    "none",
    {
        "files": Control("absent", "programs have the caller's rights on the caller's files"),
        "network": Control("absent", "programs use the host's network"),
        "processes": Control("absent", "programs see and reach the caller's processes"),
        "privileges": Control("absent", "programs have the caller's privileges"),
        "system_calls": Control("absent", "no filter"),
        "landlock": Control("absent", "not used"),
        "process_count": Control("absent", "the only limit there is counts all of the user's"),
        "disk": Control("approximated", "RLIMIT_FSIZE a file; their number and sum are open"),
        "lifetime": Control("approximated", "a supervisor kills all that descends from it"),
        "memory": Control("approximated", "RLIMIT_DATA a process; the sum is open"),
        "cpu": Control("absent", "no limit on how many are used"),
    },
)
