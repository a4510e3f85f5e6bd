"""Two users with a namespace each: neither sees or reaches what the other has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend, KubernetesOptions
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.exceptions import BackendError, BackendUnavailableError
from tests.kubernetes.conftest import a_namespace
from tests.kubernetes.test_security import LISTEN, REACH
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.network import Network

pytestmark = [pytest.mark.cluster, pytest.mark.redteam]

SMALL = {"memory": "128m"}
Tenants = tuple[KubernetesBackend, KubernetesBackend]


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    """Provide a backend for each of two users, each with the role in a namespace of its own."""
    pods = KubernetesBackend().pods
    folder: Path = tmp_path_factory.mktemp("tenants")
    with (
        a_namespace(pods, "one", prepared=True) as one,
        a_namespace(pods, "two", prepared=True) as two,
    ):
        paths = [str(cluster.kubeconfig_of(name, folder)) for name in (one, two)]
        ours, theirs = (KubernetesBackend(PodOptions(kubeconfig=path)) for path in paths)
        yield ours, theirs
        ours.close()
        theirs.close()


def test_a_user_has_no_right_to_the_pods_of_another(tenants: Tenants) -> None:
    """Each request of a user is refused in the other's namespace, and answered in its own."""
    ours, theirs = tenants
    with (
        Sandbox.create(backend=ours, network="open", limits=SMALL) as one,
        Sandbox.create(backend=theirs, network="open", limits=SMALL) as two,
    ):
        home, away = ours.pods.namespace, theirs.pods.namespace
        request = ours.pods.cluster.request
        for method, path in (
            ("GET", "/pods"),
            ("GET", f"/pods/{two.id}"),
            ("GET", f"/pods/{two.id}/log"),
            ("DELETE", f"/pods/{two.id}"),
            ("POST", f"/pods/{two.id}/exec?command=id&stdout=true"),
            ("GET", f"/pods/{two.id}/exec?command=id&stdout=true"),
            ("POST", "/pods"),
            ("GET", "/events"),
        ):
            with pytest.raises(BackendError, match="forbidden"):
                request(method, f"/api/v1/namespaces/{away}{path}")
        # Controls: it has these rights where it is at home, and finds itself alone there.
        assert [one.id] == [found.name for found in ours.inventory.resources()]
        assert (
            one.id == request("GET", f"/api/v1/namespaces/{home}/pods/{one.id}")["metadata"]["name"]
        )

        kubeconfig = ours.options.pod.kubeconfig
        there = PodOptions(kubeconfig=kubeconfig, namespace=away)
        with pytest.raises(BackendUnavailableError, match="rights are missing"):
            Sandbox.create(backend=KubernetesBackend(there), network="open")
        entering = KubernetesOptions(container_id=two.id, pod=there)
        with pytest.raises(BackendUnavailableError, match="rights are missing"):
            Sandbox.create(backend=KubernetesBackend(entering))
        assert "in\n" == two.sh("echo in").collect().stdout


@pytest.mark.cluster(whole=True)
def test_a_pod_does_not_reach_that_of_another(tenants: Tenants) -> None:
    """A closed pod reaches no pod of another user and is reached by none; open ones are."""
    ours, theirs = tenants

    def make(backend: KubernetesBackend, network: Network) -> Sandbox:
        return Sandbox.create(backend=backend, network=network, limits=SMALL)

    with (
        make(ours, "open") as our_open,
        make(ours, "blocked") as our_closed,
        make(theirs, "open") as their_open,
        make(theirs, "blocked") as their_closed,
    ):
        addresses = {}
        for sandbox in (their_open, their_closed):
            listening = sandbox.exec("python3", "-c", LISTEN)
            assert "up" == next(listening.stdout.lines())
            pod = theirs.pods.find(sandbox.id)
            assert pod is not None
            addresses[sandbox.id] = pod["status"]["podIP"]

        def reach(source: Sandbox, target: Sandbox) -> str:
            return source.check("python3", "-c", REACH, addresses[target.id]).stdout

        assert "b'in'\n" == reach(our_open, their_open)  # the control
        assert "cut off\n" == reach(our_open, their_closed)
        assert "cut off\n" == reach(our_closed, their_open)
        assert "cut off\n" == reach(our_closed, their_closed)
