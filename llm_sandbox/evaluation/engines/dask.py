"""Engine of a Dask cluster: one actor in each worker."""

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from llm_sandbox.evaluation.engines.base import WorkerLostError
from llm_sandbox.evaluation.engines.batch_worker import BatchWorker
from llm_sandbox.evaluation.engines.counts import check_count, cpus_here
from llm_sandbox.evaluation.engines.lane import Lane
from llm_sandbox.exceptions import BackendUnavailableError, MissingDependencyError

__all__ = ["DaskEngine"]

_END_S = 10.0
_POLL_S = 1.0


class DaskEngine:
    """Engine of a Dask cluster: one actor in each of its workers, for all of its threads.

    The library has to be installed where the workers are. A worker that ends is replaced by its
    nanny, if it has one.

    Args:
        cluster: A `distributed.Client`, or the address of a scheduler. None for the client of this
            process, or the scheduler that ``DASK_SCHEDULER_ADDRESS`` names; without either a
            cluster of one worker is started on this machine, which ends with the engine. That
            starts processes which import the main module: a script needs
            ``if __name__ == "__main__"``.
        cpus: Number of tests that run at the same time in each worker; None for its threads.

    Raises:
        ValidationError: `cpus` is invalid.
    """

    def __init__(self, cluster: Any = None, *, cpus: int | None = None) -> None:
        if cpus is not None:
            check_count("cpus", cpus)
        self._cluster = cluster
        self._cpus = cpus
        self._client: Any = None
        self._own: list[Any] = []
        self._setup = b""
        self._lanes: dict[str, Lane] = {}

    def start(self, setup: bytes) -> None:
        """Connect to the cluster; see `Engine.start`.

        Raises:
            BackendUnavailableError: The cluster does not answer.
            MissingDependencyError: The package distributed is not installed.
        """
        try:
            import distributed
        except ModuleNotFoundError as error:
            raise MissingDependencyError("distributed is not installed", extra="dask") from error
        self._setup = setup
        try:
            cluster = self._cluster
            if cluster is None:
                cluster = _cluster_of_process(distributed)
            if isinstance(cluster, distributed.Client):
                self._client = cluster
                return
            if cluster is None:
                cluster = distributed.LocalCluster(
                    n_workers=1,
                    threads_per_worker=self._cpus or cpus_here(),
                    dashboard_address=None,
                )
                self._own.append(cluster)
            self._client = distributed.Client(cluster)
            self._own.append(self._client)
        except (OSError, TimeoutError, ValueError) as error:
            raise BackendUnavailableError(
                f"the Dask cluster does not answer: {error}"[:500], op="evaluate"
            ) from error

    def workers(self) -> Sequence[str]:
        """Return the addresses of the workers that are there."""
        found = _members(self._client) if self._client is not None else {}
        for name, lane in list(self._lanes.items()):
            if name not in found or not lane.is_open:
                del self._lanes[name]
                lane.close()
        for name, facts in found.items():
            if name not in self._lanes:
                call = _calls(self._client, name, self._setup, self._cpus or facts["nthreads"])
                self._lanes[name] = Lane(name, call)
        return list(self._lanes)

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to the actor of a worker; see `Engine.submit`."""
        lane = self._lanes.get(worker)
        if lane is None:
            future: Future[bytes] = Future()
            future.set_exception(WorkerLostError(f"worker {worker} is gone"))
            return future
        return lane.submit(batch)

    def restart(self, worker: str) -> None:
        """Let the nanny of a worker start it again; see `Engine.restart`."""
        lane = self._lanes.pop(worker, None)
        if lane is not None:
            lane.close()
        with contextlib.suppress(Exception):
            self._client.restart_workers([worker], timeout=_END_S, raise_for_error=False)

    def close(self) -> None:
        """End the actors, and a cluster that was started for them."""
        lanes, self._lanes = self._lanes, {}
        for lane in lanes.values():
            lane.close()
        self._client = None
        while self._own:
            self._own.pop().close()
        for lane in lanes.values():
            lane.join(_END_S)


def _cluster_of_process(distributed: Any) -> Any:
    """Return the client of this process, or the address of a scheduler; None without either."""
    import dask

    try:
        return distributed.default_client()
    except ValueError:
        return dask.config.get("scheduler-address", None)


def _members(client: Any) -> dict[str, Any]:
    """Return facts about the workers of a cluster by their address."""
    found: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return found


def _calls(client: Any, worker: str, setup: bytes, cpus: int) -> Callable[[bytes], bytes]:
    """Return what takes a batch to the actor of a worker, which is made by the first."""
    actor: Any = None

    def call(batch: bytes) -> bytes:
        nonlocal actor
        if actor is None:
            made = client.submit(
                BatchWorker,
                client.scatter(setup, workers=[worker], hash=False),
                cpus,
                actor=True,
                pure=False,
                retries=0,
                workers=[worker],
                allow_other_workers=False,
            )
            actor = _result(client, worker, made)
        answer: bytes = _result(client, worker, actor.answer(batch))
        return answer

    return call


def _result(client: Any, worker: str, future: Any) -> Any:
    """Return the result of a future, which would wait for ever for a worker that is gone."""
    while True:
        try:
            return future.result(timeout=_POLL_S)
        except TimeoutError:
            if worker not in _members(client):
                raise WorkerLostError("it has left the cluster") from None
