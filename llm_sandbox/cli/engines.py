"""What `llm-sandbox doctor` says of the programs and services that backends stand on."""

from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend

__all__ = ["look_at_engine"]

_LANG = "python"


def look_at_engine(backend: Backend) -> dict[str, Any]:
    """Return the fields of a `BackendFinding` that tell of an engine; empty for a backend without.

    Args:
        backend: One that works here.

    Raises:
        BackendUnavailableError: Its engine does not answer any more.
    """
    if backend.name == SandboxBackend.GVISOR:
        from llm_sandbox.backends.gvisor.binary import find_runsc

        found = find_runsc()
        return {"engine": f"runsc {found.version} at {found.path}"}
    if not backend.has_containers:
        return {}
    from llm_sandbox.backends.containers.backend import ContainerBackend
    from llm_sandbox.backends.recipes import image_name

    assert isinstance(backend, ContainerBackend)  # noqa: S101 - what `has_containers` says
    engine = backend.engine
    named = backend.options.image
    image = named or image_name(_LANG)
    has_image = engine.find_image(image) is not None
    get = f"{engine.name} pull {image}" if named else _build(engine.name)
    return {
        "engine": f"{engine.name} {engine.version['Version']} at {_address(engine.api)}",
        "image": image,
        "has_image": has_image,
        "hint": None if has_image else get,
    }


def _address(api: Any) -> str:
    # A client on a local socket calls itself by the name of no machine.
    adapter = getattr(api, "_custom_adapter", None)
    path = getattr(adapter, "socket_path", None)
    return f"unix://{path}" if path else str(api.base_url)


def _build(engine: str) -> str:
    return f"llm-sandbox images build {_LANG} --engine {engine}"
