"""Evaluation on a Ray cluster of several nodes, which come and go."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import llm_sandbox
from llm_sandbox.evaluation import EvalLimits, Sample, StdioTest
from llm_sandbox.evaluation.engines import DistributedEvaluator, RayEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW = "import time; time.sleep(0.3); print(42)"
OPTIONS: dict[str, Any] = {
    "limits": EvalLimits(cpu_time=2, wall_time=8, memory="128m"),
    "backend": "bubblewrap",
}


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, all_cases: bool) -> Iterator[Any]:
    """A cluster of two nodes, each of processes on this machine, to which this one is connected."""
    if not all_cases:
        pytest.skip("it takes a minute: `make test-all` runs it")
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(llm_sandbox.__file__).parents[1]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
    finally:
        with contextlib.suppress(Exception):
            ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_nodes_come_and_go(nodes: Any) -> None:
    """Each node has a worker; the samples of one that is gone go elsewhere, and a new one helps."""
    samples = [Sample(str(n), SLOW, tests=[StdioTest("", "42")]) for n in range(80)]
    found = []
    with DistributedEvaluator(RayEngine(), **OPTIONS) as evaluator:
        for result in evaluator.map(samples):
            found.append(result)
            if len(found) == 10:
                (second,) = nodes.worker_nodes
                nodes.remove_node(second, allow_graceful=False)
            elif len(found) == 20:
                nodes.add_node(num_cpus=1)
    assert {one.id for one in samples} == {one.id for one in found}
    assert len(samples) == len(found)
    assert all(one.passed for one in found)
    # A worker is a process of a node.
    assert 3 == len({one.worker for one in found})
