"""Fixtures of tests on a real cluster."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.api_proxy import ApiProxy
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.backends.kubernetes.pods import Pods


@pytest.fixture
def backend() -> KubernetesBackend:
    """Provide a backend of its own, in the namespace of the run."""
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend

    return KubernetesBackend()


@pytest.fixture
def pods(backend: KubernetesBackend) -> Pods:
    """Provide the pods of the namespace, as another client sees them."""
    return backend.pods


@contextlib.contextmanager
def a_namespace(pods: Pods, what: str, *, prepared: bool = False) -> Iterator[str]:
    """Make a namespace beside that of the run, for as long as the block.

    Args:
        pods: Pods of the run's namespace.
        what: End of its name.
        prepared: Whether it is made as an operator does, with an account that has the role.
    """
    name = f"{pods.namespace}-{what}"
    if prepared:
        cluster.make_namespace(name)
    else:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        yield name
    finally:
        cluster.connect().request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def proxy(pods: Pods) -> Iterator[ApiProxy]:
    """Provide a proxy in front of the API server."""
    made = ApiProxy(pods.cluster)
    yield made
    made.close()


@pytest.fixture
def through_proxy(proxy: ApiProxy, pods: Pods, tmp_path: Path) -> Iterator[KubernetesBackend]:
    """Provide a backend whose every byte goes through the proxy."""
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
    from llm_sandbox.backends.kubernetes.options import PodOptions

    kubeconfig = proxy.kubeconfig(tmp_path, pods.namespace)
    made = KubernetesBackend(PodOptions(kubeconfig=kubeconfig))
    yield made
    made.close()
