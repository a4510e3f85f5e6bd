"""Clients that are killed at any moment: nothing of theirs goes on, and others remove the rest."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.options import PodOptions
from llm_sandbox.testing.suite import eventually
from tests.kubernetes.conftest import a_namespace
from tests.plugins import cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SESSION = """
from llm_sandbox import create_session
while True:
    with create_session(backend, limits={"memory": "128m"}) as session:
        for number in range(20):
            session.run(f"open('file', 'w').write('x' * 100000); print({number})")
"""
POOL = """
import time
from llm_sandbox import SandboxPool
pool = SandboxPool(size=2, backend=backend, limits={"memory": "128m"})
while True:
    with pool.claim() as session:
        session.run("print(1)")
"""
BEGIN = """
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.options import PodOptions
backend = KubernetesBackend(PodOptions(orphan_after=20))
backend.ping()
print("begins", flush=True)
"""
CLIENTS = 5
LONGEST_S = 12.0
BATCHES = 10
GONE_S = 90.0


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesBackend]:
    """Provide a backend in a namespace that no other test's client opens, and so cleans up."""
    with a_namespace(KubernetesBackend().pods, "killed", prepared=True) as name:
        path = cluster.kubeconfig_of(name, tmp_path_factory.mktemp("killed"))
        yield KubernetesBackend(PodOptions(kubeconfig=str(path)))


def is_running(pod: dict[str, Any]) -> bool:
    return pod["status"]["phase"] in ("Pending", "Running")


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(number, marks=pytest.mark.cluster(whole=True) if number else ())
        for number in range(BATCHES)
    ],
)
def test_killed_clients_leave_no_running_pod(apart: KubernetesBackend, batch: int) -> None:
    """Clients that are killed at random moments leave no pod that runs 90 s later.

    What they leave is removed by another client.
    """
    seed = random.randrange(1 << 32)
    chosen = random.Random(f"{seed} {batch}")
    moments = sorted(chosen.uniform(0, LONGEST_S) for _ in range(CLIENTS))
    programs = [SESSION] * (CLIENTS - 1) + [POOL]
    chosen.shuffle(programs)
    variables = {**os.environ, "KUBECONFIG": str(apart.options.pod.kubeconfig)}
    with contextlib.ExitStack() as all_of_them:
        clients = []
        for program in programs:
            client = subprocess.Popen(
                [sys.executable, "-c", BEGIN + program], stdout=subprocess.PIPE, env=variables
            )
            all_of_them.enter_context(client)
            all_of_them.callback(client.kill)
            clients.append(client)
        for client in clients:
            assert client.stdout is not None
            assert b"begins\n" == client.stdout.readline()
        begun = time.monotonic()
        for client, moment in zip(clients, moments, strict=True):
            time.sleep(max(0.0, begun + moment - time.monotonic()))
            assert client.poll() is None, f"it ended by itself; seed {seed}"
            client.kill()
    pods = apart.pods
    left = pods.list_ours()
    assert left, f"no pod was made; seed {seed}"  # the control: there was something to end
    assert eventually(lambda: not any(map(is_running, pods.list_ours())), GONE_S), f"seed {seed}"

    inventory = KubernetesBackend(apart.options).inventory
    inventory.collect(inventory.decide(inventory.resources()))
    assert eventually(lambda: not pods.list_ours(), 20)
