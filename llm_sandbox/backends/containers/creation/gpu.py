"""Graphics processors of a container, where its engine has any to give."""

import re
from collections.abc import Mapping
from typing import Any, Final

from llm_sandbox.exceptions import UnsupportedError

__all__ = ["device_requests"]

_CDI_KIND: Final = "nvidia.com/gpu"
_FROM_CDI: Final = re.compile(rf"{re.escape(_CDI_KIND)}=(.+)")
_CAPABILITIES: Final = [["gpu"]]


def device_requests(
    gpu: str | int, *, engine: str, facts: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return what the engine is to be asked for, as docker-py's ``device_requests``.

    Args:
        gpu: ``all``, how many, or names of devices with commas between them.
        engine: The engine's name.
        facts: What it says of itself (Docker's ``/info``).

    Raises:
        UnsupportedError: It has none, or could not be asked; the reason is what was found.
    """
    if engine == "podman":
        # See `podman.quirks`: it takes such a request, and gives nothing.
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            "Podman does not hear of devices through Docker's interface",
            hint="use backend='docker' with the NVIDIA container toolkit",
        )
    named = [] if isinstance(gpu, int) or gpu == "all" else _names(gpu)
    if "nvidia" in (facts.get("Runtimes") or {}):
        if named:
            return [{"Driver": "nvidia", "DeviceIDs": named, "Capabilities": _CAPABILITIES}]
        count = gpu if isinstance(gpu, int) else -1
        return [{"Driver": "nvidia", "Count": count, "Capabilities": _CAPABILITIES}]
    known = _from_cdi(facts)
    if not known:
        runtimes = ", ".join(sorted(facts.get("Runtimes") or {})) or "unknown"
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            f"the engine has no nvidia runtime (it has: {runtimes}) and has found no device "
            f"{_CDI_KIND}",
            hint="install the NVIDIA container toolkit and restart the engine, then look: "
            "docker info",
        )
    wanted = named or (sorted(known - {"all"})[:gpu] if isinstance(gpu, int) else ["all"])
    missing = [name for name in wanted if name not in known]
    if missing or (isinstance(gpu, int) and len(wanted) < gpu):
        raise UnsupportedError(
            f"gpu={gpu!r}",
            engine,
            f"the engine has found: {', '.join(f'{_CDI_KIND}={name}' for name in sorted(known))}",
        )
    return [{"Driver": "cdi", "DeviceIDs": [f"{_CDI_KIND}={name}" for name in wanted]}]


def _names(gpu: str) -> list[str]:
    return [name for part in gpu.split(",") if (name := part.strip().removeprefix(f"{_CDI_KIND}="))]


def _from_cdi(facts: Mapping[str, Any]) -> set[str]:
    found = set()
    for device in facts.get("DiscoveredDevices") or ():
        match = _FROM_CDI.fullmatch(str(device.get("ID", "")))
        if match:
            found.add(match[1])
    return found
