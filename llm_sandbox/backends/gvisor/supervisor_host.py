"""Supervisor host of gVisor: one `runsc` sandbox with its one machine."""

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from llm_sandbox.backends import python_environment as environment
from llm_sandbox.backends.base import KernelSpec, MachineSpec, RawKernel
from llm_sandbox.backends.connection import RunningSupervisor, SupervisorEnd
from llm_sandbox.backends.gvisor import launcher
from llm_sandbox.backends.gvisor.binary import Runsc
from llm_sandbox.backends.gvisor.bundle import TRUSTED_HOME, SharedFolder, configuration
from llm_sandbox.backends.hardening.cgroups import Cgroup, CgroupTree
from llm_sandbox.backends.hardening.cleanup import remove_group
from llm_sandbox.backends.hardening.launch_arguments import text_descriptor, unused_user
from llm_sandbox.backends.host_root import BUILD_ROOT, describe_root, program_environment
from llm_sandbox.backends.supervised import GuestPaths, SupervisedMachine, guest_command
from llm_sandbox.backends.supervisor_host import SupervisorHost
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.guest.mux import Multiplexer, ProtocolError, StdioTransport
from llm_sandbox.limits import Limits
from llm_sandbox.settings import Preload, get_settings

__all__ = ["BuildFolders", "GvisorHost", "GvisorMachine"]

_LOWEST_USER = 1_700_000_000
"""Root's sandboxes run as users from here up, each as its own: no account and no subordinate range
has them."""

_OWN_BYTES = 512 << 20
"""Host memory of a sandbox beyond that of its programs: gVisor's kernel and file server, the
supervisor, and the zygote."""
_OWN_TASKS = 512
"""Processes and threads of a sandbox beyond those of its programs."""
_CGROUP_REMOVAL_S = 4.0


@dataclass(frozen=True)
class BuildFolders:
    """Folders of the host for a machine that builds layers."""

    staging: Path
    """The folder that is /build inside, writable."""
    binds: Mapping[str, str]
    """Path inside to host path, read-only."""


class GvisorHost(SupervisorHost):
    """One gVisor sandbox for one machine.

    Args:
        runsc: The program.
        platform: gVisor's platform: what intercepts system calls.
        spec: The machine that will be made in it.
        tree: Where control groups can be made; None where they cannot.
        preload: What the zygote loads.
        build: Folders to build layers in; None for an ordinary machine.

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
        build: BuildFolders | None = None,
    ) -> None:
        self.spec = spec
        self.paths = GuestPaths(environment.current().executable, environment.GUEST_ROOT)
        self._runsc = runsc
        self._platform = platform
        self._tree = tree
        self._preload = preload
        self._build = build
        self._cgroups: list[str] = []
        super().__init__(self._launch, backend="gvisor", zygote_started=spec.for_kernel)

    def _launch(self, far: socket.socket, log: IO[bytes]) -> RunningSupervisor:
        """Start the launcher; see `connection.Launch`."""
        plan, joined = self._plan()
        near, theirs = socket.socketpair()
        inherited = list(joined)
        try:
            inherited.append(text_descriptor(plan))
            process = subprocess.Popen(
                environment.module_command(launcher.__name__, str(inherited[-1])),
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                pass_fds=inherited,
                start_new_session=True,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            )
        except BaseException:
            near.close()
            raise
        finally:
            theirs.close()
            for fd in inherited:
                os.close(fd)
        return _StdioSupervisor(process, near, far.dup())

    def _plan(self) -> tuple[str, list[int]]:
        """Return the launcher's plan, and the descriptors by which it joins control groups."""
        spec = self.spec
        name = f"llm-sandbox-{os.getpid()}-{os.urandom(4).hex()}"
        layers = get_settings().cache_dir / "layers"
        layers.mkdir(parents=True, exist_ok=True)
        layout = describe_root(network=spec.network == "open", layers=None)
        layout.folders += [spec.workdir, environment.LAYERS_ROOT, "/proc", "/sys", "/dev"]
        layout.folders.append("/tmp")  # noqa: S108 - inside
        shared = [SharedFolder(environment.LAYERS_ROOT, launcher.LAYERS, str(layers))]
        user = unused_user(_LOWEST_USER)
        build = self._build
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
            joined = Cgroup(self._tree, name, _host_limits(spec.limits)).open_procs()
            self._cgroups = [str(folder / name) for folder in self._tree.folders()]
        argv, variables = self._zygote_command()
        zygote = argv[1:] if spec.for_kernel else None
        work = {"env": variables, "zygote": zygote, "folders": None}
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

    def _zygote_command(self) -> tuple[list[str], dict[str, str]]:
        command = guest_command(self.paths, "zygote.main", isolated_site=False)
        # What another user has made, programs could not write to.
        variables = program_environment(TRUSTED_HOME, caches=TRUSTED_HOME)
        return [*command, self._preload, "0"], {**variables, **environment.FORKABLE}

    def _on_gone(self) -> None:
        # The launcher has removed them, unless it was killed.
        for group in self._cgroups:
            remove_group(group, _CGROUP_REMOVAL_S)


class GvisorMachine(SupervisedMachine):
    """Machine in a gVisor sandbox of its own."""

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        # A fork pays for each page that it is first to write to, here many times what it does
        # elsewhere: the first cell shall not.
        return super().start_kernel(replace(spec, warm=True))


class _StdioSupervisor:
    """Launcher of a supervisor, with the thread that relays between its standard input and output
    and the host's control connection; see `RunningSupervisor`.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], stream: socket.socket, control: socket.socket
    ) -> None:
        self._process = process
        self._violation = ""
        self._thread = threading.Thread(
            target=self._relay, args=(stream, control), name="llm-sandbox-gvisor-mux", daemon=True
        )
        self._thread.start()

    def _relay(self, stream: socket.socket, control: socket.socket) -> None:
        channel = ControlChannel(control)
        try:
            transport = StdioTransport(stream.fileno(), stream.fileno())
            Multiplexer(transport, channel, serves=False).run()
        except (ProtocolError, ValueError, OSError) as error:
            # trust: whatever does not keep to the protocol ends its own sandbox.
            self._violation = f"the sandbox broke the protocol: {error}"
        finally:
            stream.close()
            channel.close()
            # Process 1 ends with its standard input, but what is inside is not relied on for that.
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()

    def wait(self) -> SupervisorEnd:
        status = self._process.wait()
        self._thread.join(10.0)
        if status == launcher.OUT_OF_MEMORY:
            return SupervisorEnd("it used more memory than it may", oom_killed=True)
        return SupervisorEnd(self._violation or f"exit status {status}")


def _host_limits(limits: Limits) -> Limits:
    """Return the limits of all processes of a sandbox on the host, gVisor's own among them."""
    return Limits(
        memory_bytes=limits.memory_bytes + _OWN_BYTES,
        processes=4 * limits.processes + _OWN_TASKS,
        cpus=limits.cpus,
        cpus_requested=limits.cpus_requested,
        memory_requested_bytes=limits.memory_requested_bytes,
    )
