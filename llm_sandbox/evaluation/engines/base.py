"""Contract of engines."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from llm_sandbox.exceptions import SandboxError

__all__ = ["Engine", "EngineName", "WorkerLostError"]

EngineName: TypeAlias = Literal["local", "ray", "dask", "http"]
"""Name of an engine of this package."""


class WorkerLostError(SandboxError):
    """Worker that ended before its answer; its samples go to another one."""


@runtime_checkable
class Engine(Protocol):
    """Workers on this or on other machines, each with a `BatchWorker`.

    The driver calls `start` first and `close` last, all from one thread. An engine may be started
    again after that. What is sent and what comes back are bytes, which it does not look into.
    """

    def start(self, setup: bytes) -> None:
        """Start the workers; one that does not come up fails its first batch.

        Args:
            setup: What each worker is made of: the argument of `BatchWorker`.

        Raises:
            BackendUnavailableError: There is no cluster, or no worker.
            MissingDependencyError: The package of the engine is not installed.
        """

    def workers(self) -> Sequence[str]:
        """Return the names of the workers that may be sent batches now.

        A worker that was started again, and is to be tested again, has another name.
        """

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to a worker, without waiting.

        Args:
            worker: One of `workers`.
            batch: Argument of `BatchWorker.answer`.

        Returns:
            The answer; or any exception, if the worker was lost.
        """

    def restart(self, worker: str) -> None:
        """End a worker that does not answer, and start it again; its batches fail.

        Args:
            worker: Its name, which may be that of a worker that is gone.
        """

    def close(self) -> None:
        """End the workers and what was started for them; no effect if repeated."""
