"""Circuit breaker of an evaluation: an end where the sandbox fails too often."""

import threading
from collections import deque

from llm_sandbox.exceptions import SandboxError

__all__ = ["Breaker", "EvaluationStoppedError"]

_WINDOW, _SHARE = 50, 0.2


class EvaluationStoppedError(SandboxError):
    """Evaluation that was stopped because the sandbox fails too often; no result is lost."""


class Breaker:
    """Count of failures among the last samples, safe to use from several threads."""

    def __init__(self) -> None:
        self._recent: deque[bool] = deque(maxlen=_WINDOW)
        self._lock = threading.Lock()

    def note(self, is_infra: bool, error: str) -> None:
        """Count a sample.

        Args:
            is_infra: Whether the sandbox failed.
            error: How it failed.

        Raises:
            EvaluationStoppedError: More than 20 % of the last 50 samples failed.
        """
        with self._lock:
            self._recent.append(is_infra)
            failures = sum(self._recent)
            is_full = len(self._recent) == _WINDOW
        if is_full and failures > _SHARE * _WINDOW:
            raise EvaluationStoppedError(
                f"the sandbox or a checker failed in {failures} of the last {_WINDOW} samples; "
                f"the last failure: {error}",
                hint="see `llm-sandbox doctor`; finished results are kept: resume=True goes on",
            )
