"""Life and death of pods, and of their clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import ContainerGoneError
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.backends.kubernetes.pods import Pods

pytestmark = pytest.mark.cluster


def collect(backend: KubernetesBackend) -> list[str]:
    """Remove what nobody owns, and return the names of the removed pods."""
    inventory = backend.inventory
    decisions = inventory.collect(inventory.decide(inventory.resources()))
    return [one.resource.id for one in decisions if one.remove]


def test_a_pod_of_a_living_client_is_left_alone(backend: KubernetesBackend) -> None:
    """Another client's collection does not touch what runs."""
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend

    with Sandbox.create(backend=KubernetesBackend()) as sandbox:
        assert sandbox.id not in collect(backend)
        assert "in\n" == sandbox.sh("echo in").collect().stdout


def test_a_deleted_pod_is_gone(backend: KubernetesBackend, pods: Pods) -> None:
    """A sandbox whose pod somebody deletes says that it has ended."""
    with Sandbox.create(backend=backend) as sandbox:
        pods.delete(sandbox.id)

        assert eventually(lambda: sandbox.end_reason == "gone", 20)
        with pytest.raises(ContainerGoneError):
            sandbox.exec("true")


def test_the_cluster_has_no_deadline_that_nobody_can_put_off(
    backend: KubernetesBackend, pods: Pods
) -> None:
    """A pod whose timeout was moved lives on: the cluster allows only earlier deadlines."""
    with Sandbox.create(backend=backend, timeout=1) as sandbox:
        sandbox.set_timeout(3600)
        pod = pods.find(sandbox.id)

        assert pod is not None
        assert "activeDeadlineSeconds" not in pod["spec"]
        assert sandbox.sh("sleep 2").wait() == 0


def test_the_death_of_process_1_for_memory_is_told(backend: KubernetesBackend) -> None:
    """A pod that the kernel kills for memory has ended by that."""
    limits = {"memory": "64m", "tmp": "1g"}
    # Files in memory are no process's own: whatever the kernel kills, they stay.
    fill = "head -c 900000000 /dev/zero > /tmp/big; sleep 60"
    with Sandbox.create(backend=backend, limits=limits) as sandbox:
        sandbox.sh(fill)

        assert eventually(lambda: sandbox.end_reason is not None, 60)
        assert "oom" == sandbox.end_reason


def test_the_end_of_a_session_removes_its_pod(backend: KubernetesBackend, pods: Pods) -> None:
    """Nothing of a sandbox that was closed is in the cluster."""
    with Sandbox.create(backend=backend) as sandbox:
        name = sandbox.id
        assert pods.find(name) is not None

    assert eventually(lambda: pods.find(name) is None, 10)
