"""Settings of a pool: size, lifetimes, behaviour when exhausted."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["ExhaustionStrategy", "PoolConfig"]


class ExhaustionStrategy(StrEnum):
    """Behaviour when all sandboxes of a pool are in use."""

    FAIL_FAST = "fail_fast"
    """Raise `PoolExhaustedError` immediately."""
    WAIT = "wait"
    """Wait for the next free sandbox, up to `PoolConfig.acquisition_timeout`."""
    TEMPORARY = "temporary"
    """Create a sandbox beyond `PoolConfig.max_pool_size`."""


class PoolConfig(BaseModel):
    """Settings of a pool.

    Raises:
        pydantic.ValidationError: A value is invalid; a ValueError.
    """

    model_config = ConfigDict(extra="forbid")

    max_pool_size: int = Field(default=10, ge=1)
    """Maximum number of sandboxes, ready and in use; 10."""
    min_pool_size: int = Field(default=0, ge=0)
    """Number of sandboxes to keep ready, if there is room; 0."""
    idle_timeout: float | None = Field(default=300.0, gt=0)
    """Seconds after which an unused ready sandbox is replaced; 300, None for never."""
    acquisition_timeout: float | None = Field(default=30.0, gt=0)
    """Seconds to wait for a sandbox; 30, None for no limit."""
    health_check_interval: float = Field(default=60.0, gt=0)
    """Seconds between checks for ended or expired ready sandboxes; 60."""
    max_container_lifetime: float | None = Field(default=3600.0, gt=0)
    """Age in seconds at which a ready sandbox is replaced; 3600, None for no limit."""
    max_container_uses: int | None = Field(default=None, ge=1)
    """Maximum number of sessions of a sandbox. A sandbox never serves more than one."""
    exhaustion_strategy: ExhaustionStrategy = ExhaustionStrategy.WAIT
    """Behaviour when all sandboxes are in use; `WAIT`."""
    enable_prewarming: bool = True
    """Whether sandboxes are created ahead of need."""

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if self.min_pool_size > self.max_pool_size:
            raise ValueError(
                f"min_pool_size ({self.min_pool_size}) cannot be greater than max_pool_size "
                f"({self.max_pool_size})"
            )
        return self
