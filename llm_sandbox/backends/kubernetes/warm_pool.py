"""Warm pool of agent-sandbox, and the template of its pods."""

from dataclasses import dataclass
from typing import Any, Final

from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.backends.kubernetes.sandbox_claim import CLAIMS, VERSION
from llm_sandbox.exceptions import ValidationError

__all__ = ["WarmPool", "warm_pool_objects"]

_USER: Final = 1000
_IDLE: Final = "trap exit TERM; sleep infinity & wait"
"""Program of a pod that waits for a sandbox."""


@dataclass(frozen=True)
class WarmPool:
    """Warm pool of pods that wait for a sandbox.

    Raises:
        ValidationError: The name or the number is invalid.
    """

    name: str
    """Its name, and that of the template."""
    image: str
    """Image of the pods."""
    pods: int = 4
    """Pods that wait."""

    def __post_init__(self) -> None:
        PodOptions(warm_pool=self.name)
        if self.pods <= 0:
            raise ValidationError(
                f"invalid warm_pods: expected more than 0, got {self.pods}", parameter="warm_pods"
            )


def warm_pool_objects(namespace: str, pool: WarmPool) -> list[dict[str, Any]]:
    """Return the template and the pool.

    Args:
        namespace: Their namespace, whose network policy cuts the pods off.
        pool: The pool.
    """
    metadata = {"name": pool.name, "namespace": namespace, "labels": dict(MANAGED_BY)}
    container = {
        "name": "sandbox",
        "image": pool.image,
        "command": ["sh", "-c", _IDLE],
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - inside
        "resources": {
            "requests": {"cpu": "250m", "memory": "256Mi"},
            "limits": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - inside
            {"name": "workdir", "mountPath": "/sandbox"},
        ],
    }
    pod = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "workdir", "emptyDir": {}}],
    }
    return [
        {
            "apiVersion": f"{CLAIMS}/{VERSION}",
            "kind": "SandboxTemplate",
            "metadata": metadata,
            # The namespace has a policy of its own.
            "spec": {"podTemplate": {"spec": pod}, "networkPolicyManagement": "Unmanaged"},
        },
        {
            "apiVersion": f"{CLAIMS}/{VERSION}",
            "kind": "SandboxWarmPool",
            "metadata": metadata,
            "spec": {"replicas": pool.pods, "sandboxTemplateRef": {"name": pool.name}},
        },
    ]
