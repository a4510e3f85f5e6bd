"""Pools of sessions: sandboxes made ahead, with libraries in them, each for one session alone.

::

    with create_pool_manager(config=PoolConfig(min_pool_size=2), libraries=["numpy"]) as pool:
        with create_session(pool=pool) as session:
            session.run("import numpy")

What a session has used is ended with it, and a new one is made ready: no state, no process and no
file of one ever reaches another. The names are those of the reference.
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
