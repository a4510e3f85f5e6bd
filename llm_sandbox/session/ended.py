"""Why the sandbox of a session has ended, in words and as an error."""

from llm_sandbox.backends.base import Machine
from llm_sandbox.exceptions import ContainerGoneError, SessionExpiredError

__all__ = ["WHY_ENDED", "check_alive"]

WHY_ENDED = {
    "deadline": "its session_timeout is over",
    "oom": "it used more memory than it may",
    "idle": "nothing was run in it for its idle_timeout",
    "terminated": "it was ended from outside",
    "closed": "it was closed",
    "gone": "the process that kept it, or its backend, was killed",
}


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
            f"the sandbox of this session has ended: {WHY_ENDED.get(reason, f'it is {reason}')}",
            backend=backend,
            hint="open it again, or create a new session",
        )
