"""What a pool raises, by the path that other programs import; see `llm_sandbox.compat`."""

from llm_sandbox.exceptions import (
    DuplicateClientError,
    PoolClosedError,
    PoolExhaustedError,
    PoolHealthCheckError,
    SessionNotOpenError,
)

__all__ = [
    "DuplicateClientError",
    "PoolClosedError",
    "PoolExhaustedError",
    "PoolHealthCheckError",
    "SessionNotOpenError",
]
