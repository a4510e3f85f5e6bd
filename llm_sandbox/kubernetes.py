"""Sessions in pods of a Kubernetes cluster, under their name for compatibility.

Within this package, ``import kubernetes`` still means the cluster's client: absolute imports never
find this module.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.docker import SandboxDockerSession, arguments

if TYPE_CHECKING:
    from kubernetes.client import CoreV1Api

    from llm_sandbox.security import SecurityPolicy

__all__ = ["SandboxKubernetesSession"]


class SandboxKubernetesSession(SandboxDockerSession):
    """Session in a pod of a cluster; see `SandboxDockerSession` for other arguments and errors.

    Args:
        client: The cluster's client; None for the cluster that ``kubectl`` would use.
        image: The image, with this library's runtime; None for the language's own.
        kube_namespace: Namespace of the pod.
        env_vars: Environment variables of everything in the sandbox.
        pod_manifest: Further fields of the pod, merged into ours; None for none.
    """

    engine_backend: ClassVar[SandboxBackend] = SandboxBackend.KUBERNETES

    def __init__(
        self,
        client: "CoreV1Api | None" = None,
        image: str | None = None,
        lang: str = SupportedLanguage.PYTHON,
        verbose: bool = False,
        kube_namespace: str = "default",
        env_vars: Mapping[str, str] | None = None,
        pod_manifest: Mapping[str, Any] | None = None,
        workdir: str = "/sandbox",
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        container_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._begin(arguments(locals()), kwargs)
