"""The contract of a backend: make machines, start processes in them, say truthfully what holds
them.

A backend is a factory of `Machine`s. A machine that can start processes is complete; forked kernels
and the file service are what our own supervisor adds wherever it runs.
"""

import abc
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

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
from llm_sandbox.exceptions import ProcessNotFoundError, UnsupportedError, ValidationError
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Mount, check_mounts

if TYPE_CHECKING:
    from llm_sandbox.backends.images import ImageStore
    from llm_sandbox.backends.inventory import Inventory
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

Network = Literal["blocked", "open"]


_NO_WORKDIR = ("bin", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "sbin", "sys", "usr")


def validate_workdir(workdir: str) -> str:
    """Return a working directory, normalised.

    Raises:
        ValidationError: It is no absolute path without ``..``, or it is a place of the system's.
    """
    parts = str(workdir).split("/")
    if parts[0] or ".." in parts or "\0" in workdir:
        raise ValidationError(
            f"workdir must be an absolute path without '..', not {workdir!r}", parameter="workdir"
        )
    names = [part for part in parts if part not in ("", ".")]
    if not names or names[0] in _NO_WORKDIR:
        place = "/" + (names[0] if names else "")
        raise ValidationError(f"workdir cannot be below {place}", parameter="workdir")
    return "/" + "/".join(names)


@dataclass(frozen=True)
class MachineSpec:
    """What is asked of a machine.

    Raises:
        ValidationError: Its working directory cannot be one, nor can a mount or `gpu`.
    """

    workdir: str = "/sandbox"
    """Its working directory, absolute."""
    limits: Limits = field(default_factory=Limits)
    """What its processes may use together."""
    network: Network = "blocked"
    """``blocked``: no interface but loopback. ``open``: the host's network."""
    timeout_s: float | None = None
    """Seconds until it ends by itself; None for no deadline."""
    mounts: Mapping[str, Mount] = field(default_factory=dict, hash=False)
    """What of this computer it is given, by path inside."""
    gpu: str | int | None = None
    """Graphics processors that it is given: ``all``, how many, or names with commas between them;
    None for none."""
    writable_root: bool = False
    """Whether programs may change more than the working directory and what is for temporary
    files."""
    saved_root: str | None = None
    """Name, in this user's store, of the snapshot whose changed root it begins with; None for an
    unchanged one."""
    for_kernel: bool = False
    """Whether a kernel will be asked for, so that a backend may start at once what that takes."""
    ahead: bool = False
    """Whether it is made ahead of need, so that there is time to load what sessions often use."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "workdir", validate_workdir(self.workdir))
        object.__setattr__(self, "mounts", check_mounts(self.mounts, self.workdir))
        _check_gpu(self.gpu)


def _check_gpu(gpu: object) -> None:
    if gpu is None or (isinstance(gpu, str) and gpu.strip(", ")):
        return
    if isinstance(gpu, bool) or not isinstance(gpu, int) or gpu < 1:
        raise ValidationError(
            "gpu is 'all', a number from 1, or names of devices with commas between them",
            parameter="gpu",
        )


@dataclass(frozen=True)
class Control:
    """How one resource is held."""

    state: Literal["enforced", "approximated", "absent"]
    by: str
    """The mechanism, or why there is none."""


@dataclass(frozen=True)
class Isolation:
    """What holds a sandbox, resource by resource."""

    backend: str
    level: Literal["microvm", "container", "namespaces", "none"]
    controls: Mapping[str, Control]

    def state(self, resource: str) -> str:
        """``enforced``, ``approximated`` or ``absent`` for a resource such as ``network``."""
        return self.controls[resource].state

    def __str__(self) -> str:
        parts = [f"{self.backend} ({self.level})"]
        for state in ("enforced", "approximated", "absent"):
            names = [name for name, control in self.controls.items() if control.state == state]
            if names:
                parts.append(f"{state}: {', '.join(names)}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-able data."""
        controls = {name: {"state": c.state, "by": c.by} for name, c in self.controls.items()}
        return {"backend": self.backend, "level": self.level, "controls": controls}


_OWN_MACHINE = "this sandbox lives in the process that made it"
_DETACHED = "create it with a name, tags or on_exit='keep'"


class Machine(abc.ABC):
    """A place with files, processes, a network and an end."""

    id: str
    spec: MachineSpec
    isolation: Isolation
    name: str | None = None
    """The name it is found by; None without one."""
    namespace: str = "default"
    """Where its name is the only one of its kind."""
    tags: Mapping[str, str] = MappingProxyType({})
    """What it is found by besides."""
    lets_go: bool = False
    """Whether it lives on when whoever uses it is done."""
    network: Any = None
    """Control of the machine's network, where another process has it; None where its sandbox has.

    Of the interface `sandbox.network.NetworkControl`."""
    arranges_streams: ClassVar[bool] = False
    """Whether `start` honours `terminal`, `stdout` and `stderr` of a `ProcessSpec`."""

    @abc.abstractmethod
    def start(self, spec: ProcessSpec) -> RawProcess:
        """Start a program.

        Raises:
            LaunchError: There is no such program or directory, or it cannot be executed.
            ContainerGoneError: The machine has ended.
        """

    @abc.abstractmethod
    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """Start an interpreter that speaks frames.

        Raises:
            KernelNotReadyError: The machine's Python cannot run one; the message has its own words.
            ContainerGoneError: The machine has ended.
        """

    @abc.abstractmethod
    def open_files(self) -> socket.socket:
        """Connect to a file service in the machine (see `guest.files`)."""

    def prepare_files(self) -> None:  # noqa: B027 - optional, not abstract
        """Start a file service ahead of need: the next `open_files` connects to it."""

    def connect(self, port: int) -> socket.socket:
        """Connect to a port that a program of the machine listens at on its own loopback.

        Raises:
            ConnectionRefusedError: None does.
            OSError: It could not be reached.
            UnsupportedError: The backend cannot.
        """
        raise UnsupportedError(f"port {port}", self.isolation.backend, "it cannot be connected to")

    def process_in_network(self) -> AbstractContextManager[int]:
        """Have, for a block, the number of a process of this computer that is in the machine's
        network namespace, by which that can be entered.

        Raises:
            UnsupportedError: It has none of its own, or this process cannot enter it.
        """
        raise UnsupportedError(
            "a network with rules",
            self.isolation.backend,
            "there is no network namespace that a gate could be put into",
            hint="use the bubblewrap, docker or podman backend",
        )

    @abc.abstractmethod
    def signal(self, process_id: str, number: int) -> bool:
        """Send a signal to one process; False if it has ended."""

    def resize(self, process_id: str, rows: int, cols: int) -> bool:
        """Change the size of a program's terminal; False if it has ended.

        Raises:
            ValidationError: The program has none.
        """
        raise UnsupportedError("resize()", self.isolation.backend, "it has no terminals")

    @abc.abstractmethod
    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        """Kill a process and everything it started, wherever that went; False if it has ended.

        Args:
            process_id: The process.
            children_only: Whether the process itself is left alone.
        """

    @abc.abstractmethod
    def sweep(self) -> None:
        """Kill what processes that have ended left behind."""

    def limit_events(self) -> LimitEvents:
        """How often the kernel has enforced its limits so far, as far as that is known."""
        return LimitEvents()

    @abc.abstractmethod
    def set_deadline(self, seconds: float | None) -> None:
        """Have the machine end in `seconds` from now; None for never."""

    def update_limits(self, limits: Limits) -> None:
        """Have the machine held to other limits from now on; its `spec` has them then.

        Raises:
            UnsupportedError: One that differs cannot change while the machine lives; none has.
            BackendError: The kernel or the engine refused one, such as less than what is used.
        """
        raise UnsupportedError(
            "update_limits()",
            self.isolation.backend,
            "limits cannot change while it lives",
            hint="make another sandbox with limits=",
        )

    @property
    @abc.abstractmethod
    def end_reason(self) -> str | None:
        """Why the machine has ended: ``closed``, ``deadline``, ``gone``; None while it lives."""

    def on_end(self, call: Callable[[], None]) -> None:
        """Have `call` called when the machine ends, at once if it has ended; by any thread, perhaps
        twice.
        """
        raise NotImplementedError

    @property
    def exit_code(self) -> int | None:
        """Exit code of what the machine was made for; None while it lives, or for no such thing."""
        return None

    def active(self, begins: bool) -> None:  # noqa: B027 - optional, not abstract
        """Take the news that the host's own work on it, as on a file, begins or ends."""

    def note_turn(self, begins: bool) -> None:  # noqa: B027 - optional, not abstract
        """Take the news that an interpreter is to do something, or that it is done."""

    def programs(self) -> "list[RunningProgram] | None":
        """The programs it knows, oldest first, whoever started them; None where only who started
        one knows it.
        """
        return None

    def reattach(self, process_id: str) -> RawProcess:
        """Return one of its `programs`, with its output from the first byte.

        Raises:
            ProcessNotFoundError: It is not known.
        """
        raise ProcessNotFoundError(process_id, backend=self.isolation.backend)

    @abc.abstractmethod
    def base_env(self) -> dict[str, str]:
        """The environment that programs get before the caller's additions."""

    @abc.abstractmethod
    def python(self) -> str:
        """Path of the machine's Python interpreter."""

    @abc.abstractmethod
    def language_folder(self, language: str) -> str:
        """Path in it of what this library brings for a language beside Python."""

    @property
    def has_packages(self) -> bool:
        """Whether libraries are packages of its own (`install_packages`), and no layers."""
        return False

    def install_packages(self, specs: Sequence[str]) -> None:
        """Install packages in the machine, where it `has_packages`.

        Raises:
            LibraryInstallationError: One could not be installed.
        """
        raise UnsupportedError("install_packages()", self.isolation.backend, "it has layers")

    def engine_container(self) -> Any:
        """Return the container that it is, as an object of the engine's client.

        Raises:
            ContainerGoneError: The engine no longer has it.
            UnsupportedError: It is not a container.
        """
        raise UnsupportedError("engine_container()", self.isolation.backend, "it has no containers")

    @property
    def library_path(self) -> str | None:
        """Folder with libraries that it was made with, for Python's path; None without any."""
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
        """What stands for the image that it was made from, and what people know that by; None
        where it has no image, or nobody knows which.
        """
        return None

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        """Save the machine.

        Args:
            workdir: Its working directory as a tar archive.
            name: Name for it; None makes one up.
            site: Folder of this computer with libraries that it uses besides.
            expires_at: When it expires, in seconds since 1970; None for never.

        Raises:
            UnsupportedError: The backend cannot.
        """
        raise UnsupportedError(
            "a snapshot of the whole file system",
            self.isolation.backend,
            "it has neither images nor a writable layer of its own",
            hint="save one directory: snapshot(kind='directory')",
        )

    @abc.abstractmethod
    def destroy(self) -> None:
        """End the machine and everything in it; returns at once, and is sure. May be called
        twice.
        """


class Backend(abc.ABC):
    """An engine that machines are made by."""

    name: ClassVar[str]
    has_containers: ClassVar[bool] = False
    """Whether its machines are containers of an engine: then the last part of this contract, from
    `engine_client` on, holds as well."""
    writable_root: ClassVar[bool] = False
    """Whether machines may be made with `MachineSpec.writable_root`."""
    hardens: ClassVar[bool] = False
    """Whether all its machines have a read-only root unless asked otherwise, no capability, no new
    privileges, and no user but an unprivileged one."""
    isolates: ClassVar[bool] = True
    """Whether programs are kept apart from this computer. Where not, libraries are installed by
    plain processes instead of in a `builder`."""
    search_path: ClassVar[str] = ""
    """Where machines find this computer's own programs: folders with colons between them; empty
    where they have programs of their own."""
    pooled: bool = True
    """Whether machines may be made ahead of need: any of them serves any session."""
    options: "ContainerOptions | None" = None
    """Options of its containers; None where machines are not containers."""

    @abc.abstractmethod
    def check(self) -> Isolation:
        """Prove once that this engine works here.

        Returns:
            What a machine made here is held by.

        Raises:
            BackendUnavailableError: It does not work here; the hint says what to do.
        """

    @abc.abstractmethod
    def create(self, spec: MachineSpec) -> Machine:
        """Make a machine.

        Raises:
            BackendUnavailableError: The engine does not work here.
            UnsupportedError: The engine cannot honour the specification.
        """

    def layers(self, machine: Machine) -> "LayerLocation":
        """Say where a machine that was made here finds installed libraries.

        Raises:
            UnsupportedError: It finds none anywhere.
        """
        raise UnsupportedError("installing libraries as layers", self.name)

    def builder(
        self, staging: Path, *, binds: Mapping[str, str]
    ) -> AbstractContextManager[Machine]:
        """Create, for a block, a machine to install libraries in: with an open network, and one
        writable folder of this computer.

        Args:
            staging: The folder, which is ``/build`` inside; root gives it to the user that programs
                run as.
            binds: Path inside to host path of other files and folders, read-only.

        Raises:
            BackendUnavailableError: The engine does not work here.
            UnsupportedError: The backend cannot.
        """
        raise UnsupportedError("installing libraries as layers", self.name)

    def prepare(self, network: Network = "blocked") -> None:  # noqa: B027 - optional, not abstract
        """Start in the background what the first kernel needs, and report nothing."""

    @abc.abstractmethod
    def warm_up(self, network: Network = "blocked") -> None:
        """Start what makes the first kernel quick, and return at once."""

    @abc.abstractmethod
    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        """Wait until kernels start as quickly as they ever will; False if that did not come
        about.
        """

    def close(self) -> None:  # noqa: B027 - optional, not abstract
        """End every machine of this process and wait for it. Called at exit; machines can be
        created again afterwards.
        """

    def ping(self) -> None:
        """Do nothing if the engine answers; quicker than `check`.

        Raises:
            BackendUnavailableError: It does not answer.
        """
        self.check()

    def describe_engine(self) -> str | None:
        """Return the program or service that runs the machines, with its version and address; None
        where there is nothing to say.

        Raises:
            BackendUnavailableError: It does not answer.
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
        """What this library holds in the engine; UnsupportedError without containers."""
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
