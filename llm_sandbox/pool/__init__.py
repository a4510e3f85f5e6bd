"""Pools of warm sessions, created and prepared ahead of need, each for one tenant.

::

    with SandboxPool(size=2, libraries=["numpy"], warm_up="import numpy") as pool:
        with pool.claim() as session:
            session.run("print(numpy.arange(3))")

A used sandbox is ended with its session, and replaced by a new one: no state, process or file
reaches another session. `create_pool_manager`, `PoolConfig` and their kin are the names of the
reference for the same pools. Start reading at `sandbox_pool`, then `stock`.
"""

from llm_sandbox.exceptions import (
    PoolClosedError,
    PoolCreationError,
    PoolExhaustedError,
    PoolHealthCheckError,
)
from llm_sandbox.pool.config import ExhaustionStrategy, PoolConfig
from llm_sandbox.pool.manager import (
    ContainerPoolManager,
    ContainerState,
    PooledContainer,
    create_pool_manager,
)
from llm_sandbox.pool.metrics import PoolMetrics
from llm_sandbox.pool.sandbox_pool import ClaimOptions, PoolSessionOptions, SandboxPool
from llm_sandbox.pool.session import ArtifactPooledSandboxSession, PooledSandboxSession

__all__ = [
    "ArtifactPooledSandboxSession",
    "ClaimOptions",
    "ContainerPoolManager",
    "ContainerState",
    "ExhaustionStrategy",
    "PoolClosedError",
    "PoolConfig",
    "PoolCreationError",
    "PoolExhaustedError",
    "PoolHealthCheckError",
    "PoolMetrics",
    "PoolSessionOptions",
    "PooledContainer",
    "PooledSandboxSession",
    "SandboxPool",
    "create_pool_manager",
]
