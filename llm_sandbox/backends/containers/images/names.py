"""What an image is called, and how an engine is asked for it by name."""

from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.exceptions import ImageNotFoundError

__all__ = ["candidates", "find_image"]


def candidates(engine: str, name: str) -> list[str]:
    """The names under which an engine may have an image, the likeliest first.

    Podman gives what it builds itself the registry ``localhost``, what comes over Docker's
    interface ``docker.io``, and resolves short names by the system's configuration.
    """
    if engine != "podman" or name.startswith("sha256:") or _has_registry(name):
        return [name]
    hub = f"docker.io/{name}" if "/" in name else f"docker.io/library/{name}"
    return [name, f"localhost/{name}", hub]


def _has_registry(name: str) -> bool:
    first, slash, _ = name.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")


def find_image(engine: Engine, name: str) -> dict[str, Any] | None:
    """Return what the engine says of an image that it has, or None.

    Args:
        engine: The engine.
        name: Name, or id.

    Raises:
        BackendUnavailableError: The engine does not answer.
        BackendError: It refused to say.
    """
    api: Any = engine.api
    for candidate in candidates(engine.name, name):
        try:
            with engine.errors("inspect image", name):
                found: dict[str, Any] = api.inspect_image(candidate)
                return found
        except ImageNotFoundError:
            continue
    return None
