"""Session class for pools, under its name for compatibility."""

from typing import TYPE_CHECKING

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.pool.sandbox_pool import SandboxPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["ArtifactPooledSandboxSession", "PooledSandboxSession"]


class PooledSandboxSession(ArtifactSandboxSession):
    """Session whose sandbox comes from a pool: ``create_session(pool=pool_manager)``.

    Args:
        pool_manager: Pool to take the sandbox from.
        verbose: Log events to stderr.
        stream: Accepted for compatibility: output always streams to the callbacks of `run`.
        workdir: Working directory of the pool; any other is refused.
        security_policy: Policy by which `run` refuses code.
        default_timeout: Seconds for commands, and for runs without another timeout; None for no
            limit.
        execution_timeout: Seconds for runs.
        session_timeout: Seconds until the sandbox ends, counted from `open`.
        encoding_errors: As for `create_session`.
        enable_plotting: Whether `ExecutionResult.plots` is filled.
        observers: Called with a `RunRecord` after each run, command and installation.

    Raises:
        ValidationError: `workdir` is not the pool's.
    """

    def __init__(
        self,
        pool_manager: SandboxPool,
        verbose: bool = False,
        stream: bool = False,
        workdir: str = "/sandbox",
        security_policy: "SecurityPolicy | None" = None,
        default_timeout: float | None = None,
        execution_timeout: float | None = None,
        session_timeout: float | None = None,
        encoding_errors: str | None = None,
        *,
        enable_plotting: bool = True,
        observers: "Sequence[RunObserver]" = (),
    ) -> None:
        super().__init__(
            pool=pool_manager,
            verbose=verbose,
            stream=stream,
            workdir=workdir,
            security_policy=security_policy,
            default_timeout=default_timeout,
            execution_timeout=execution_timeout,
            session_timeout=session_timeout,
            encoding_errors=encoding_errors,
            enable_plotting=enable_plotting,
            observers=observers,
        )

    @property
    def backend_session(self) -> ArtifactSandboxSession:
        """This session itself."""
        self._life.runtime()
        return self


ArtifactPooledSandboxSession = PooledSandboxSession
