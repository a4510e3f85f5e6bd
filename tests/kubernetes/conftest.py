"""Fixtures of tests on a real cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.api_proxy import ApiProxy

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
