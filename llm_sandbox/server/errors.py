"""Errors of the fleet: a quota that is used up, a server that is about to end."""

from typing import Unpack

from llm_sandbox.exceptions import ContainerError, ErrorCode, ErrorFacts

__all__ = ["DrainingError", "QuotaExceededError"]

_BUSY_RETRY_S = 5.0


class QuotaExceededError(ContainerError):
    """Request beyond a quota of its tenant.

    Args:
        quota: Name of the quota.
        most: Its value.
        retry_after_s: Seconds after which a repetition may succeed.
    """

    default_code = ErrorCode.POOL_EXHAUSTED
    default_retryable = True

    def __init__(
        self,
        quota: str,
        most: float,
        retry_after_s: float = _BUSY_RETRY_S,
        **facts: Unpack[ErrorFacts],
    ) -> None:
        super().__init__(f"the quota {quota} of {most:g} is used up", **facts)
        self.quota = quota
        self.retry_after_s = retry_after_s


class DrainingError(ContainerError):
    """Request to a server that is about to end, or has ended."""

    default_code = ErrorCode.CLOSED
    default_retryable = True

    def __init__(self, message: str = "the server is about to end") -> None:
        super().__init__(message)
