"""Objects that an operator creates before others use a namespace: quota, policy, account, role."""

import re
from typing import Any, Final

from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.backends.kubernetes.network_policy import NETWORK, policy_manifest
from llm_sandbox.backends.kubernetes.options import Profile
from llm_sandbox.backends.kubernetes.rights import CLAIMING, MESSAGES, NEEDED, role_rules
from llm_sandbox.backends.kubernetes.warm_pool import WarmPool, warm_pool_objects
from llm_sandbox.exceptions import ValidationError

__all__ = ["ACCOUNT", "namespace_objects"]

ACCOUNT: Final = "llm-sandbox"
"""Name of the service account, the role and its binding."""
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_EVERY: Final = "*/10 * * * *"
_QUOTA: Final = "llm-sandbox"
_COLLECTOR: Final = "llm-sandbox-gc"
_RBAC: Final = "rbac.authorization.k8s.io"
_USER: Final = 65532


def namespace_objects(
    namespace: str,
    *,
    pods: int,
    cpus: float,
    memory_bytes: int,
    profile: Profile = "restricted",
    gc_image: str | None = None,
    warm_pool: WarmPool | None = None,
) -> list[dict[str, Any]]:
    """Return the objects, in the order in which they have to be created.

    Args:
        namespace: The namespace.
        pods: Pods that it may have at once.
        cpus: CPUs that they may request together.
        memory_bytes: Memory that they may use together.
        profile: Pod Security profile that the namespace enforces.
        gc_image: Image with this library and its extra ``kubernetes``, of a CronJob that removes
            what nobody owns; None for none, as each client does that as well.
        warm_pool: Warm pool of agent-sandbox; None for none.

    Raises:
        ValidationError: A value is malformed.
    """
    if not _LABEL.fullmatch(namespace):
        raise ValidationError(
            f"invalid namespace: expected small letters, digits and -, got {namespace!r}",
            parameter="namespace",
        )
    for name, value in (("pods", pods), ("cpus", cpus), ("memory", memory_bytes)):
        if value <= 0:
            raise ValidationError(
                f"invalid {name}: expected more than 0, got {value}", parameter=name
            )
    rights = (*NEEDED, *MESSAGES, *(() if warm_pool is None else CLAIMING))
    inside = {"namespace": namespace, "labels": dict(MANAGED_BY)}
    policy = policy_manifest(
        # Whatever runs here has no network, unless it says that it needs one.
        {"matchExpressions": [{"key": NETWORK, "operator": "NotIn", "values": ["open"]}]}
    )
    policy["metadata"]["namespace"] = namespace
    found: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": namespace,
                "labels": {
                    **MANAGED_BY,
                    "pod-security.kubernetes.io/enforce": profile,
                    "pod-security.kubernetes.io/warn": profile,
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": _QUOTA, **inside},
            "spec": {
                "hard": {
                    "pods": str(pods),
                    "requests.cpu": f"{round(cpus * 1000)}m",
                    "limits.memory": str(memory_bytes),
                }
            },
        },
        policy,
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, **inside},
            "automountServiceAccountToken": False,
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "Role",
            "metadata": {"name": ACCOUNT, **inside},
            "rules": role_rules(rights),
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": ACCOUNT, **inside},
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": ACCOUNT},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
        },
    ]
    if gc_image is not None:
        found.append(_collector(namespace, gc_image))
    return found if warm_pool is None else [*found, *warm_pool_objects(namespace, warm_pool)]


def _collector(namespace: str, image: str) -> dict[str, Any]:
    container = {
        "name": "gc",
        "image": image,
        "command": ["llm-sandbox", "kubernetes", "gc", "--namespace", namespace],
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - inside
        "resources": {
            "requests": {"cpu": "100m", "memory": "64Mi"},
            "limits": {"memory": "256Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": _COLLECTOR, "namespace": namespace, "labels": dict(MANAGED_BY)},
        "spec": {
            "schedule": _EVERY,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {
                "spec": {
                    "backoffLimit": 0,
                    "activeDeadlineSeconds": 300,
                    "ttlSecondsAfterFinished": 600,
                    "template": {
                        # It speaks to the API server. It is no sandbox, so not labelled as one.
                        "metadata": {"labels": {NETWORK: "open"}},
                        "spec": pod,
                    },
                }
            },
        },
    }
