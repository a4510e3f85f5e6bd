"""Warm pools of agent-sandbox: their manifests, and sandboxes in their pods."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

import pytest
import yaml

from llm_sandbox import Sandbox, create_session
from llm_sandbox.backends.kubernetes import sandbox_claim
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedError, ValidationError
from llm_sandbox.testing.suite import eventually
from tests.kubernetes.agent_sandbox import KINDS, Controller, definitions
from tests.kubernetes.test_command import command
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.kubernetes.pods import Pods

IMAGE = "docker.io/llm-sandbox/python:0.1.0"


@pytest.fixture(scope="module")
def kinds() -> Iterator[None]:
    """Define the kinds of agent-sandbox in the cluster."""
    with definitions(cluster.connect()):
        yield


@pytest.fixture
def prepared(kinds: None, pods: Pods) -> Iterator[str]:
    """Provide a namespace with a pool of two pods, made as the command writes it."""
    name = f"{pods.namespace}-warm-{os.urandom(3).hex()}"
    words = ["--namespace", name, "--warm-pool", "python", "--warm-pods", "2"]
    written = command("manifests", *words)
    assert 0 == written.returncode, written.stderr
    for one in yaml.safe_load_all(written.stdout):
        if one["kind"] in KINDS:
            group, plural = KINDS[one["kind"]]
            path = f"/apis/{group}/v1beta1/namespaces/{name}/{plural}"
            cluster.connect().request("POST", path, one)
        else:
            cluster.create(one)
    yield name
    cluster.connect().request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def controller(prepared: str) -> Iterator[Controller]:
    """Provide the controller of that namespace."""
    made = Controller(cluster.connect(), prepared)
    yield made
    made.close()


@pytest.fixture
def pooled(prepared: str, tmp_path: Path) -> Iterator[KubernetesBackend]:
    """Provide a backend that takes pods of the pool, with the rights of the role."""
    kubeconfig = str(cluster.kubeconfig_of(prepared, tmp_path))
    options = PodOptions(kubeconfig=kubeconfig, warm_pool="python", start_timeout=60)
    made = KubernetesBackend(options)
    yield made
    made.close()


@pytest.mark.cluster
def test_a_session_in_a_pod_of_a_pool(
    pooled: KubernetesBackend, controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its claim is prolonged while it lives; at its end the claim and the pod are gone."""
    monkeypatch.setattr(sandbox_claim, "_RENEW_S", 0.5)
    with create_session(backend=pooled) as session:
        session.run("x = 41")
        assert "42\n" == session.run("print(x + 1)").stdout
        (claim,) = controller.objects("SandboxClaim")
        assert "env" not in claim["spec"]
        (sandbox,) = controller.objects("Sandbox")
        pod = sandbox["metadata"]["annotations"]["agents.x-k8s.io/pod-name"]
        assert session.sandbox.id == pod
        until = claim["spec"]["lifecycle"]["shutdownTime"]
        # Times are of whole seconds.
        assert eventually(
            lambda: (
                controller.objects("SandboxClaim")[0]["spec"]["lifecycle"]["shutdownTime"] > until
            ),
            10,
        )
    assert [] == controller.objects("SandboxClaim")
    assert eventually(lambda: pooled.pods.find(pod) is None, 20)


@pytest.mark.cluster
def test_pools_that_give_nothing(
    pooled: KubernetesBackend, controller: Controller, prepared: str
) -> None:
    """A pod that will never come is told at once, and one that is late, when its time is over."""
    given = pooled.options.pod
    other = KubernetesBackend(PodOptions(kubeconfig=given.kubeconfig, warm_pool="absent"))
    started = time.monotonic()
    with pytest.raises(
        BackendUnavailableError, match=r'WarmPoolNotFound: SandboxWarmPool "absent"'
    ):
        Sandbox.create(backend=other)
    assert time.monotonic() - started < 30

    controller.is_asleep = True
    options = PodOptions(kubeconfig=given.kubeconfig, warm_pool="python", start_timeout=1)
    hurried = KubernetesBackend(options)
    with pytest.raises(BackendUnavailableError, match="gave no pod in 1 s: no answer") as caught:
        Sandbox.create(backend=hurried)
    assert "is its controller running?" in str(caught.value.hint)
    assert [] == controller.objects("SandboxClaim")


@pytest.mark.cluster
def test_the_check_claims_a_pod(
    pooled: KubernetesBackend, controller: Controller, prepared: str
) -> None:
    words = ["check", "--namespace", prepared, "--warm-pool", "python"]
    done = command(*words, KUBECONFIG=str(pooled.options.pod.kubeconfig))
    assert 0 == done.returncode, done.stdout
    assert re.search(r"rights +yes", done.stdout)
    assert re.search(r"warm pool +yes +python gave a pod", done.stdout)


@pytest.mark.cluster
def test_a_cluster_without_agent_sandbox(pods: Pods) -> None:
    options = PodOptions(kubeconfig=None, warm_pool="python")
    with pytest.raises(BackendUnavailableError, match=r"sandboxclaims|no agent-sandbox"):
        Sandbox.create(backend=KubernetesBackend(options))


@pytest.mark.parametrize("name", ["", "Python", "-python", "a/b"])
def test_invalid_names(name: str) -> None:
    with pytest.raises(ValidationError, match="expected the name of a SandboxWarmPool"):
        PodOptions(warm_pool=name)


def test_pods_of_a_pool_are_taken_as_they_are() -> None:
    with pytest.raises(UnsupportedError, match="pods are those of the pool"):
        PodOptions(warm_pool="python", node_selector={"pool": "one"})
    for option in ({"image": IMAGE}, {"container_id": "pod"}):
        with pytest.raises(UnsupportedError, match="pods are those of the pool"):
            KubernetesOptions(pod=PodOptions(warm_pool="python"), **option)
