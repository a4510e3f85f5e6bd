"""Options of pods, checked once."""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from llm_sandbox.backends.kubernetes.unsafe_fields import UNSAFE_FIELDS, reject_unsafe_fields
from llm_sandbox.backends.options.immutable import ImmutableMapping, to_immutable
from llm_sandbox.exceptions import UnsupportedError, ValidationError

__all__ = ["PodOptions", "Profile"]

Profile = Literal["restricted", "baseline"]
"""Pod Security profile of pods. ``restricted``: process 1 and programs have the same user, without
any capability. ``baseline``: process 1 is root with four capabilities, and programs are another
user, who cannot signal it."""

_OURS: Final = {
    "args": "process 1 is the sandbox's own",
    "command": "process 1 is the sandbox's own",
    "lifecycle": "process 1 is the sandbox's own",
    "livenessProbe": "process 1 is watched by the client",
    "readinessProbe": "process 1 is watched by the client",
    "startupProbe": "process 1 is watched by the client",
    "stdin": "its streams carry the session",
    "stdinOnce": "its streams carry the session",
    "tty": "its streams carry the session",
    "workingDir": "it has a parameter of its own: workdir=",
}
"""Fields of the first container that are refused, with the reason."""
_OURS_OF_POD: Final = {
    "activeDeadlineSeconds": "it cannot be put off; give timeout= or session_timeout=",
    "restartPolicy": "pods end with their session",
    "terminationGracePeriodSeconds": "process 1 ends at once",
}
_OF_OUR_PODS: Final = {
    "image_pull_secrets",
    "node_selector",
    "pod_manifest",
    "priority_class",
    "profile",
    "pull_policy",
    "runtime_class",
    "runtime_image",
    "tolerations",
}
"""Options of pods that this library makes."""
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_MACHINES: Final = {"AMD64": "x86_64", "arm64": "aarch64"}
"""Other names of architectures, on other systems."""
_OUR_LABELS: Final = "llm-sandbox/"


@dataclass(frozen=True)
class PodOptions:
    """Options of the pods of a `KubernetesBackend`.

    Raises:
        ValidationError: A value is malformed.
        UnsupportedError: The manifest has a field that the sandbox decides itself.
        SecurityError: The manifest weakens the isolation by a field that is not in `allow_unsafe`.
    """

    namespace: str | None = None
    """Namespace; None (default) for that of the kubeconfig's context, or ``default``."""
    context: str | None = None
    """Context of the kubeconfig; None (default) for the current one."""
    kubeconfig: str | None = None
    """Path of the kubeconfig; None (default) for the usual one."""
    profile: Profile = "restricted"
    """Pod Security profile that pods keep to."""
    runtime_image: str | None = None
    """Image from which an init container copies the supervisor and its interpreter; None (default)
    for an image that has them."""
    architecture: Literal["x86_64", "aarch64"] | None = None
    """Architecture of the nodes that are used; None (default) for that of this computer."""
    runtime_class: str | None = None
    """RuntimeClass, such as ``gvisor``; None (default) for the cluster's own."""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    """Labels that a node must have."""
    tolerations: Sequence[Mapping[str, Any]] = ()
    """Taints of nodes that are tolerated."""
    image_pull_secrets: Sequence[str] = ()
    """Names of Secrets with credentials of registries."""
    pull_policy: Literal["IfNotPresent", "Always", "Never"] = "IfNotPresent"
    """When images are pulled."""
    priority_class: str | None = None
    """PriorityClass; None (default) for the cluster's own default."""
    pod_manifest: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the pod, merged into ours: ``metadata.labels``, ``metadata.annotations``,
    and ``spec``, whose first container is the sandbox."""
    warm_pool: str | None = None
    """Name of a ``SandboxWarmPool`` of agent-sandbox, whose pods are taken as they are; None
    (default) for pods of our own."""
    allow_unsafe: Sequence[str] = ()
    """Names of fields of `pod_manifest`, such as ``hostPath``, whose dangerous values are
    allowed."""
    start_timeout: float = 180.0
    """Seconds within which a pod must run, its image pulled."""
    orphan_after: float = 60.0
    """Seconds without a connection after which a pod ends by itself."""

    def __post_init__(self) -> None:
        for name in ("node_selector", "pod_manifest"):
            value = getattr(self, name)
            if not isinstance(value, Mapping):
                raise ValidationError(
                    f"invalid {name}: expected a mapping, got {type(value).__name__}",
                    parameter=name,
                )
            object.__setattr__(self, name, ImmutableMapping(value, name))
        for name in ("tolerations", "image_pull_secrets", "allow_unsafe"):
            object.__setattr__(self, name, to_immutable(list(getattr(self, name)), name))
        if self.profile not in ("restricted", "baseline"):
            raise ValidationError(
                f"invalid profile: expected 'restricted' or 'baseline', got {self.profile!r}",
                parameter="profile",
            )
        for name, least in (("start_timeout", 1), ("orphan_after", 20)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
                raise ValidationError(
                    f"invalid {name}: expected seconds, {least} or more, got {value!r}",
                    parameter=name,
                )
        unknown = sorted(set(self.allow_unsafe) - set(UNSAFE_FIELDS))
        if unknown:
            raise ValidationError(
                f"allow_unsafe has no {unknown[0]!r}; it may name: {', '.join(UNSAFE_FIELDS)}",
                parameter="allow_unsafe",
            )
        self._check_warm_pool()
        self._check_manifest()
        self.risks()

    @property
    def machine(self) -> str:
        """Architecture of the nodes, as `os.uname` names it."""
        return self.architecture or _MACHINES.get(platform.machine(), platform.machine())

    def risks(self) -> tuple[str, ...]:
        """Return the names of unsafe fields that were given, and allowed."""
        return reject_unsafe_fields(self.pod_manifest, self.allow_unsafe)

    @property
    def containers(self) -> Sequence[Mapping[str, Any]]:
        """Containers of the manifest, the sandbox first; empty without any."""
        found: Sequence[Mapping[str, Any]] = self.pod_manifest.get("spec", {}).get("containers", ())
        return found

    def _check_warm_pool(self) -> None:
        if self.warm_pool is None:
            return
        if not _NAME.fullmatch(str(self.warm_pool)):
            raise ValidationError(
                f"invalid warm_pool: expected the name of a SandboxWarmPool, "
                f"got {self.warm_pool!r:.80}",
                parameter="warm_pool",
            )
        for one in fields(self):
            given = getattr(self, one.name)
            if one.name in _OF_OUR_PODS and given and given != one.default:
                raise UnsupportedError(
                    f"{one.name}= with warm_pool=", "kubernetes", "pods are those of the pool"
                )

    def _check_manifest(self) -> None:
        manifest = self.pod_manifest
        allowed = {"apiVersion", "kind", "metadata", "spec"}
        unknown = sorted(set(manifest) - allowed)
        if unknown or manifest.get("kind", "Pod") != "Pod":
            raise ValidationError(
                "invalid pod_manifest: expected a Pod with metadata and spec, got "
                f"{unknown[0] if unknown else manifest['kind']!r}",
                parameter="pod_manifest",
            )
        metadata, spec = manifest.get("metadata", {}), manifest.get("spec", {})
        for part in (metadata, spec, *spec.get("containers", ())):
            if not isinstance(part, Mapping):
                raise ValidationError(
                    f"invalid pod_manifest: expected a mapping, got {type(part).__name__}",
                    parameter="pod_manifest",
                )
        for name in sorted(set(metadata) - {"labels", "annotations"}):
            raise UnsupportedError(
                f"pod_manifest metadata.{name}",
                "kubernetes",
                "pods have names of their own; give namespace= for a namespace",
            )
        for name in metadata.get("labels", {}):
            if str(name).startswith(_OUR_LABELS):
                raise ValidationError(
                    f"the label {name!r} is one of the library's own", parameter="pod_manifest"
                )
        for name, reason in _OURS_OF_POD.items():
            if name in spec:
                raise UnsupportedError(f"pod_manifest spec.{name}", "kubernetes", reason)
        for name, reason in _OURS.items():
            if self.containers and name in self.containers[0]:
                raise UnsupportedError(
                    f"pod_manifest spec.containers[0].{name}", "kubernetes", reason
                )
