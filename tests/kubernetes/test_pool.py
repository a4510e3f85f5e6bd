"""Pools of pods that are ready before they are claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxPool
from llm_sandbox.pool import PoolConfig, create_pool_manager
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.backends.kubernetes.pods import Pods

pytestmark = pytest.mark.cluster

READY_S = 100
LABELS = {"metadata": {"labels": {"pool": "one"}}}


def of_pool(pods: Pods) -> list[str]:
    """Return the names of the pool's pods that are not being deleted."""
    found = [pod["metadata"] for pod in pods.list_ours()]
    ours = [one for one in found if one["labels"].get("pool") == "one"]
    return [one["name"] for one in ours if "deletionTimestamp" not in one]


def test_a_pod_is_ready_and_has_one_tenant(pods: Pods) -> None:
    """A claim gets a pod that runs, warmed up; its end deletes it, and the next tenant's is new."""
    pool = SandboxPool(
        size=1,
        max_sessions=2,
        backend="kubernetes",
        kube_namespace=pods.namespace,
        pod_manifest=LABELS,
        limits={"memory": "256m"},
        warm_up="warm = 42",
    )
    with pool:
        pool.wait_until_ready(READY_S)
        (name,) = of_pool(pods)
        with pool.claim() as session:
            assert name == session.sandbox.id
            assert "42\n" == session.run("mine = 1; print(warm)").stdout
        assert eventually(lambda: name not in of_pool(pods), 20)
        with pool.claim() as session:
            assert name != session.sandbox.id
            assert "42 False\n" == session.run("print(warm, 'mine' in globals())").stdout
        assert 1 == pool.metrics.hits
    assert eventually(lambda: not of_pool(pods), 20)


@pytest.mark.cluster(whole=True)
def test_the_manager_of_the_reference(backend: KubernetesBackend, pods: Pods) -> None:
    """`create_pool_manager` takes the backend by name, a namespace and a client."""
    manager = create_pool_manager(
        backend="kubernetes",
        config=PoolConfig(max_pool_size=1, min_pool_size=1),
        client=backend.engine_client(),
        kube_namespace=pods.namespace,
        pod_manifest=LABELS,
    )
    try:
        container = manager.acquire()
        assert of_pool(pods)
        manager.release(container)
    finally:
        manager.close()
    assert eventually(lambda: not of_pool(pods), 20)
