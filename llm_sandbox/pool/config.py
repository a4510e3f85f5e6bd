"""How large a pool is, how long its sandboxes live, and what happens when there are none left."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["ExhaustionStrategy", "PoolConfig"]


class ExhaustionStrategy(StrEnum):
    """What a session gets when every sandbox of the pool is in use."""

    FAIL_FAST = "fail_fast"
    """`PoolExhaustedError`, at once."""
    WAIT = "wait"
    """The next that is free, for as long as `PoolConfig.acquisition_timeout`."""
    TEMPORARY = "temporary"
    """One beyond `PoolConfig.max_pool_size`."""


class PoolConfig(BaseModel):
    """The settings of a pool.

    Raises:
        pydantic.ValidationError: A value is not acceptable; a ValueError.
    """

    model_config = ConfigDict(extra="forbid")

    max_pool_size: int = Field(default=10, ge=1)
    """Most sandboxes, ready and in use together; 10."""
    min_pool_size: int = Field(default=0, ge=0)
    """How many are kept ready, as long as there is room for them; 0."""
    idle_timeout: float | None = Field(default=300.0, gt=0)
    """Seconds after which a ready one that nobody takes is ended; 300, None for never."""
    acquisition_timeout: float | None = Field(default=30.0, gt=0)
    """Seconds that are waited for one; 30, None for as long as it takes."""
    health_check_interval: float = Field(default=60.0, gt=0)
    """Seconds between looks for ready ones that have ended or are too old; 60."""
    max_container_lifetime: float | None = Field(default=3600.0, gt=0)
    """Seconds after which a ready one is ended; 3600, None for never."""
    max_container_uses: int | None = Field(default=None, ge=1)
    """Most sessions that one serves. It never serves more than one, whatever is asked."""
    exhaustion_strategy: ExhaustionStrategy = ExhaustionStrategy.WAIT
    """What happens when all are in use; `WAIT`."""
    enable_prewarming: bool = True
    """Whether any are made before somebody asks."""

    @model_validator(mode="after")
    def _sizes_agree(self) -> Self:
        if self.min_pool_size > self.max_pool_size:
            raise ValueError(
                f"min_pool_size ({self.min_pool_size}) cannot be greater than max_pool_size "
                f"({self.max_pool_size})"
            )
        return self
