"""Kubernetes backend: a pod for each machine."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Final

from llm_sandbox.backends.base import Control, Isolation, Machine, MachineSpec, Network
from llm_sandbox.backends.hardening.seccomp import build_filter
from llm_sandbox.backends.image_machine import supervisor_command
from llm_sandbox.backends.inventory import Inventory
from llm_sandbox.backends.kept import Place
from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.existing_pod import AttachedPodLaunch, ExistingPod
from llm_sandbox.backends.kubernetes.inventory import PodInventory
from llm_sandbox.backends.kubernetes.kept_machine import KeptPodHost, KeptPodMachine
from llm_sandbox.backends.kubernetes.kept_pods import KeptPods, place_of
from llm_sandbox.backends.kubernetes.launch import PodLaunch
from llm_sandbox.backends.kubernetes.layers import PodLayers
from llm_sandbox.backends.kubernetes.link import relay_command
from llm_sandbox.backends.kubernetes.machine import PodMachine
from llm_sandbox.backends.kubernetes.manifest import PROCESS_ALLOWANCE, PodPlan, plan_pod
from llm_sandbox.backends.kubernetes.network_policy import NETWORK, NetworkPolicy
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.kubernetes.rights import CLAIMING, NEEDED, AccessReview
from llm_sandbox.backends.kubernetes.sandbox_claim import SandboxClaim
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.mounts import refuse_mounts
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.runtime import describe_runtime
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import SupervisedMachine, resource_limits
from llm_sandbox.backends.supervisor_host import SupervisedBackend, SupervisorHost
from llm_sandbox.exceptions import UnsupportedError

__all__ = ["KubernetesBackend", "KubernetesOptions"]

_NAME: Final = "kubernetes"
_LIMITS: Final = {"cpu_count", "cpus", "mem_limit", "nano_cpus", "pids_limit", "shm_size"}
"""Runtime configs that are limits, which sessions take from there."""
_REFUSED: Final = {
    "commit_container": "pods are not saved as images",
    "dockerfile": "a cluster builds no images",
    "mounts": "pods do not see the folders of this computer",
}
_NO_MOUNTS: Final = "pods do not see this computer; give volumes with pod_manifest="


@dataclass(frozen=True)
class KubernetesOptions(ContainerOptions):
    """Options of sessions in containers, with those of pods.

    Raises:
        As `ContainerOptions` and `PodOptions`.
    """

    pod: PodOptions = field(default_factory=PodOptions)
    """Options of the pods."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pod.warm_pool is not None:
            for name in ("image", "container_id"):
                if getattr(self, name) is not None:
                    raise UnsupportedError(
                        f"{name}= with warm_pool=", _NAME, "pods are those of the pool"
                    )

    @property
    def is_attached(self) -> bool:
        """True if sandboxes enter pods that exist already."""
        return self.container_id is not None or self.pod.warm_pool is not None


_Kept = tuple[str, bytes]
"""Id and key of a machine that outlives this process."""


class _Connection:
    """Cluster with one namespace, connected to when first used, for all backends that share it."""

    def __init__(self, client: object, options: PodOptions) -> None:
        self._client = client
        self._options = options
        self._rights = NEEDED if options.warm_pool is None else CLAIMING
        self._lock = threading.RLock()
        self._pods: Pods | None = None
        self._policy: NetworkPolicy | None = None
        self._access: AccessReview | None = None

    @property
    def pods(self) -> Pods:
        with self._lock:
            if self._pods is None:
                given = self._options
                cluster = Cluster(self._client, context=given.context, kubeconfig=given.kubeconfig)
                self._pods = Pods(cluster, given.namespace or cluster.namespace)
            return self._pods

    @property
    def access(self) -> AccessReview:
        """Review of rights, begun before the first machine; what others have left is removed."""
        with self._lock:
            if self._access is None:
                if self._options.warm_pool is None:
                    PodInventory(self.pods).collect_soon()
                self._access = self.review()
            return self._access

    def review(self) -> AccessReview:
        """Begin a review of the rights that are needed."""
        return AccessReview(self.pods.cluster, self.pods.namespace, self._rights)

    @property
    def policy(self) -> NetworkPolicy:
        with self._lock:
            if self._policy is None:
                self._policy = NetworkPolicy(self.pods)
            return self._policy

    def forget(self) -> None:
        """Drop what belongs to the parent of this process."""
        self._lock = threading.RLock()
        self._pods = None
        self._policy = None
        self._access = None


class KubernetesBackend(SupervisedBackend):
    """See `Backend`. Safe to use from several threads.

    Args:
        options: Options of its pods: `PodOptions`, or `KubernetesOptions` with an image and more;
            None for those of the language's image.
        client: A `kubernetes.client.CoreV1Api`; None finds the cluster as ``kubectl`` does.
    """

    name = _NAME
    has_containers: ClassVar[bool] = True
    writable_root: ClassVar[bool] = True
    hardens: ClassVar[bool] = True

    options: KubernetesOptions

    def __init__(
        self, options: PodOptions | KubernetesOptions | None = None, client: object = None
    ) -> None:
        super().__init__()
        if isinstance(options, PodOptions):
            options = KubernetesOptions(pod=options)
        self.options = options or KubernetesOptions()
        # Pods reserve what others could use: only a `SandboxPool` makes them ahead of need.
        self.pooled = False
        self._client = client
        self._connection = _Connection(client, self.options.pod)
        if client is None and not self.options.is_attached:
            self.keeper = KeptPods(self)

    def _after_fork(self) -> None:
        super()._after_fork()
        self._connection.forget()

    @property
    def pods(self) -> Pods:
        """Pods of the namespace.

        Raises:
            MissingDependencyError: The client of Kubernetes is not installed.
            BackendUnavailableError: There is no cluster.
        """
        return self._connection.pods

    def ping(self) -> None:
        self.pods.cluster.request("GET", "/version", retry_s=0.0)

    def describe_engine(self) -> str:
        cluster = self.pods.cluster
        major, minor = cluster.version
        return f"Kubernetes {major}.{minor} at {cluster.address}, namespace {self.pods.namespace}"

    @property
    def inventory(self) -> Inventory:
        return PodInventory(self.pods)

    @property
    def network_policy(self) -> NetworkPolicy:
        """Policy that cuts off pods of the namespace."""
        return self._connection.policy

    def engine_client(self) -> Any:
        return self.pods.cluster.core_api()

    def with_options(self, options: ContainerOptions, client: object = None) -> "KubernetesBackend":
        for name, reason in _REFUSED.items():
            if getattr(options, name):
                raise UnsupportedError(f"{name}=", _NAME, reason)
        for name in options.runtime_configs:
            if name not in _LIMITS:
                raise UnsupportedError(
                    f"runtime_configs[{name!r}]",
                    _NAME,
                    "it is an option of Docker",
                    hint="pods have fields instead: PodOptions(pod_manifest={'spec': ...})",
                )
        given = {one.name: getattr(options, one.name) for one in fields(ContainerOptions)}
        if options.image is None and options.container_id is None:
            given["image"] = self.options.image
            given["container_id"] = self.options.container_id
        pod = options.pod if isinstance(options, KubernetesOptions) else self.options.pod
        changed = KubernetesOptions(**given, pod=pod)
        if changed == self.options and client in (None, self._client):
            return self
        other = KubernetesBackend(changed, self._client if client is None else client)
        if client in (None, self._client) and pod == self.options.pod:
            other._connection = self._connection
        return other

    def with_pods(
        self,
        kube_namespace: str | None = None,
        pod_manifest: Mapping[str, Any] | None = None,
        allow_unsafe: Sequence[str] = (),
    ) -> "KubernetesBackend":
        """Return a backend of the same cluster whose pods have these options.

        Args:
            kube_namespace: Their namespace; None for that of this backend.
            pod_manifest: Further fields of each pod; None for those of this backend.
            allow_unsafe: Names of dangerous fields of `pod_manifest` that are allowed.

        Raises:
            UnsupportedError: A field is one that the sandbox decides itself.
            SecurityError: A field weakens the isolation, and is not allowed.
        """
        changed: dict[str, Any] = {}
        if kube_namespace is not None:
            changed["namespace"] = kube_namespace
        if pod_manifest is not None:
            changed["pod_manifest"] = pod_manifest
        if allow_unsafe:
            changed["allow_unsafe"] = allow_unsafe
        if not changed:
            return self
        return self.with_options(replace(self.options, pod=replace(self.options.pod, **changed)))

    def for_language(self, lang: str) -> "KubernetesBackend":
        if self.options.lang == lang:
            return self
        return self.with_options(replace(self.options, lang=lang))

    def with_image(self, image: str | Snapshot) -> "KubernetesBackend":
        if not isinstance(image, str):
            raise UnsupportedError("image=", _NAME, f"{image.name} is not in its registry")
        return self.with_options(replace(self.options, image=image))

    def review_rights(self) -> AccessReview:
        """Begin a review of the rights that are needed."""
        return self._connection.review()

    def check(self) -> Isolation:
        self.review_rights().require()
        return self._isolation(self._plan(MachineSpec()), Control("enforced", "a network policy"))

    def create(self, spec: MachineSpec) -> Machine:
        return self._create_reviewed(spec)

    def create_kept(self, spec: MachineSpec, machine_id: str, key: bytes) -> KeptPodMachine:
        """Create a machine that can outlive this process; see `Keeper.create`."""
        machine = self._create_reviewed(spec, (machine_id, key))
        assert isinstance(machine, KeptPodMachine)  # noqa: S101 - what was asked for
        return machine

    def confinement_of(self, spec: MachineSpec) -> tuple[Mapping[str, Any], str]:
        """Return the confinement of programs of a machine, and the name of its image."""
        plan = self._plan(spec)
        return self._confinement(plan), plan.image

    @property
    def relay(self) -> Sequence[str]:
        """Command line of the relay to process 1 of its pods."""
        return relay_command(self._runtime())

    def hold(self, host: SupervisorHost) -> None:
        """Disconnect from a supervisor at the end of this process."""
        with self._lock:
            self._hosts.add(host)
        _used.add(self)

    def _create_reviewed(self, spec: MachineSpec, kept: _Kept | None = None) -> Machine:
        refuse_mounts(spec.mounts, None, self.name, _NO_MOUNTS)
        if isinstance(spec.gpu, str):
            raise UnsupportedError(
                f"gpu={spec.gpu!r}",
                self.name,
                "a cluster gives graphics processors by their number",
                hint="give a number, such as gpu=1; other devices with pod_manifest=",
            )
        access = self._connection.access
        try:
            machine = self._create_proved(spec, kept)
        except ApiError as error:
            if error.status == 403:
                access.require(error)
            raise
        try:
            access.require()
        except BaseException:
            machine.destroy()
            raise
        return machine

    def _create_proved(self, spec: MachineSpec, kept: _Kept | None) -> PodMachine:
        """Create a machine whose network was proved to be as it is asked for."""
        if self.options.container_id is not None:
            return self._attach(spec, self.options.container_id)
        if self.options.pod.warm_pool is not None:
            return self._claim(spec, self.options.pod.warm_pool)
        if spec.network == "open":
            return self._create(spec, kept)
        policy = self._connection.policy
        policy.ensure()
        machine = self._create(spec, kept)
        try:
            policy.prove(
                machine, lambda: self._create(MachineSpec(network="open", limits=spec.limits))
            )
            machine.isolation = replace(
                machine.isolation,
                controls={**machine.isolation.controls, "network": policy.control},
            )
        except BaseException:
            machine.destroy()
            raise
        return machine

    def _create(self, spec: MachineSpec, kept: _Kept | None = None) -> PodMachine:
        plan = self._plan(spec, keeps=kept is not None)
        pods = self.pods
        given = self.options.pod
        launch = PodLaunch(
            pods,
            plan,
            self.relay,
            start_s=given.start_timeout,
            orphan_after=given.orphan_after,
            key=None if kept is None else kept[1],
        )
        control = (
            Control("absent", "the pod's network is open")
            if spec.network == "open"
            else self._connection.policy.control
        )
        return self._make_machine(
            launch,
            plan.spec,
            self._isolation(plan, control),
            lambda: launch.name,
            plan.image,
            self._confinement(plan),
            keep=None
            if kept is None
            else lambda: (kept[0], place_of(self, launch.name, launch.uid, plan.container)),
        )

    def _claim(self, spec: MachineSpec, warm_pool: str) -> PodMachine:
        """Enter a pod of a warm pool, which is deleted with the machine."""
        claim = SandboxClaim(self.pods, warm_pool)
        try:
            name = claim.wait(self.options.pod.start_timeout)
            return self._attach(spec, name, claim.delete)
        except BaseException:
            claim.delete()
            raise

    def _attach(
        self, spec: MachineSpec, name: str, release: Callable[[], None] | None = None
    ) -> PodMachine:
        """Enter a pod that exists already."""
        refuse_mounts(spec.mounts, spec.gpu, self.name, "that pod exists already")
        given = self.options.pod
        pod = ExistingPod(self.pods, name)
        runtime = describe_runtime(given.machine)
        launch = AttachedPodLaunch(pod, runtime, spec, given.orphan_after)
        return self._make_machine(
            launch,
            spec,
            pod.isolation(),
            lambda: pod.name,
            pod.image,
            {"privileges": True, "rlimits": resource_limits(spec.limits, processes=False)},
            release,
            no_rules="that pod exists already, and others run in it",
        )

    def _make_machine(
        self,
        launch: PodLaunch | AttachedPodLaunch,
        spec: MachineSpec,
        isolation: Isolation,
        pod: Callable[[], str],
        image: str,
        confinement: Mapping[str, Any],
        release: Callable[[], None] | None = None,
        no_rules: str | None = None,
        keep: Callable[[], tuple[str, Place]] | None = None,
    ) -> PodMachine:
        host = (SupervisorHost if keep is None else KeptPodHost)(
            launch,
            backend=self.name,
            channel=launch.control_pair.host_end,
            start_s=self.options.pod.start_timeout + _HELLO_S,
        )

        def on_destroyed(machine: SupervisedMachine) -> None:
            host.connection.close()
            if release is not None:
                release()

        given: dict[str, Any] = {
            "pods": self.pods,
            "pod": pod(),
            "image": image,
            "confinement": confinement,
            "loaded": host.zygote_settled,
            "guest": launch.root,
            "no_rules": no_rules,
        }
        machine: PodMachine
        try:
            if keep is None:
                given["on_destroyed"] = on_destroyed
                machine = PodMachine(host.connection, spec, isolation, **given)
            else:
                given["machine_id"], given["place"] = keep()
                given["owns"] = lambda owns: setattr(launch, "deletes", owns)
                machine = KeptPodMachine(host.connection, spec, isolation, **given)
        except BaseException:
            host.connection.close()
            raise
        host.machines[machine.id] = machine
        # At exit it waits for its pods, so it has to live until then.
        self.hold(host)
        return machine

    def try_admission(self) -> None:
        """Ask the cluster whether it would admit a pod; none is created.

        Raises:
            ApiError: It would not, in its words.
            BackendUnavailableError: The server does not answer.
        """
        self.pods.create(self._plan(MachineSpec()).manifest, start_s=0.0, dry_run=True)

    @property
    def image(self) -> str:
        """Name of the image of its pods, unless their manifest has another."""
        return self.options.image or image_name(self.options.lang)

    def _plan(self, spec: MachineSpec, *, keeps: bool = False) -> PodPlan:
        given = self.options
        runtime = self._runtime()
        pod = {"orphan_after": given.pod.orphan_after, **({"keeps": True} if keeps else {})}
        command = supervisor_command(runtime, spec=spec, pod=pod)
        return plan_pod(
            spec,
            given.pod,
            image=self.image,
            command=command,
            runtime=runtime,
            version=self.pods.cluster.version,
            labels={NETWORK: spec.network},
            annotations={},
        )

    def _runtime(self) -> tuple[str, ...]:
        """Return the command line of the interpreter that the library brings."""
        return describe_runtime(self.options.pod.machine).command

    def _isolation(self, plan: PodPlan, network: Control) -> Isolation:
        return Isolation(self.name, "container", {**plan.controls, "network": network})

    def _confinement(self, plan: PodPlan) -> Mapping[str, Any]:
        limits = plan.spec.limits
        rlimits = resource_limits(limits, processes=plan.user is None)
        if plan.user is None:
            rlimits["NPROC"] += PROCESS_ALLOWANCE
        places = [plan.spec.workdir, "/tmp", "/dev"]  # noqa: S108 - inside
        return {
            "rlimits": rlimits,
            "raisable": ["DATA"],
            "seccomp": build_filter(self.options.pod.machine, set_id_bits=True),
            "read_only": ["/"],
            "writable": ["/"] if plan.spec.writable_root else places,
            "user": plan.user,
        }

    def layers(self, machine: Machine) -> LayerLocation:
        images = machine.images
        if images is None or not isinstance(machine, PodMachine):
            raise UnsupportedError(
                "installing libraries as layers", _NAME, "the image of the pod is not known"
            )
        if self.options.is_attached:
            container = (self.options.container_id or "").partition("/")[2]
            runtime = describe_runtime(self.options.pod.machine).command_below(machine.guest)
            root = machine.guest
        else:
            container = self._plan(machine.spec).container
            runtime, root = self._runtime(), LAYERS_ROOT
        layers = PodLayers(machine, container, runtime, *images, self.create, root)
        return LayerLocation(root, layers)

    def warm_up(self, network: Network = "blocked") -> None:
        self.ping()

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        self.ping()
        return True


_used: "set[KubernetesBackend]" = set()
_HELLO_S: Final = 30.0
