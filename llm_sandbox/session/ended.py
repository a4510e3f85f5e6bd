"""Why the sandbox of a session has ended, in words and as an error."""

from llm_sandbox.backends.base import Machine
from llm_sandbox.exceptions import ContainerGoneError, SessionExpiredError

__all__ = ["check_alive", "why_ended"]

_WORDS = {
    "deadline": "its session_timeout is over",
    "oom": "it used more memory than it may",
    "idle": "nothing was run in it for its idle_timeout",
    "terminated": "it was ended from outside",
    "closed": "it was closed",
    "gone": "the process that kept it, or its backend, was killed",
}

_UNSPECIFIC = ("closed", "gone")


def why_ended(reason: str | None, trouble: str | None) -> str:
    """Return why a sandbox has ended, for people.

    Args:
        reason: Its machine's `end_reason`.
        trouble: What went wrong when something was asked of it; None for nothing.
    """
    known = _WORDS.get(reason or "")
    if trouble is not None and (known is None or reason in _UNSPECIFIC):
        return trouble
    return known or "it could not be kept"


def check_alive(machine: Machine, session_timeout: float | None) -> None:
    """Refuse a machine that has ended.

    Args:
        machine: The session's.
        session_timeout: Seconds after which it was to end.

    Raises:
        SessionExpiredError: Its time is over.
        ContainerGoneError: It has ended otherwise.
    """
    reason, backend = machine.end_reason, machine.isolation.backend
    if reason == "deadline":
        raise SessionExpiredError(session_timeout, backend=backend)
    if reason is not None:
        raise ContainerGoneError(
            f"the sandbox of this session has ended: {_WORDS.get(reason, f'it is {reason}')}",
            backend=backend,
            hint="open it again, or create a new session",
        )
