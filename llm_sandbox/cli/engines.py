"""What `llm-sandbox doctor` says of the programs and services that backends stand on."""

from typing import Any

from llm_sandbox.backends.base import Backend

__all__ = ["look_at_engine"]

_LANG = "python"


def look_at_engine(backend: Backend) -> dict[str, Any]:
    """Return the fields of a `BackendFinding` that tell of an engine; empty for a backend without.

    Args:
        backend: One that works here.

    Raises:
        BackendUnavailableError: Its engine does not answer any more.
    """
    engine = backend.describe_engine()
    if not backend.has_containers:
        return {} if engine is None else {"engine": engine}
    from llm_sandbox.backends.recipes import image_name

    named = None if backend.options is None else backend.options.image
    image = named or image_name(_LANG)
    has_image = backend.images.find(image) is not None
    engine = engine or backend.name
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
