"""Cluster for tests with the marker `cluster`: one namespace for the run, empty at its end.

LLM_SANDBOX_TEST_KUBECONFIG names the cluster; without it these tests are skipped. The cluster has
the image of Python sessions with this library's runtime: `tests/cluster_image.py` brings it there.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.cluster import Cluster

ALL = "LLM_SANDBOX_TEST_KUBERNETES"
"""With the value ``all``, tests of the suites run that take a pod each: `make kubernetes`."""
OWN = frozenset(
    {
        "test_an_oom_kill_is_told_from_a_kill",
        "test_destroying_ends_programs",
        "test_the_timeout_ends_it",
        "test_variables_arrive",
    }
)
"""Of those, the ones that run in any case."""
POD = pytest.param("kubernetes", marks=pytest.mark.cluster(whole=True))
"""The backend as a parameter of tests that run on others as well: a pod for each takes minutes."""
KUBECONFIG = "LLM_SANDBOX_TEST_KUBECONFIG"
PREFIX = "llm-sandbox-test-"
GONE_S = 60.0
_key = pytest.StashKey[list[str]]()
_entered: list[Path] = []
"""Folder of the kubeconfig of this process, once it has entered the namespace."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    mark = item.get_closest_marker("cluster")
    if mark is None:
        return
    if not os.environ.get(KUBECONFIG):
        pytest.skip(f"no cluster: name one by {KUBECONFIG}")
    if mark.kwargs.get("whole") and os.environ.get(ALL) != "all":
        pytest.skip("it takes long: `make kubernetes` runs it")
    if hasattr(item, "fixturenames") and getattr(item.cls, "backend_name", None) == "kubernetes":
        is_shared = "shared" in item.fixturenames or item.originalname in OWN
        if not is_shared and os.environ.get(ALL) != "all":
            pytest.skip("it takes a pod of its own: `make kubernetes` runs it")
    enter_namespace(_run_id(item.config))


def _run_id(config: pytest.Config) -> str:
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return str(worker["testrunuid"])[:12]
    dsession = config.pluginmanager.getplugin("dsession")
    return f"pid-{os.getpid()}" if dsession is None else str(dsession.nodemanager.testrunuid)[:12]


@cache
def connect() -> Cluster:
    """Return the cluster, with the rights of its kubeconfig."""
    from llm_sandbox.backends.kubernetes.cluster import Cluster

    return Cluster(kubeconfig=os.environ[KUBECONFIG])


@cache
def enter_namespace(run: str) -> None:
    """Make the run's namespace the one of this process, and of those that it starts.

    Their user has the role of `llm-sandbox kubernetes manifests`, and no other right.
    """
    name = PREFIX + run
    make_namespace(name)
    folder = Path(tempfile.mkdtemp(prefix="pytest-cluster-"))
    _entered.append(folder)
    os.environ["KUBECONFIG"] = str(kubeconfig_of(name, folder))


def make_namespace(name: str) -> None:
    """Create a namespace as an operator does; return when its user has the rights of the role."""
    from llm_sandbox.backends.kubernetes.namespace_objects import namespace_objects

    for one in namespace_objects(name, pods=100, cpus=64, memory_bytes=1 << 40):
        create(one)


def create(body: dict[str, Any]) -> None:
    """Create an object, unless another process of the run was first."""
    from llm_sandbox.backends.kubernetes.cluster import ApiError

    group, _, version = body["apiVersion"].rpartition("/")
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    if "namespace" in body["metadata"]:
        path += f"/namespaces/{body['metadata']['namespace']}"
    kind = body["kind"].lower()
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind.removesuffix('s')}s"
    try:
        connect().request("POST", f"{path}/{plural}", body)
    except ApiError as error:
        if error.status != 409:
            raise


def kubeconfig_of(namespace: str, folder: Path, account: str = "llm-sandbox") -> Path:
    """Write the kubeconfig of a service account, and return its path."""
    cluster = connect()
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    request: dict[str, Any] = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    request["spec"] = {"audiences": [], "expirationSeconds": 4 * 3600}
    token = cluster.request("POST", path, request)["status"]["token"]
    assert cluster.tls is not None
    authorities = b"".join(
        b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(one) + b"-----END CERTIFICATE-----\n"
        for one in cluster.tls.get_ca_certs(binary_form=True)
    )
    server = {
        "server": cluster.address,
        "certificate-authority-data": base64.b64encode(authorities).decode(),
    }
    context = {"cluster": "one", "user": account, "namespace": namespace}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one", "cluster": server}],
        "users": [{"name": account, "user": {"token": token}}],
        "contexts": [{"name": "one", "context": context}],
        "current-context": "one",
    }
    written = folder / f"{namespace}-{account}.json"
    written.write_text(json.dumps(config))
    return written


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    for folder in _entered:
        shutil.rmtree(folder, ignore_errors=True)
    if session.config.pluginmanager.hasplugin("dsession"):
        if not os.environ.get(KUBECONFIG) or session.config.option.collectonly:
            return
    elif not _entered:
        return  # a run below another one, for example, which is still in its namespace
    else:
        _close_backends()
    if hasattr(session.config, "workerinput"):
        return
    left = leave_namespace(PREFIX + _run_id(session.config))
    session.config.stash[_key] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _close_backends() -> None:
    import gc

    from llm_sandbox.backends.base import Backend
    from llm_sandbox.session.prefork import shared_pool

    shared_pool().clear()
    for backend in [found for found in gc.get_objects() if isinstance(found, Backend)]:
        backend.close()


def leave_namespace(name: str) -> list[str]:
    """Delete a namespace, and return the names of the pods and leases that were left in it."""
    from llm_sandbox.backends.kubernetes.cluster import ApiError

    cluster = connect()
    path = f"/api/v1/namespaces/{name}"
    try:
        cluster.request("GET", path)
    except ApiError as error:
        if error.status != 404:
            raise
        return []
    deadline = time.monotonic() + GONE_S
    places = [f"{path}/pods", f"/apis/coordination.k8s.io/v1/namespaces/{name}/leases"]
    # What is being deleted goes within seconds.
    while (left := [one for place in places for one in _items(place)]) and all(
        one["metadata"].get("deletionTimestamp") for one in left
    ):
        if time.monotonic() > deadline:
            break
        time.sleep(0.3)
    cluster.request("DELETE", path)
    while time.monotonic() < deadline:
        try:
            cluster.request("GET", path)
        except ApiError:
            break
        time.sleep(0.3)
    return sorted(one["metadata"]["name"] for one in left)


def _items(path: str) -> list[dict[str, Any]]:
    return list(connect().request("GET", path)["items"])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left = config.stash.get(_key, [])
    if left:
        terminalreporter.section("left in the cluster", red=True)
        for name in left:
            terminalreporter.write_line(name)
