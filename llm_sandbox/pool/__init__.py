"""Pools of sandboxes created ahead of need, with libraries, each for one session.

::

    with create_pool_manager(config=PoolConfig(min_pool_size=2), libraries=["numpy"]) as pool:
        with create_session(pool=pool) as session:
            session.run("import numpy")

A used sandbox is ended with its session, and replaced by a new one: no state, process or file
reaches another session. The names are those of the reference.
"""

from llm_sandbox.exceptions import (
    PoolClosedError,
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
from llm_sandbox.pool.session import ArtifactPooledSandboxSession, PooledSandboxSession

__all__ = [
    "ArtifactPooledSandboxSession",
    "ContainerPoolManager",
    "ContainerState",
    "ExhaustionStrategy",
    "PoolClosedError",
    "PoolConfig",
    "PoolExhaustedError",
    "PoolHealthCheckError",
    "PooledContainer",
    "PooledSandboxSession",
    "create_pool_manager",
]
