"""Pods that cannot start: told at once, in the cluster's words."""

from __future__ import annotations

import contextlib
import os
import re
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ImageNotFoundError,
    ImagePullError,
    SandboxError,
    UnsupportedError,
)
from llm_sandbox.testing.suite import eventually
from tests.kubernetes.conftest import a_namespace
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def test_a_missing_namespace_is_told() -> None:
    options = PodOptions(namespace="absent", kubeconfig=os.environ[cluster.KUBECONFIG])
    with pytest.raises(BackendError, match='namespaces "absent" not found') as told:
        Sandbox.create(backend=KubernetesBackend(options))

    assert "kubectl create namespace absent" in str(told.value.hint)


def test_an_exceeded_quota_is_told(pods: Pods) -> None:
    """A pod beyond the quota of its namespace is refused with the quota's numbers."""
    admin = cluster.connect()
    with a_namespace(pods, "quota") as namespace:
        quota = {"metadata": {"name": "few", "namespace": namespace}}
        quota |= {"spec": {"hard": {"pods": "0"}}}
        cluster.create({"apiVersion": "v1", "kind": "ResourceQuota", **quota})
        path = f"/api/v1/namespaces/{namespace}/resourcequotas/few"
        assert eventually(lambda: "hard" in admin.request("GET", path).get("status", {}), 20)

        options = PodOptions(namespace=namespace, kubeconfig=os.environ[cluster.KUBECONFIG])
        with pytest.raises(BackendError, match="exceeded quota") as told:
            Sandbox.create(backend=KubernetesBackend(options), network="open")

    assert told.value.retryable


def test_missing_rights_are_listed_together(pods: Pods, tmp_path: Path) -> None:
    """A user who lacks rights, some or all, gets one error with all that are missing."""
    with a_namespace(pods, "rights") as namespace:
        account = {"metadata": {"name": "stranger", "namespace": namespace}}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", **account})
        kubeconfig = str(cluster.kubeconfig_of(namespace, tmp_path, "stranger"))
        options = PodOptions(namespace=namespace, kubeconfig=kubeconfig)

        with pytest.raises(BackendUnavailableError) as told:
            create_session(KubernetesBackend(options), network="open").open()

        for right in ("create", "delete", "get", "list"):
            assert f"{right} pods" in told.value.message
        assert "create pods/exec" in told.value.message
        assert "create networkpolicies" in told.value.message
        assert f"kubernetes manifests --namespace {namespace}" in str(told.value.hint)

        # Whoever may create pods, and not reach them, leaves none that runs for long.
        _allow(namespace, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get"]}])
        with pytest.raises(BackendUnavailableError) as told:
            create_session(KubernetesBackend(options), network="open").open()

        assert "create pods," not in told.value.message
        assert "delete pods" in told.value.message
        assert "create pods/exec" in told.value.message


def _allow(namespace: str, rules: list[dict[str, Any]]) -> None:
    """Give the stranger of a namespace rights."""
    group = "rbac.authorization.k8s.io"
    head = {"apiVersion": f"{group}/v1", "metadata": {"name": "some", "namespace": namespace}}
    cluster.create({**head, "kind": "Role", "rules": rules})
    subject = {"kind": "ServiceAccount", "name": "stranger", "namespace": namespace}
    role = {"apiGroup": group, "kind": "Role", "name": "some"}
    cluster.create({**head, "kind": "RoleBinding", "roleRef": role, "subjects": [subject]})


@contextlib.contextmanager
def _a_graphics_processor() -> Iterator[None]:
    """Have the node advertise one, as a device plugin does."""
    operator = cluster.connect()
    node = operator.request("GET", "/api/v1/nodes")["items"][0]
    path = f"/api/v1/nodes/{node['metadata']['name']}/status"

    def advertise(amount: str | None) -> None:
        found = {"nvidia.com/gpu": amount}
        status = {"capacity": found, "allocatable": found}
        operator.request("PATCH", path, {"status": status})

    advertise("1")
    try:
        yield
    finally:
        advertise(None)


def test_graphics_processors_are_asked_of_the_cluster() -> None:
    """A pod gets as many as it asks for, and none where there are none left."""
    backend = KubernetesBackend(KubernetesOptions(pod=PodOptions(start_timeout=3)))
    with pytest.raises(UnsupportedError, match="by their number"):
        Sandbox.create(backend=backend, gpu="all")
    with pytest.raises(BackendUnavailableError, match=r"Insufficient nvidia\.com/gpu"):
        Sandbox.create(backend=backend, gpu=1, network="open")

    with (
        _a_graphics_processor(),
        Sandbox.create(backend=KubernetesBackend(), gpu=1, network="open") as sandbox,
    ):
        assert "in\n" == sandbox.check("echo", "in").stdout
        assert "approximated" == sandbox.isolation.state("devices")
        with pytest.raises(BackendUnavailableError, match=r"Insufficient nvidia\.com/gpu"):
            Sandbox.create(backend=backend, gpu=1, network="open")
