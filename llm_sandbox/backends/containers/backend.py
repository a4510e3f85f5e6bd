"""Base of the container backends: one container, with a supervisor in it, for each machine."""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from llm_sandbox.backends.base import Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.containers.creation.arguments import (
    MEMORY_ALLOWANCE,
    CreateArguments,
    create_arguments,
)
from llm_sandbox.backends.containers.creation.mount_plan import MountPlan
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.existing_container import AttachedLaunch, ExistingContainer
from llm_sandbox.backends.containers.gc.labels import new_labels
from llm_sandbox.backends.containers.gc.removal import wait_until_removed
from llm_sandbox.backends.containers.images.store import EngineImages
from llm_sandbox.backends.containers.launch import ContainerLaunch
from llm_sandbox.backends.containers.machine import ContainerMachine, Origin
from llm_sandbox.backends.containers.snapshots import (
    SNAPSHOT,
    EngineSnapshots,
    reject_expired,
)
from llm_sandbox.backends.containers.volumes.engine_volume import READ_ONLY
from llm_sandbox.backends.containers.volumes.guest_volume import GuestVolume
from llm_sandbox.backends.containers.volumes.layers import (
    AttachedLayers,
    ContainerLayers,
    LayersVolume,
)
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.image_machine import supervisor_command
from llm_sandbox.backends.images import ImageInfo
from llm_sandbox.backends.inventory import Inventory
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import hold_volumes, refuse_mounts, writes_to_host
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.python_environment import GUEST_ROOT, LAYERS_ROOT
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.backends.runtime import Runtime, describe_runtime
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import SupervisedMachine, resource_limits
from llm_sandbox.backends.supervisor_host import SupervisedBackend, SupervisorHost
from llm_sandbox.exceptions import (
    BackendError,
    ImageNotFoundError,
    SandboxError,
    UnsupportedBackendError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.host.terminal import announce

__all__ = ["ContainerBackend"]

_MOST_LIKELY_TO_DIE = 1000
"""Score at which the kernel kills a process first when memory runs out."""

_MOST_CONFIGURED = 64
"""Limit of the backends that are kept, as the options of sessions may never repeat."""

_Key = tuple[type["ContainerBackend"], ContainerOptions, Mapping[str, str], int]

_configured_lock = threading.RLock()
_configured: "OrderedDict[_Key, ContainerBackend]" = OrderedDict()
"""One backend for all requests with the same options, so that they share the engine's connection
and the machines that are kept ready."""


def _renew_lock() -> None:
    global _configured_lock
    _configured_lock = threading.RLock()


# Another thread may hold it while this process is forked.
os.register_at_fork(after_in_child=_renew_lock)


class _ContainerHost(SupervisorHost):
    """Supervisor host of one container, with its one machine."""

    def __init__(self, launch: ContainerLaunch | AttachedLaunch, backend: str) -> None:
        self.held_descriptors: list[int] = []
        """Descriptors that keep its volumes from being removed."""
        self.leave = launch.leave
        super().__init__(
            launch, backend=backend, channel=launch.control_pair.host_end, diagnose=launch.obstacle
        )


class ContainerBackend(SupervisedBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: Options of its containers; None for those of the language's image.
        client: Client object of the engine; None connects as the engine's own tools do.
    """

    has_containers: ClassVar[bool] = True
    writable_root: ClassVar[bool] = True
    machine_type: ClassVar[type[ContainerMachine]] = ContainerMachine
    """Class of its machines."""

    options: ContainerOptions

    def __init__(self, options: ContainerOptions | None = None, client: object = None) -> None:
        super().__init__()
        self.options = given = options or ContainerOptions()
        self.pooled = not (given.commit_container or given.container_id or given.dockerfile)
        self._client = client
        self._engine: Engine | None = None
        self._engine_of: ContainerBackend | None = None
        self._volume: GuestVolume | None = None
        self._layers: LayersVolume | None = None

    def _after_fork(self) -> None:
        super()._after_fork()
        self._engine = None
        self._volume = None
        self._layers = None

    def connect(self) -> Engine:
        """Connect to the engine.

        Raises:
            MissingDependencyError: Its client is not installed.
            BackendUnavailableError: It does not answer.
        """
        raise NotImplementedError

    @property
    def engine(self) -> Engine:
        """The engine, connected to when first used."""
        with self._lock:
            if self._engine is None:
                other = self._engine_of
                self._engine = self.connect() if other is None else other.engine
            return self._engine

    def share_engine(self, other: "ContainerBackend") -> None:
        """Use the connection of another backend to the same engine."""
        self._engine_of = other

    def ping(self) -> None:
        self.engine.check()

    def describe_engine(self) -> str:
        engine = self.engine
        return f"{engine.name} {engine.version['Version']} at {engine.address}"

    def engine_client(self) -> Any:
        return self.engine.client

    @property
    def images(self) -> EngineImages:
        return EngineImages(self.engine)

    @property
    def inventory(self) -> Inventory:
        from llm_sandbox.backends.containers.gc.inventory import EngineInventory

        return EngineInventory(self.engine)

    @property
    def snapshots(self) -> EngineSnapshots:
        return EngineSnapshots(self.engine)

    def with_options(self, options: ContainerOptions, client: object = None) -> "ContainerBackend":
        is_same_client = client is None or client is self._client
        if is_same_client and options in (
            self.options,
            ContainerOptions(lang=self.options.lang),
        ):
            return self
        if self.options != self._default_options() or not (is_same_client or self._client is None):
            raise ValidationError(
                f"the {self.name} backend that was given has options of its own",
                parameter="backend",
                hint=f"give them all to its ContainerOptions, or name it: backend={self.name!r}",
            )
        kind = type(self)
        chosen = self._client if client is None else client
        # The backend keeps its client alive, so that no other object gets its id.
        key = (kind, options, options.env, id(chosen))
        with _configured_lock:
            found = _configured.get(key)
            if found is None:
                found = _configured[key] = kind(options, chosen)
                if is_same_client:
                    found.share_engine(self)
                if len(_configured) > _MOST_CONFIGURED:
                    _configured.popitem(last=False)
            _configured.move_to_end(key)
            return found

    def _default_options(self) -> ContainerOptions:
        """Return the options of a backend of this kind that is given none."""
        try:
            registered = get_backend(self.name)
        except UnsupportedBackendError:
            return ContainerOptions()
        return registered.options if type(registered) is type(self) else ContainerOptions()

    def for_language(self, lang: str) -> "ContainerBackend":
        given = self.options
        return self if given.lang == lang else self.with_options(replace(given, lang=lang))

    def with_image(self, image: str | Snapshot) -> "ContainerBackend":
        if isinstance(image, str):
            return self.with_options(replace(self.options, image=image))
        if image.backend != self.name or image.store != self.engine.identity:
            raise UnsupportedError(
                "image=",
                self.name,
                f"{image.name} was saved by another engine ({image.backend} {image.store})",
                hint="save and load the image there, and give its name",
            )
        found = self.images.find(image.ref)
        if found is None:
            raise ImageNotFoundError(
                image.name,
                backend=self.name,
                hint="the snapshot was deleted; what is there: llm-sandbox snapshots list",
            )
        reject_expired(image.name, found.labels)
        return self.with_options(replace(self.options, image=image.ref))

    def check(self) -> Isolation:
        self.engine.check()
        return self._isolation(self._arguments(MachineSpec()))

    def create(self, spec: MachineSpec) -> Machine:
        if self.options.container_id is not None:
            return self._attach(spec, self.options.container_id)
        engine = self.engine
        image = self.images.resolve(self.options, announce)
        reject_expired(image.name, image.labels)
        plan = MountPlan(spec, engine, self.options.runtime_configs)
        arguments = self._arguments(spec, plan)
        spec = arguments.spec
        runtime = describe_runtime(engine.architecture)
        volume = self._guest_volume()
        volume.ensure(image.id)
        self._layers_volume().ensure(image.id)
        with hold_volumes(spec.mounts) as held:
            host, launch = self._launch(image, runtime, arguments, plan)
            host.held_descriptors = held
            return self._make_machine(
                host,
                spec,
                self._isolation(arguments),
                Origin(
                    engine,
                    launch.container,
                    image.id,
                    image.name,
                    saved=image.labels.get(SNAPSHOT, "").split(),
                    memory_allowance=self._memory_allowance(),
                    changed_root=not arguments.effective.read_only_root,
                ),
                self._confinement(spec, arguments),
            )

    def _memory_allowance(self) -> int:
        # A runtime config limits the whole container.
        return 0 if "mem_limit" in self.options.runtime_configs else MEMORY_ALLOWANCE

    def _launch(
        self, image: ImageInfo, runtime: Runtime, arguments: CreateArguments, plan: MountPlan
    ) -> tuple[_ContainerHost, ContainerLaunch]:
        """Start a container, and map the owners of its mounts before any code runs."""
        command = supervisor_command(runtime.command, spec=arguments.spec)
        launch = ContainerLaunch(
            self.engine,
            image.id,
            command,
            arguments.keywords,
            temporary_image=image.name if image.built and not self.options.keep_template else None,
            checked_mounts=arguments.mount_points if SNAPSHOT in image.labels else (),
        )
        try:
            host = _ContainerHost(launch, self.name)
        except BackendError:
            # Its volume may be incomplete after a crash, or empty after `gc` of another program.
            if not self._guest_volume().repair(image.id):
                raise
            host = _ContainerHost(launch, self.name)
        try:
            plan.map_owners(launch.container)
        except BaseException:
            host.connection.close()
            raise
        return host, launch

    def _isolation(self, arguments: CreateArguments) -> Isolation:
        return Isolation(self.name, "container", arguments.controls())

    def _attach(self, spec: MachineSpec, container_id: str) -> Machine:
        refuse_mounts(spec.mounts, spec.gpu, self.name, "that container exists already")
        user = self.options.runtime_configs.get("user")
        existing = ExistingContainer(self.engine, container_id, None if user is None else str(user))
        runtime = describe_runtime(self.engine.architecture)
        launch = AttachedLaunch(existing, runtime, spec)
        return self._make_machine(
            _ContainerHost(launch, self.name),
            spec,
            existing.isolation(),
            Origin(
                self.engine,
                existing.id,
                existing.image_id,
                existing.image,
                changed_root=True,
                guest=launch.root,
            ),
            {
                "privileges": True,
                "rlimits": resource_limits(spec.limits, processes=False),
                "user": existing.program_user,
            },
        )

    def _make_machine(
        self,
        host: _ContainerHost,
        spec: MachineSpec,
        isolation: Isolation,
        origin: Origin,
        confinement: Mapping[str, Any],
    ) -> ContainerMachine:
        def on_destroyed(machine: SupervisedMachine) -> None:
            host.connection.close()
            host.leave()
            while host.held_descriptors:
                os.close(host.held_descriptors.pop())

        try:
            machine = self.machine_type(
                host.connection,
                spec,
                isolation,
                origin=origin,
                confinement=confinement,
                loaded=host.zygote_settled,
                on_destroyed=on_destroyed,
            )
        except BaseException:
            host.connection.close()
            raise
        host.machines[machine.id] = machine
        with self._lock:
            self._hosts.add(host)
        return machine

    def _confinement(self, spec: MachineSpec, arguments: CreateArguments) -> dict[str, Any]:
        return {
            "rlimits": {**resource_limits(spec.limits, processes=False), **arguments.rlimits},
            "raisable": [] if "DATA" in arguments.rlimits else ["DATA"],
            "seccomp": build_filter(
                self.engine.architecture, set_id_bits=not writes_to_host(spec.mounts)
            ),
            "read_only": ["/"],
            "writable": [spec.workdir, "/tmp", "/dev", *arguments.writable],  # noqa: S108
            "user": arguments.user,
            "modes": dict(arguments.modes),
            "oom_score": _MOST_LIKELY_TO_DIE,
        }

    def _arguments(self, spec: MachineSpec, plan: MountPlan | None = None) -> CreateArguments:
        return create_arguments(
            spec,
            self.options,
            engine=self.name,
            labels=new_labels(),
            volumes={
                self._guest_volume().name: {"bind": GUEST_ROOT, "mode": READ_ONLY},
                **self._layers_volume().mount,
            },
            facts=self.engine.facts,
            plan=plan,
        )

    def _guest_volume(self) -> GuestVolume:
        with self._lock:
            if self._volume is None:
                runtime = describe_runtime(self.engine.architecture)
                self._volume = GuestVolume(self.engine, runtime)
            return self._volume

    def _layers_volume(self) -> LayersVolume:
        with self._lock:
            if self._layers is None:
                self._layers = LayersVolume(self.engine)
            return self._layers

    def layers(self, machine: Machine) -> LayerLocation:
        images = machine.images
        if images is None:
            raise UnsupportedError("installing libraries as layers", self.name)
        variant = " ".join(filter(None, (machine.python(), self.options.environment)))
        if self.options.container_id is not None:
            if not isinstance(machine, ContainerMachine):
                raise UnsupportedError(
                    "installing libraries as layers",
                    self.name,
                    "a detached session of an existing container has no folder for them",
                    hint="install them when the container is made, or name its image: image=",
                )
            origin = machine.origin
            attached = AttachedLayers(
                *(origin.engine, origin.container, origin.guest, origin.image, machine.image),
                variant=variant,
                fresh_machine=self._of_image(origin.image).create,
            )
            return LayerLocation(origin.guest, attached)
        image = ContainerLayers(
            self._layers_volume(),
            *images,
            variant=variant,
            fresh_machine=self.create,
        )
        return LayerLocation(LAYERS_ROOT, image)

    def _of_image(self, image: str) -> "ContainerBackend":
        """Return a backend of the same engine whose containers are made from an image."""
        given = self.options
        options = ContainerOptions(lang=given.lang, image=image, environment=given.environment)
        backend = type(self)(options)
        backend.share_engine(self)
        return backend

    def prepare(self, network: Network = "blocked") -> None:
        def work() -> None:
            with contextlib.suppress(SandboxError, OSError):
                self._guest_volume()

        threading.Thread(target=work, name="llm-sandbox-prepare", daemon=True).start()

    def warm_up(self, network: Network = "blocked") -> None:
        self._guest_volume()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        self._guest_volume()
        return True

    def close(self) -> None:
        super().close()
        wait_until_removed()
