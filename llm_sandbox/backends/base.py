"""Contract of a backend: a factory of machines, in which programs and kernels are started.

A new backend subclasses `Backend` and `Machine`, implements the abstract members, and is found by
an entry point (`backends.registry`). Where our supervisor can run, `SupervisedBackend` and
`SupervisedMachine` implement most of both. `llm_sandbox.testing.backend_suite` tests a backend.

Rules for every implementation:

- Members may be called from any thread, also at the same time.
- An option that the backend cannot honour is refused with `UnsupportedError`, never ignored.
- After its end, methods of a machine raise `ContainerGoneError`; `destroy`, `on_end` and the
  properties do not.
- Descriptors and sockets that a method returns belong to the caller, who closes them.
- An optional member has a default: most raise `UnsupportedError`.
"""

import abc
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from llm_sandbox.backends.machine_spec import (
    Control,
    Isolation,
    MachineSpec,
    Network,
    validate_workdir,
)
from llm_sandbox.backends.processes import (
    Ending,
    Exit,
    KernelSpec,
    LimitEvents,
    ProcessSpec,
    RawKernel,
    RawProcess,
    RunningProgram,
)
from llm_sandbox.backends.snapshot import Snapshot, SnapshotStore
from llm_sandbox.exceptions import ProcessNotFoundError, UnsupportedError
from llm_sandbox.limits import Limits

if TYPE_CHECKING:
    from llm_sandbox.backends.images import ImageStore
    from llm_sandbox.backends.inventory import Inventory
    from llm_sandbox.backends.kept import Keeper
    from llm_sandbox.backends.layers import LayerLocation
    from llm_sandbox.backends.options.container_options import ContainerOptions

__all__ = [
    "Backend",
    "Control",
    "Ending",
    "Exit",
    "Isolation",
    "KernelSpec",
    "LimitEvents",
    "Machine",
    "MachineSpec",
    "Network",
    "ProcessSpec",
    "RawKernel",
    "RawProcess",
    "RunningProgram",
    "validate_workdir",
]

_OWN_MACHINE = "this sandbox lives in the process that made it"
_DETACHED = "create it with a name, tags or on_exit='keep'"


class Machine(abc.ABC):
    """One machine: files, processes and a network that end together."""

    id: str
    """Unique identifier."""
    spec: MachineSpec
    """Specification, with the limits and the working directory in effect."""
    isolation: Isolation
    """Report of what isolates it."""
    name: str | None = None
    """Name by which other processes attach to it; None without one."""
    namespace: str = "default"
    """Namespace in which the name is unique."""
    tags: Mapping[str, str] = MappingProxyType({})
    """Tags by which other processes find it."""
    lets_go: bool = False
    """Whether the machine lives on when its user is done with it."""
    network: Any = None
    """Network control of another process (`sandbox.network.NetworkControl`); None where the sandbox
    of this process controls the network."""
    protects_runner: ClassVar[bool] = False
    """Whether no process of a test can end its runner."""
    arranges_streams: ClassVar[bool] = False
    """Whether `start` honours `terminal`, `stdout` and `stderr` of a `ProcessSpec`."""

    # --- programs and kernels

    @abc.abstractmethod
    def start(self, spec: ProcessSpec) -> RawProcess:
        """Start a program.

        It runs with exactly the environment of the specification. When its deadline passes, the
        machine kills it and everything that it started.

        Raises:
            LaunchError: The program or its directory does not exist, or it cannot be executed.
            UnsupportedError: The machine has no terminals, and the program needs one.
            ContainerGoneError: The machine has ended.
        """

    @abc.abstractmethod
    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """Start an interpreter that exchanges frames (`guest.frames`) over a stream.

        Raises:
            KernelNotReadyError: The machine's Python cannot run a kernel; the message says why.
            ContainerGoneError: The machine has ended.
        """

    @abc.abstractmethod
    def signal(self, process_id: str, number: int) -> bool:
        """Send a signal to one process; return False if the process has ended.

        Args:
            process_id: Id of a `RawProcess` or `RawKernel`.
            number: Signal number of Linux, as the guest counts (`host.guest_numbers`).
        """

    def resize(self, process_id: str, rows: int, cols: int) -> bool:
        """Change the size of a program's terminal; return False if the program has ended.

        Raises:
            ValidationError: The program has no terminal.
            UnsupportedError: The backend has no terminals.
        """
        raise UnsupportedError("resize()", self.isolation.backend, "it has no terminals")

    @abc.abstractmethod
    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        """Kill a process tree, daemons included; return False if the process has ended.

        Args:
            process_id: Id of the root of the tree.
            children_only: Whether the process itself is spared.
        """

    @abc.abstractmethod
    def sweep(self) -> None:
        """Kill processes whose `RawProcess` or `RawKernel` has ended: what it left running."""

    def limit_events(self) -> LimitEvents:
        """Return how often the operating system has enforced limits of the machine so far."""
        return LimitEvents()

    @abc.abstractmethod
    def set_deadline(self, seconds: float | None) -> None:
        """Replace the deadline of the machine.

        Args:
            seconds: Time from now until the machine ends by itself; None for no deadline.
        """

    def update_limits(self, limits: Limits) -> None:
        """Change limits of the living machine, and `spec` with them.

        Raises:
            UnsupportedError: A limit that differs cannot be changed; then none was changed.
            BackendError: The kernel or the engine refused a limit, such as one below current use.
        """
        raise UnsupportedError(
            "update_limits()",
            self.isolation.backend,
            "limits of a living machine cannot be changed",
            hint="make another sandbox with limits=",
        )

    @property
    @abc.abstractmethod
    def end_reason(self) -> str | None:
        """``closed``, ``deadline``, ``oom`` or ``gone``; None while the machine lives."""

    def on_end(self, call: Callable[[], None]) -> None:
        """Register a callback for the end of the machine.

        It is called from any thread, perhaps twice, and at once if the machine has ended. Network
        rules, ports and detached sandboxes need it.

        Raises:
            UnsupportedError: The backend does not report the end of its machines.
        """
        raise UnsupportedError("on_end()", self.isolation.backend, "it does not report ends")

    @property
    def exit_code(self) -> int | None:
        """Exit code of the main program; None while the machine lives, or without one."""
        return None

    def active(self, begins: bool) -> None:  # noqa: B027 - optional, not abstract
        """Note that work of the host on the machine, such as a file transfer, begins or ends.

        For idle timeouts.
        """

    def note_turn(self, begins: bool) -> None:  # noqa: B027 - optional, not abstract
        """Note that a request to a kernel of the machine begins or ends. For idle timeouts."""

    def programs(self) -> "list[RunningProgram] | None":
        """Return the programs of all clients, oldest first; None where a program is known to the
        client that started it only.
        """
        return None

    def reattach(self, process_id: str) -> RawProcess:
        """Return one of the `programs`, with its output from the first byte.

        Raises:
            ProcessNotFoundError: The machine has no such program.
        """
        raise ProcessNotFoundError(process_id, backend=self.isolation.backend)

    # --- files and ports

    def start_runner(self, preload: Sequence[str] = ()) -> socket.socket:
        """Start a runner of tests (`guest.runner`), and return the connection to it.

        Args:
            preload: Python libraries that it loads before the tests.

        Raises:
            UnsupportedError: The machine has none.
        """
        raise UnsupportedError("runners of tests", self.isolation.backend)

    @abc.abstractmethod
    def open_files(self) -> socket.socket:
        """Start a file service in the machine and return a connection to it.

        The service is `guest.files.serve`, run inside as the user of the programs. It ends when the
        connection is closed.

        Raises:
            ContainerGoneError: The machine has ended.
        """

    def prepare_files(self) -> None:  # noqa: B027 - optional, not abstract
        """Start the file service that the next `open_files` returns."""

    def connect(self, port: int) -> socket.socket:
        """Connect to a port of the machine's loopback.

        Raises:
            ConnectionRefusedError: No program listens there.
            OSError: The port could not be reached.
            UnsupportedError: The backend cannot connect to ports.
        """
        raise UnsupportedError(
            f"port {port}", self.isolation.backend, "the backend cannot connect to ports"
        )

    def process_in_network(self) -> AbstractContextManager[int]:
        """Yield, for a block, the id that a process in the machine's network has on this computer.

        Raises:
            UnsupportedError: The machine has no network namespace that this process can enter.
        """
        raise UnsupportedError(
            "a network with rules",
            self.isolation.backend,
            "there is no network namespace that a gate could be put into",
            hint="use the bubblewrap, docker or podman backend",
        )

    def open_proxy(self) -> socket.socket | None:
        """Return the stream of a proxy inside (`guest.connections`); None for no such way in."""
        return None

    # --- interpreter and libraries

    @abc.abstractmethod
    def base_env(self) -> dict[str, str]:
        """Return the environment of programs before the caller's additions."""

    @abc.abstractmethod
    def python(self) -> str:
        """Return the path of the machine's Python interpreter; empty without one."""

    @abc.abstractmethod
    def language_folder(self, language: str) -> str:
        """Return the machine's folder of this library's files for a language beside Python."""

    @property
    def has_packages(self) -> bool:
        """Whether libraries are installed by `install_packages` instead of as layers."""
        return False

    def install_packages(self, specs: Sequence[str]) -> None:
        """Install packages in the machine, where it `has_packages`.

        Raises:
            LibraryInstallationError: A package could not be installed.
            UnsupportedError: Libraries are installed as layers.
        """
        raise UnsupportedError("install_packages()", self.isolation.backend, "it has layers")

    def engine_container(self) -> Any:
        """Return the machine's container, as an object of the engine's client.

        Raises:
            ContainerGoneError: The engine no longer has it.
            UnsupportedError: The machine is not a container.
        """
        raise UnsupportedError("engine_container()", self.isolation.backend, "it has no containers")

    @property
    def library_path(self) -> str | None:
        """Folder of libraries that the machine was made with, for Python's path, or None."""
        return None

    @property
    def saves_file_systems(self) -> bool:
        """Whether `snapshot` can save the whole file system."""
        return type(self).snapshot is not Machine.snapshot

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Replace the tags, where other processes can attach to the machine.

        Raises:
            UnsupportedError: The machine lives in this process.
        """
        raise UnsupportedError("set_tags()", self.isolation.backend, _OWN_MACHINE, hint=_DETACHED)

    def terminate(self) -> None:
        """Destroy the machine, with ``terminated`` as its end reason where others can see that."""
        self.destroy()

    def detach(self) -> None:
        """Release the machine, which lives on without this process.

        Raises:
            UnsupportedError: The machine lives in this process.
        """
        raise UnsupportedError("detach()", self.isolation.backend, _OWN_MACHINE, hint=_DETACHED)

    @property
    def images(self) -> tuple[str, str] | None:
        """Id and name of the machine's image; None without an image, or with an unknown one."""
        return None

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        """Save the file system of the machine.

        Args:
            workdir: The working directory as a tar archive.
            name: Name of the snapshot; None generates one.
            site: Folder of this computer with further libraries of the machine.
            expires_at: When the snapshot expires, in seconds since 1970; None for never.

        Raises:
            UnsupportedError: The backend cannot save file systems.
        """
        raise UnsupportedError(
            "a snapshot of the whole file system",
            self.isolation.backend,
            "it has neither images nor a writable layer of its own",
            hint="save one directory: snapshot(kind='directory')",
        )

    @abc.abstractmethod
    def destroy(self) -> None:
        """End the machine and everything in it. May be called again.

        Returns at once: what takes longer is done in the background, and surely, also when this
        process is killed.
        """


class Backend(abc.ABC):
    """Factory of machines of one kind. There is one object for a process (`backends.registry`)."""

    name: ClassVar[str]
    """Name by which callers choose it."""
    has_containers: ClassVar[bool] = False
    """Whether its machines are containers of an engine; then `engine_client` and the members after
    it are required."""
    writable_root: ClassVar[bool] = False
    """Whether `MachineSpec.writable_root` is supported."""
    hardens: ClassVar[bool] = False
    """Whether all its machines have a read-only root (unless `writable_root`), no capabilities, no
    new privileges, and an unprivileged user only."""
    isolates: ClassVar[bool] = True
    """Whether programs are isolated from this computer; else no `builder` installs libraries."""
    search_path: ClassVar[str] = ""
    """Folders of this computer's programs that machines see, separated by colons; or empty."""
    pooled: bool = True
    """Whether machines may be created ahead of need, because any machine serves any session."""
    options: "ContainerOptions | None" = None
    """Options of its containers; None where machines are not containers."""
    keeper: "Keeper | None" = None
    """Maker of machines that outlive this computer's processes; None where none can."""

    @abc.abstractmethod
    def check(self) -> Isolation:
        """Prove that the backend works here; the proof is made once for a process.

        Returns:
            The isolation report of a machine with the default specification.

        Raises:
            BackendUnavailableError: The backend does not work here; the hint says what to do.
        """

    @abc.abstractmethod
    def create(self, spec: MachineSpec) -> Machine:
        """Create a machine. Nothing runs in it yet.

        Raises:
            BackendUnavailableError: The backend does not work here.
            UnsupportedError: The backend cannot honour the specification.
        """

    def for_language(self, lang: str) -> "Backend":
        """Return the backend whose machines have the programs of a language."""
        return self

    def create_runner(
        self, spec: MachineSpec, preload: Sequence[str] = ()
    ) -> tuple[Machine, socket.socket]:
        """Create a machine with a runner of tests (`guest.runner`), and connect to that.

        Args:
            spec: The specification.
            preload: Python libraries that are loaded before the tests, where the backend can share
                them among machines.

        Raises:
            BackendUnavailableError: The backend does not work here.
            UnsupportedError: The backend has none, or cannot honour the specification.
        """
        if not self.isolates:
            raise UnsupportedError(
                "runners of tests",
                self.name,
                "a runner kills every process that a test may have left, and here that would be "
                "those of this computer",
            )
        machine = self.create(spec)
        try:
            return machine, machine.start_runner(preload)
        except BaseException:
            machine.destroy()
            raise

    def layers(self, machine: Machine) -> "LayerLocation":
        """Return where a machine of this backend finds installed libraries.

        Raises:
            UnsupportedError: The backend has no layers.
        """
        raise UnsupportedError("installing libraries as layers", self.name)

    def builder(
        self, staging: Path, *, binds: Mapping[str, str]
    ) -> AbstractContextManager[Machine]:
        """Create, for a block, a machine to install libraries in.

        It has an open network, one writable folder of this computer, and nothing in common with the
        machines of sessions.

        Args:
            staging: The folder, which is ``/build`` inside; root gives it to the user that programs
                run as.
            binds: Path inside to host path of other files and folders, read-only.

        Raises:
            BackendUnavailableError: The backend does not work here.
            UnsupportedError: The backend has no layers.
        """
        raise UnsupportedError("installing libraries as layers", self.name)

    def prepare(self, network: Network = "blocked") -> None:  # noqa: B027 - optional, not abstract
        """Start `warm_up` in the background. Errors are not reported: `create` raises them."""

    @abc.abstractmethod
    def warm_up(self, network: Network = "blocked") -> None:
        """Start what makes the first kernel quick, without waiting until it is loaded.

        Raises:
            BackendUnavailableError: The backend does not work here.
        """

    @abc.abstractmethod
    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        """Call `warm_up` and wait until it has loaded everything; return whether it has.

        Raises:
            BackendUnavailableError: The backend does not work here.
        """

    def close(self) -> None:  # noqa: B027 - optional, not abstract
        """End every machine of this process, and wait for that.

        Called at exit. Machines can be created again afterwards.
        """

    def ping(self) -> None:
        """Check that the engine answers; quicker than `check`.

        Raises:
            BackendUnavailableError: The engine does not answer.
        """
        self.check()

    def describe_engine(self) -> str | None:
        """Return the program or service that runs the machines, with its version and address; None
        without one.

        Raises:
            BackendUnavailableError: The engine does not answer.
        """
        return None

    # --- optional: backends that have containers (`has_containers`)

    def engine_client(self) -> Any:
        """Return the client object of the engine, such as a ``docker.DockerClient``.

        Raises:
            BackendUnavailableError: The engine does not answer.
            UnsupportedError: The backend has no containers.
        """
        raise self._without_containers("an engine's client")

    @property
    def images(self) -> "ImageStore":
        """Images of the engine; UnsupportedError without containers."""
        raise self._without_containers("images")

    @property
    def inventory(self) -> "Inventory":
        """Inventory of this library's resources in the engine; UnsupportedError without
        containers.
        """
        raise self._without_containers("an inventory")

    @property
    def snapshots(self) -> "SnapshotStore":
        """Snapshots that the engine holds; UnsupportedError without containers."""
        raise self._without_containers("snapshots in an engine")

    def with_options(self, options: "ContainerOptions", client: object = None) -> "Backend":
        """Return a backend of the same engine whose containers have these options.

        Args:
            options: The options, without the variables and the timeout of one session.
            client: The engine's client; None for that of this backend.

        Raises:
            UnsupportedError: The backend has no containers.
            ValidationError: This backend has other options, or another client.
        """
        raise self._without_containers("container options")

    def with_image(self, image: str | Snapshot) -> "Backend":
        """Return a backend of the same engine whose containers are made from an image.

        Raises:
            ImageNotFoundError: The snapshot was deleted.
            UnsupportedError: The backend has no images, or another engine has this one.
            ValidationError: The snapshot has expired, or this backend has other options.
        """
        raise self._without_containers("image=", "it has no images")

    def with_libraries(self, specs: Sequence[str]) -> "Backend":
        """Return a backend whose machines are made with these libraries, where a machine cannot get
        them later; this backend where it can.

        Raises:
            ValidationError: One is not acceptable.
            UnsupportedError: They cannot be added.
        """
        del specs
        return self

    def _without_containers(
        self, feature: str, reason: str = "it has no containers"
    ) -> UnsupportedError:
        return UnsupportedError(
            feature, self.name, reason, hint="name a container backend: backend='docker'"
        )
