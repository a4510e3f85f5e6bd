"""Manifest of a pod, isolated unless the caller disables it by name."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from llm_sandbox.backends.base import Control, MachineSpec
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.options.immutable import to_mutable
from llm_sandbox.backends.python_environment import GUEST_ROOT, LAYERS_ROOT
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.guest.constants import USER_ID

__all__ = [
    "CONTAINER",
    "MANAGED_BY",
    "PROCESS_ALLOWANCE",
    "PodPlan",
    "plan_pod",
]

CONTAINER: Final = "sandbox"
"""Name of the first container, unless the caller's manifest names it."""
MANAGED_BY: Final = {"app.kubernetes.io/managed-by": "llm-sandbox"}
"""Label of all that this library creates in a cluster."""
PROCESS_ALLOWANCE: Final = 24
"""Processes and threads that a pod may have beyond the limit of its code: process 1 with its
threads, relays, the zygote, file services, and short-lived ones."""

_MEMORY_ALLOWANCE: Final = 192 << 20
"""Bytes that a pod may use beyond the limit of its code: process 1, the zygote, file services."""
_REQUESTED: Final = 4
"""A pod requests this part of its memory, unless the caller says how much."""
_LEAST_CPU: Final = "100m"
_GPU: Final = "nvidia.com/gpu"
"""Resource that the device plugin of NVIDIA advertises for each processor of a node."""
_GONE_S: Final = 30
_FIRST_USER: Final = 1 << 20
_USERS: Final = 1 << 30
_ADDED: Final = ("KILL", "SETGID", "SETPCAP", "SETUID")
"""Capabilities of process 1 with the profile ``baseline``."""
_USER_NAMESPACES: Final = (1, 33)
_SIZED_MEMORY: Final = (1, 22)
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
"""Names of architectures in labels of nodes."""
_RUNTIME_VOLUME: Final = "llm-sandbox-runtime"
_TMP: Final = "/tmp"  # noqa: S108 - inside
_SHM: Final = "/dev/shm"  # noqa: S108


@dataclass(frozen=True)
class PodPlan:
    """Pod that is to be created, and the isolation that it gives."""

    manifest: Mapping[str, Any]
    """The manifest, without a name."""
    container: str
    """Name of the sandbox's container."""
    spec: MachineSpec
    """The machine, with the limits of the caller's manifest."""
    user: str | None
    """User of programs; None for that of process 1."""
    controls: Mapping[str, Control]
    """Isolation report, but for the network."""

    @property
    def image(self) -> str:
        """The image's name."""
        return str(self.manifest["spec"]["containers"][0]["image"])


def plan_pod(
    spec: MachineSpec,
    options: PodOptions,
    *,
    image: str,
    command: Sequence[str],
    runtime: Sequence[str],
    version: tuple[int, int],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> PodPlan:
    """Merge the specification of a machine with the options of the caller.

    Args:
        spec: The machine.
        options: The caller's options.
        image: The image, unless the caller's manifest names one.
        command: Command line of process 1.
        runtime: Command line of the interpreter that process 1 has.
        version: Version of the server.
        labels: Labels of the pod.
        annotations: Annotations of the pod.

    Raises:
        ValidationError: A quantity in the manifest is malformed.
    """
    given = to_mutable(options.pod_manifest)
    given_spec = given.get("spec", {})
    first = (given_spec.pop("containers", None) or [{}])[0]
    spec, allowance = _limited(spec, first)
    restricted = options.profile == "restricted"
    # A user of its own for each pod: the kernel counts processes by user, on the whole node.
    user = _FIRST_USER + int.from_bytes(os.urandom(4)) % _USERS if restricted else 0
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": options.pull_policy,
        "command": list(command),
        "workingDir": "/",
        "resources": _resources(spec, allowance),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": not spec.writable_root,
            "capabilities": {"drop": ["ALL"], **({} if restricted else {"add": list(_ADDED)})},
        },
        "volumeMounts": [
            {"name": "workdir", "mountPath": spec.workdir},
            {"name": "tmp", "mountPath": _TMP},
            {"name": "shm", "mountPath": _SHM},
            {"name": "layers", "mountPath": LAYERS_ROOT},
        ],
    }
    limits = spec.limits
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
        "hostname": "sandbox",
        "securityContext": {
            "seccompProfile": {"type": "RuntimeDefault"},
            "runAsUser": user,
            "runAsGroup": user,
            **({"runAsNonRoot": True} if restricted else {}),
        },
        "tolerations": [
            {"key": f"node.kubernetes.io/{state}", "operator": "Exists", "effect": "NoExecute"}
            | {"tolerationSeconds": _GONE_S}
            for state in ("not-ready", "unreachable")
        ],
        "volumes": [
            _memory("workdir", limits.workdir_bytes),
            _memory("tmp", limits.tmp_bytes),
            _memory("shm", limits.shm_bytes),
            {"name": "layers", "emptyDir": {"sizeLimit": "4Gi"}},
        ],
        "containers": [container],
    }
    if spec.network == "blocked":
        # No server of names: the address answers nothing.
        pod |= {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["127.0.0.1"]}}
    if version >= _USER_NAMESPACES:
        pod["hostUsers"] = False
    _apply_options(pod, options)
    if options.runtime_image is not None:
        _add_runtime(pod, options.runtime_image, runtime)
    _merge(container, first)
    sidecars = to_mutable(options.containers[1:])
    _merge(pod, given_spec)
    pod["containers"] = [container, *sidecars]
    metadata = given.get("metadata", {})
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "labels": {**metadata.get("labels", {}), **labels},
            "annotations": {
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
                **metadata.get("annotations", {}),
                **annotations,
                "llm-sandbox/version": VERSION,
            },
        },
        "spec": pod,
    }
    program_user = None if restricted else f"{USER_ID}:{USER_ID}"
    controls = _controls(spec, options, version, [one["name"] for one in sidecars])
    return PodPlan(manifest, container["name"], spec, program_user, controls)


def _limited(spec: MachineSpec, container: Mapping[str, Any]) -> tuple[MachineSpec, int]:
    """Return the machine with the limits of the caller's container, and the memory beyond them."""
    limits = (container.get("resources") or {}).get("limits") or {}
    changed = spec.limits
    if "memory" in limits:
        changed = changed.replace(memory_bytes=int(_parse_quantity(limits["memory"])))
    if "cpu" in limits:
        changed = changed.replace(cpus=float(_parse_quantity(limits["cpu"])))
    # What the caller gives is the limit of the whole container.
    allowance = 0 if "memory" in limits else _MEMORY_ALLOWANCE
    return replace(spec, limits=changed), allowance


def _resources(spec: MachineSpec, allowance: int) -> dict[str, Any]:
    limits = spec.limits
    memory = limits.memory_bytes + allowance
    requested = limits.memory_requested_bytes
    cpus = limits.cpus_requested or (None if limits.cpus is None else limits.cpus / 2)
    found: dict[str, Any] = {
        "limits": {"memory": str(memory)},
        "requests": {
            "memory": str(memory // _REQUESTED if requested is None else requested),
            "cpu": _LEAST_CPU if cpus is None else f"{round(cpus * 1000)}m",
        },
    }
    if limits.cpus is not None:
        found["limits"]["cpu"] = f"{round(limits.cpus * 1000)}m"
    if spec.writable_root:
        found["limits"]["ephemeral-storage"] = str(limits.workdir_bytes)
    if spec.gpu is not None:
        found["limits"][_GPU] = str(spec.gpu)
    return found


def _memory(name: str, size: int) -> dict[str, Any]:
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": str(size)}}


def _apply_options(pod: dict[str, Any], options: PodOptions) -> None:
    if options.runtime_class is not None:
        pod["runtimeClassName"] = options.runtime_class
    if options.priority_class is not None:
        pod["priorityClassName"] = options.priority_class
    architecture = _ARCHITECTURES.get(options.machine, options.machine)
    pod["nodeSelector"] = {"kubernetes.io/arch": architecture, **options.node_selector}
    pod["tolerations"] += to_mutable(tuple(options.tolerations))
    if options.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in options.image_pull_secrets]


def _add_runtime(pod: dict[str, Any], image: str, runtime: Sequence[str]) -> None:
    """Have an init container copy the supervisor into a volume that programs only read."""
    container = pod["containers"][0]
    target = "/copy"
    copy = "runtime"
    code = f"import shutil; shutil.copytree({GUEST_ROOT!r}, '{target}/{copy}')"
    pod["volumes"].append({"name": _RUNTIME_VOLUME, "emptyDir": {"sizeLimit": "256Mi"}})
    pod["initContainers"] = [
        {
            "name": "runtime",
            "image": image,
            "imagePullPolicy": container["imagePullPolicy"],
            "command": [*runtime, "-c", code],
            "workingDir": "/",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": _LEAST_CPU}},
            "volumeMounts": [{"name": _RUNTIME_VOLUME, "mountPath": target}],
        }
    ]
    container["volumeMounts"].append(
        {"name": _RUNTIME_VOLUME, "mountPath": GUEST_ROOT, "subPath": copy, "readOnly": True}
    )


def _merge(base: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Merge the caller's fields into ours: mappings by name, lists appended, others replaced."""
    for name, value in given.items():
        known = base.get(name)
        if isinstance(known, dict) and isinstance(value, Mapping):
            _merge(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            base[name] = [*known, *value]
        else:
            base[name] = value


def _controls(
    spec: MachineSpec, options: PodOptions, version: tuple[int, int], sidecars: Sequence[str]
) -> dict[str, Control]:
    risks = options.risks()
    files = "the image's files, " + ("a private copy" if spec.writable_root else "read-only")
    outside = {"hostPath", "privileged", "volumeDevices"} & {*risks}
    privileges = {"privileged", "capabilities", "allowPrivilegeEscalation", "runAsUser"} & {*risks}
    user = (
        "process 1 and programs are one user"
        if options.profile == "restricted"
        else (f"programs are user {USER_ID}, and process 1 is not")
    )
    by = f"the pod's runtime{f' {options.runtime_class!r}' if options.runtime_class else ''}"
    shared = "hostPID" in risks or "shareProcessNamespace" in risks
    beside = f"; beside it, as asked: {', '.join(sidecars)}" if sidecars else ""
    found = {
        "files": Control("approximated", f"{files}; besides, as asked: {', '.join(outside)}")
        if outside
        else Control("enforced", files + beside),
        "processes": Control("absent", "it shares processes outside")
        if shared
        else Control("enforced", f"a process namespace of {by}"),
        "privileges": Control("approximated", f"allowed: {', '.join(sorted(privileges))}")
        if privileges
        else Control("enforced", f"{user}, no capability, no new privileges"),
        "system_calls": Control("enforced", "seccomp, by the node and by process 1"),
        "process_count": Control("approximated", "RLIMIT_NPROC of a user that only this pod has")
        if options.profile == "restricted"
        else Control("absent", "the limit of the node for a pod, which is not known here"),
        "disk": Control("approximated", "sized file systems in memory, any number of files")
        if version >= _SIZED_MEMORY
        else Control("absent", "this old node checks sizes late, and then ends the whole pod"),
        "lifetime": Control(
            "enforced",
            f"process 1 ends {options.orphan_after:g} s after the last connection to it",
        ),
        "memory": Control("enforced", "memory control group of the pod"),
        "cpu": Control("absent", "no limit was asked for")
        if spec.limits.cpus is None
        else Control("enforced", "cpu control group of the pod"),
    }
    if spec.limits.cpus_requested is not None:
        found["cpu_request"] = Control("approximated", "a share, where others want some too")
    if spec.limits.memory_requested_bytes is not None:
        found["memory_request"] = Control("approximated", "what the scheduler reserves")
    if spec.gpu is not None:
        found["devices"] = Control("approximated", f"graphics processors, as asked: {spec.gpu}")
    return found


_QUANTITY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?([numkKMGTPE]i?)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def _parse_quantity(value: object) -> Decimal:
    """Return a quantity as a number: bytes, or CPUs.

    Raises:
        ValidationError: It is malformed.
    """
    found = _QUANTITY.fullmatch(str(value))
    unit = (found[3] or "") if found else ""
    if found is None or unit not in {**_DECIMAL, **_BINARY}:
        raise ValidationError(
            f"invalid quantity: expected a number such as '512Mi' or '250m', got {value!r}",
            parameter="pod_manifest",
        )
    number = Decimal(found[1] + (found[2] or ""))
    if unit in _BINARY:
        return number * (1 << _BINARY[unit])
    return number.scaleb(_DECIMAL[unit])
