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
    from llm_sandbox.backends.recipes import image_name

    named = None if backend.options is None else backend.options.image
    image = named or image_name(_LANG)
    has_image = backend.images.find(image) is not None
    engine = backend.describe_engine() or backend.name
    # Of another name than the backend, where several backends share an engine.
    program = engine.partition(" ")[0]
    get = f"{program} pull {image}" if named else _build(program)
    return {
        "engine": engine,
        "image": image,
        "has_image": has_image,
        "hint": None if has_image else get,
    }


def _build(engine: str) -> str:
    return f"llm-sandbox images build {_LANG} --engine {engine}"
