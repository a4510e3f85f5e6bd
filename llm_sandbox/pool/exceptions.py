"""Exceptions of pools, at the import path of the reference; see `llm_sandbox.compat`."""

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
