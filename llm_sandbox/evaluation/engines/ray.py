"""Engine of a Ray cluster: one actor on each node."""

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.counts import check_count, cpus_here
from llm_sandbox.evaluation.engines.worker_process import WorkerProcess
from llm_sandbox.exceptions import BackendUnavailableError, MissingDependencyError

__all__ = ["RayEngine"]

_END_S = 10.0
_UPDATE_S = 5.0
_BATCHES = 2
"""Batches of an actor that overlap, so that its last tests do not wait for one another."""


class RayEngine:
    """Engine of a Ray cluster: one actor on each node, for all of its CPUs.

    The library has to be installed on each node. A cluster that this process is connected to is
    used; otherwise the one at `address`; otherwise Ray starts one on this machine, which ends with
    the engine. Ray writes a token into the user's home the first time.

    Args:
        address: Address of a cluster, such as ``auto`` or ``ray://head:10001``.
        cpus: CPUs of each node to reserve, and so many tests at the same time; None for all of a
            node. A cluster in which others hold CPUs needs a number, or its actors wait for ever,
            and are left out.

    Raises:
        ValidationError: `cpus` is invalid.
    """

    def __init__(self, address: str | None = None, *, cpus: int | None = None) -> None:
        if cpus is not None:
            check_count("cpus", cpus)
        self._address = address
        self._cpus = cpus
        self._ray: Any = None
        self._is_ours = False
        self._setup: Any = None
        self._actors: dict[str, Any] = {}
        self._updated = 0.0

    def start(self, setup: bytes) -> None:
        """Start an actor on each node; see `Engine.start`.

        Raises:
            BackendUnavailableError: The cluster does not answer, or has no CPU.
            MissingDependencyError: Ray is not installed.
        """
        try:
            import ray
        except ModuleNotFoundError as error:
            raise MissingDependencyError("ray is not installed", extra="ray") from error
        self._ray = ray
        self._connect()
        # Once for all actors, and again for those that Ray starts anew.
        self._setup = ray.put(setup)
        self._update()
        if not self._actors:
            raise BackendUnavailableError("no node of the Ray cluster has a CPU", op="evaluate")

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        options: dict[str, Any] = {"log_to_driver": False}
        if self._address is None and "RAY_ADDRESS" not in os.environ:
            options |= {"include_dashboard": False, "num_cpus": self._cpus or cpus_here()}
        try:
            self._ray.init(address=self._address, **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise BackendUnavailableError(
                f"the Ray cluster does not answer: {error}"[:500], op="evaluate"
            ) from error
        self._is_ours = True

    def _actor(self, node: str, cpus: int) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        actor = self._ray.remote(_Actor).options(
            num_cpus=cpus,
            max_restarts=-1,
            # The driver repeats by what has failed; Ray would by no reason but that it did.
            max_task_retries=0,
            max_concurrency=_BATCHES,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        return actor.remote(self._setup, cpus)

    def _update(self) -> None:
        """Follow the nodes that come and go: an actor of a node that is gone is nowhere else."""
        self._updated = time.monotonic()
        nodes = {}
        for node in self._ray.nodes():
            cpus = int(node["Resources"].get("CPU", 0)) if node["Alive"] else 0
            if cpus > 0:
                name = f"{node['NodeManagerHostname']}-{node['NodeID'][:8]}"
                nodes[name] = node["NodeID"], min(cpus, self._cpus or cpus)
        for name in self._actors.keys() - nodes.keys():
            del self._actors[name]
        for name in nodes.keys() - self._actors.keys():
            self._actors[name] = self._actor(*nodes[name])

    def workers(self) -> Sequence[str]:
        """Return the names of the actors, made of those of their nodes."""
        if self._ray is not None and time.monotonic() > self._updated + _UPDATE_S:
            self._update()
        return list(self._actors)

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to an actor; see `Engine.submit`."""
        answer: Future[bytes] = Future()
        # Ray would set the result of a future that was cancelled.
        answer.set_running_or_notify_cancel()
        try:
            sent = self._actors[worker].answer.remote(batch).future()
        except Exception as error:  # noqa: BLE001 - a lost actor, as the answer to the batch
            answer.set_exception(WorkerLostError(f"worker {worker} is gone: {error}"[:500]))
        else:
            sent.add_done_callback(partial(_pass_on, answer))
        return answer

    def restart(self, worker: str) -> None:
        """Kill the process of an actor, which Ray starts again; see `Engine.restart`."""
        actor = self._actors.get(worker)
        if actor is not None:
            self._ray.kill(actor, no_restart=False)

    def close(self) -> None:
        """End the actors, and a cluster that was started or connected to for them."""
        actors, self._actors = self._actors, {}
        if self._ray is None:
            return
        if self._ray.is_initialized():
            ends = [actor.close.remote() for actor in actors.values()]
            if ends:
                self._ray.wait(ends, num_returns=len(ends), timeout=2 * _END_S)
            for actor in actors.values():
                with contextlib.suppress(Exception):
                    self._ray.kill(actor, no_restart=True)
            if self._is_ours:
                self._ray.shutdown()
        self._ray, self._setup, self._is_ours = None, None, False


def _pass_on(answer: Future[bytes], sent: "Future[bytes]") -> None:
    error = sent.exception()
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(sent.result())


class _Actor:
    """Actor of a node: a process of our own, that outlives it for as long as it takes to clean up.

    Ray kills the whole process group of an actor that ends, and would kill those processes with it
    which remove what a sandbox had.
    """

    def __init__(self, setup: bytes, cpus: int) -> None:
        self._setup = setup
        self._cpus = cpus
        self._lock = threading.Lock()
        self._process: WorkerProcess | None = None

    def answer(self, batch: bytes) -> bytes:
        """Return the answer to a batch; see `BatchWorker.answer`."""
        with self._lock:
            if self._process is None or not self._process.is_alive:
                self._process = WorkerProcess(self._setup, self._cpus)
            process = self._process
        return process.answer(batch)

    def close(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.end(_END_S)
