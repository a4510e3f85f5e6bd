"""Pods that cannot start: told at once, in the cluster's words."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ImageNotFoundError,
    ImagePullError,
    SandboxError,
)
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from llm_sandbox.backends.kubernetes.pods import Pods

pytestmark = pytest.mark.cluster

CASES = {
    "an invalid name": (
        KubernetesOptions(image="Not/A Name"),
        ImageNotFoundError,
        "invalid reference format",
    ),
    "an image that may not be pulled": (
        KubernetesOptions(image="llm-sandbox-test/absent:1", pod=PodOptions(pull_policy="Never")),
        ImageNotFoundError,
        "not present with pull policy of Never",
    ),
    "an image that cannot be pulled": (
        KubernetesOptions(image="registry.invalid/absent:1"),
        ImagePullError,
        "imagePullSecrets: none",
    ),
    "a command that is not in the image": (
        KubernetesOptions(image="llm-sandbox/pause:1"),
        SandboxError,
        "",
    ),
    "no node": (
        KubernetesOptions(pod=PodOptions(node_selector={"is": "absent"}, start_timeout=3)),
        BackendUnavailableError,
        "0/1 nodes are available",
    ),
    "a Secret that is not there": (
        KubernetesOptions(
            pod=PodOptions(
                pod_manifest={
                    "spec": {
                        "containers": [
                            {"envFrom": [{"secretRef": {"name": "absent"}}]},
                        ]
                    }
                }
            )
        ),
        BackendError,
        'secret "absent" not found',
    ),
    "a RuntimeClass that is not there": (
        KubernetesOptions(pod=PodOptions(runtime_class="absent")),
        BackendError,
        'RuntimeClass "absent" not found',
    ),
}


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][2]])
def test_the_reason_is_told(case: str, pods: Pods) -> None:
    """The error has the cluster's words, and what to type; no pod is left."""
    options, error, words = CASES[case]
    backend = KubernetesBackend(options)
    with pytest.raises(error) as told:
        Sandbox.create(backend=backend, network="open")

    assert words in f"{told.value.message} {told.value.hint}"
    assert "kubectl" in str(told.value.hint)
    owner = f"llm-sandbox/owner={backend.pods.owner}"
    path = f"/api/v1/namespaces/{pods.namespace}/pods"
    assert eventually(
        lambda: not pods.cluster.request("GET", path, query={"labelSelector": owner})["items"], 20
    )
    # What the hint says to type still shows something when the pod is gone.
    selector = re.search(r"--field-selector (\S+)", str(told.value.hint))
    if selector is not None:
        query = {"fieldSelector": selector[1].rstrip(";")}
        events = f"/api/v1/namespaces/{pods.namespace}/events"
        assert pods.cluster.request("GET", events, query=query)["items"]


def test_a_missing_namespace_is_told(pods: Pods) -> None:
    backend = KubernetesBackend(PodOptions(namespace="absent"))
    with pytest.raises(BackendError, match='namespaces "absent" not found') as told:
        Sandbox.create(backend=backend)

    assert "kubectl create namespace absent" in str(told.value.hint)


def test_an_exceeded_quota_is_told(pods: Pods) -> None:
    """A pod beyond the quota of its namespace is refused with the quota's numbers."""
    with _namespace(pods, "quota") as namespace:
        path = f"/api/v1/namespaces/{namespace}/resourcequotas"
        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
        pods.cluster.request("POST", path, {"apiVersion": "v1", "kind": "ResourceQuota", **quota})
        backend = KubernetesBackend(PodOptions(namespace=namespace))
        assert eventually(
            lambda: "hard" in pods.cluster.request("GET", f"{path}/few").get("status", {}), 20
        )

        with pytest.raises(BackendError, match="exceeded quota") as told:
            Sandbox.create(backend=backend, network="open")

    assert told.value.retryable


def test_missing_rights_are_listed_together(pods: Pods, tmp_path: Path) -> None:
    """A user without rights gets one error with all that is missing."""
    with _namespace(pods, "rights") as namespace:
        kubeconfig = _stranger(pods, namespace, tmp_path)
        backend = KubernetesBackend(PodOptions(namespace=namespace, kubeconfig=kubeconfig))

        with pytest.raises(BackendUnavailableError) as told:
            backend.check()

    for right in ("create pods", "delete pods", "create pods/exec", "create networkpolicies"):
        assert right in told.value.message


class _namespace:
    """A namespace of its own for as long as the block."""

    def __init__(self, pods: Pods, what: str) -> None:
        self._pods = pods
        self._name = f"{pods.namespace}-{what}"

    def __enter__(self) -> str:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._name}}
        self._pods.cluster.request("POST", "/api/v1/namespaces", body)
        return self._name

    def __exit__(self, *exc: object) -> None:
        self._pods.cluster.request("DELETE", f"/api/v1/namespaces/{self._name}")


def _stranger(pods: Pods, namespace: str, folder: Path) -> str:
    """Write the kubeconfig of a user without rights, and return its path."""
    cluster = pods.cluster
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "stranger"}}
    cluster.request("POST", path, account)
    request: dict[str, Any] = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    request["spec"] = {"audiences": [], "expirationSeconds": 600}
    token = cluster.request("POST", f"{path}/stranger/token", request)["status"]["token"]
    assert cluster.tls is not None
    authorities = b"".join(
        b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(one) + b"-----END CERTIFICATE-----\n"
        for one in cluster.tls.get_ca_certs(binary_form=True)
    )
    server = {
        "server": cluster.address,
        "certificate-authority-data": base64.b64encode(authorities).decode(),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": server}],
        "users": [{"name": "stranger", "user": {"token": token}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "stranger"}}],
        "current-context": "one",
    }
    written = folder / "stranger.json"
    written.write_text(json.dumps(config))
    return str(written)
