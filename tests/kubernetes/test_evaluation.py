"""Evaluation by workers in pods, from the manifests of `examples/deploy/evaluation.yaml`."""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from llm_sandbox.evaluation import EvalLimits, Sample, StdioTest, evaluate
from llm_sandbox.evaluation.engines import HttpEngine
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
CODES = {
    "AC": "print(2 * int(input()))",
    "WA": "print(int(input()))",
    "RTE": "1 / 0",
    "TLE": "while True: pass",
    "MLE": "x = bytearray(1 << 31)",
}
READY_S = 90.0


@pytest.fixture(scope="module")
def server_image() -> None:
    """Bring the image of the workers into the cluster."""
    if LOAD not in os.environ:
        pytest.skip(f"no program brings an image into the cluster: name one by {LOAD}")
    load_server_image(shlex.split(os.environ[LOAD]))


@pytest.fixture
def token(tmp_path: Path) -> tuple[str, bytes]:
    """Provide a key, and the file that the server reads it from."""
    file = tmp_path / "keys.json"
    command = [sys.executable, "-m", "llm_sandbox", "key", "create", "trainer", "--keys", str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.split()[-1], file.read_bytes()


def objects(namespace: str, keys: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of the manifests as they are, but for what this cluster lacks."""
    yield {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "llm-sandbox-keys", "namespace": namespace},
        "data": {"keys.json": base64.b64encode(keys).decode()},
    }
    text = (ROOT / "examples" / "deploy" / "evaluation.yaml").read_text()
    for one in yaml.safe_load_all(text.replace("registry.example.org/llm-sandbox-server", NAME)):
        one["metadata"]["namespace"] = namespace
        if one["kind"] == "Deployment":
            pod = one["spec"]["template"]["spec"]
            for container in (*pod["initContainers"], *pod["containers"]):
                container["imagePullPolicy"] = "Never"
            # Both workers are on the one node, which has two CPUs for all.
            pod["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
        yield one


def addresses(namespace: str) -> list[str]:
    """Return the addresses behind the name of the Service, as the cluster's DNS has them."""
    path = f"/api/v1/namespaces/{namespace}/endpoints/workers"
    found = cluster.connect().request("GET", path).get("subsets") or []
    return [
        f"http://{address['ip']}:{port['port']}"
        for subset in found
        for address in subset.get("addresses") or ()
        for port in subset["ports"]
    ]


def test_two_worker_pods_grade(pods: Pods, server_image: None, token: tuple[str, bytes]) -> None:
    """Verdicts are those of this computer; a worker that is deleted costs none of them."""
    key, keys = token
    with a_namespace(pods, "evaluation") as namespace:
        for one in objects(namespace, keys):
            cluster.create(one)
        assert eventually(lambda: len(addresses(namespace)) == 2, READY_S)
        names = list(CODES)
        samples = [
            Sample(str(n), CODES[names[n % 5]], tests=[StdioTest(str(n), str(2 * n))])
            for n in range(1, 101)
        ]
        graded = 0

        def delete_one(*_: object) -> None:
            nonlocal graded
            graded += 1
            if graded == 10:
                victim = next(iter(worker_pods(namespace)))
                cluster.connect().request("DELETE", f"/api/v1/namespaces/{namespace}/pods/{victim}")

        report = evaluate(
            samples,
            limits=EvalLimits(cpu_time=1.0, memory="256m"),
            engine=HttpEngine(addresses(namespace), token=key),
            on_progress=delete_one,
        )

        assert 100 == len(report)
        assert {str(one.id): str(one.verdict) for one in report} == {
            str(n): names[n % 5] for n in range(1, 101)
        }


def worker_pods(namespace: str) -> list[str]:
    """Return the names of the workers' pods."""
    path = f"/api/v1/namespaces/{namespace}/pods?labelSelector=app%3Dworkers"
    return [one["metadata"]["name"] for one in cluster.connect().request("GET", path)["items"]]
