"""Which backend is used when the caller names none."""

import contextlib

from llm_sandbox.backends.base import Backend, Network
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import BackendUnavailableError, SandboxError
from llm_sandbox.settings import get_settings

__all__ = ["AUTOMATIC", "choose", "prepare", "resolve"]

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
    named = get_settings().backend
    if named is not None:
        return get_backend(str(named)), f"LLM_SANDBOX_BACKEND names {named}"
    failures: list[BackendUnavailableError] = []
    for name in AUTOMATIC:
        backend = get_backend(str(name))
        try:
            backend.check()
        except BackendUnavailableError as error:
            failures.append(error)
            continue
        passed_over = "".join(f"; {failure.backend} does not work here" for failure in failures)
        return backend, f"{name} is the first that works here{passed_over}"
    raise failures[-1]


def resolve(backend: SandboxBackend | str | Backend | None) -> tuple[Backend, str]:
    """Return the backend that a caller means, and why it is this one.

    Raises:
        BackendUnavailableError: None was named and none works here.
        UnsupportedBackendError: There is no backend of that name in this version.
    """
    if backend is None:
        return choose()
    if isinstance(backend, Backend):
        return backend, "it was given"
    return get_backend(str(backend)), "it was named"


def prepare(backend: SandboxBackend | str | Backend | None, network: Network) -> None:
    """Have the backend that `resolve` will most likely return start what sessions need.

    Returns at once; whatever goes wrong is reported when the backend is used.
    """
    if isinstance(backend, Backend):
        backend.prepare(network)
        return
    with contextlib.suppress(SandboxError):
        get_backend(str(backend or get_settings().backend or AUTOMATIC[0])).prepare(network)
