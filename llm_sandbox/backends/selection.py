"""Which backend is used when the caller names none."""

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["AUTOMATIC", "choose"]

# Docker and Podman come before it, once they are here. `local` isolates nothing and never stands
# here.
AUTOMATIC = (SandboxBackend.BUBBLEWRAP,)
"""What is tried, in this order."""


def choose() -> tuple[Backend, str]:
    """Choose the backend: what LLM_SANDBOX_BACKEND names, else the first that works here.

    Returns:
        The backend, and why it is this one, in a sentence.

    Raises:
        BackendUnavailableError: None works here; the error is that of the last one tried.
        UnsupportedBackendError: LLM_SANDBOX_BACKEND names one that this version lacks.
    """
    # Pydantic is not loaded by callers who name a backend.
    from llm_sandbox.settings import get_settings

    named = get_settings().backend
    if named is not None:
        return get_backend(named), f"LLM_SANDBOX_BACKEND names {named}"
    failures: list[BackendUnavailableError] = []
    for name in AUTOMATIC:
        backend = get_backend(name)
        try:
            backend.check()
        except BackendUnavailableError as error:
            failures.append(error)
            continue
        passed_over = "".join(f"; {failure.backend} does not work here" for failure in failures)
        return backend, f"{name} is the first that works here{passed_over}"
    raise failures[-1]
