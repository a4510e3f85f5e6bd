"""The server in a pod, from the manifests of `examples/deploy/kubernetes.yaml`."""

from __future__ import annotations

import base64
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import yaml

from llm_sandbox.backends.recipes import image_name
from llm_sandbox.testing.suite import eventually
from tests.engines import LOAD
from tests.kubernetes.conftest import a_namespace
from tests.kubernetes.worker_image import NAME, load_server_image
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from llm_sandbox.backends.kubernetes.pods import Pods

pytestmark = [pytest.mark.cluster(whole=True), pytest.mark.engine("docker", image="python")]

ROOT = Path(__file__).resolve().parents[2]
READY_S = 120.0


def objects(namespace: str, keys: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of the manifests as they are, but for what this cluster lacks."""
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "llm-sandbox-keys", "namespace": namespace},
        "data": {"keys.json": base64.b64encode(keys).decode()},
    }
    text = (ROOT / "examples" / "deploy" / "kubernetes.yaml").read_text()
    text = text.replace("registry.example.org/llm-sandbox-server", NAME)
    text = text.replace("registry.example.org/llm-sandbox/python", image_name("python"))
    for one in yaml.safe_load_all(text):
        one["metadata"]["namespace"] = namespace
        if one["kind"] == "Deployment":
            pod = one["spec"]["template"]["spec"]
            for container in (*pod["initContainers"], *pod["containers"]):
                container["imagePullPolicy"] = "Never"
            server = pod["containers"][0]
            server["resources"]["requests"]["cpu"] = "100m"
            reach_api_server(pod, server)
        yield one


def reach_api_server(pod: dict[str, Any], server: dict[str, Any]) -> None:
    """Give the server the address of an API server that listens to its own computer only."""
    found = urlsplit(cluster.connect().address)
    if found.hostname != "127.0.0.1":
        return
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pod |= {"hostNetwork": True, "dnsPolicy": "Default"}
    server["args"].append(f"--port={port}")
    server["ports"] = [{"name": "http", "containerPort": port}]
    server["env"] = [
        {"name": "KUBERNETES_SERVICE_HOST", "value": found.hostname},
        {"name": "KUBERNETES_SERVICE_PORT", "value": str(found.port)},
    ]


def address(namespace: str) -> str | None:
    """Return the address behind the name of the Service, once the server is ready."""
    path = f"/api/v1/namespaces/{namespace}/endpoints"
    for one in cluster.connect().request("GET", path)["items"]:
        for subset in one.get("subsets") or ():
            for found in subset.get("addresses") or ():
                return f"http://{found['ip']}:{subset['ports'][0]['port']}"
    return None


def test_a_server_in_a_pod_makes_sandboxes_in_pods(
    pods: Pods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E2B's SDK runs code in a pod beside that of the server; a wrong key is the control."""
    from e2b.exceptions import AuthenticationException
    from e2b_code_interpreter import Sandbox

    if LOAD not in os.environ:
        pytest.skip(f"no program brings an image into the cluster: name one by {LOAD}")
    load_server_image(shlex.split(os.environ[LOAD]))
    file = tmp_path / "keys.json"
    command = [sys.executable, "-m", "llm_sandbox", "key", "create", "ci", "--keys", str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    with a_namespace(pods, "server", prepared=True) as namespace:
        for one in objects(namespace, file.read_bytes()):
            cluster.create(one)
        assert eventually(lambda: address(namespace) is not None, READY_S)
        url = address(namespace)
        assert url is not None
        for name in ("E2B_API_URL", "E2B_SANDBOX_URL"):
            monkeypatch.setenv(name, url)
        monkeypatch.setenv("E2B_API_KEY", "e2b_" + "0" * 40)
        with pytest.raises(AuthenticationException):
            Sandbox.create(timeout=300)
        monkeypatch.setenv("E2B_API_KEY", done.stdout.split()[-1])
        with Sandbox.create(timeout=300) as sandbox:
            assert "42" == sandbox.run_code("6 * 7").text
            listed = cluster.connect().request("GET", f"/api/v1/namespaces/{namespace}/pods")
            labels = [one["metadata"]["labels"] for one in listed["items"]]
            assert 1 == sum(one.get("app") == "llm-sandbox" for one in labels)
            assert 1 < len(labels)
