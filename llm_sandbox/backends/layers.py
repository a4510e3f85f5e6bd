"""Location of installed libraries in a machine, and the image that they are built for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.limits import Deadline

__all__ = ["ImageLayers", "LayerLocation"]


class ImageLayers(Protocol):
    """Layers of an engine's machines of one image, which do not see this computer's layers."""

    image: str
    """Identity of the image with its Python; part of the keys of records."""
    image_name: str
    """Name of the image, for people."""

    def fresh_machine(self, spec: MachineSpec) -> Machine:
        """Create a fresh machine of the same image. The caller destroys it."""

    def marker(self, digest: str) -> str:
        """Return the path inside of a file that exists once a layer is complete."""

    def deliver(self, digest: str, folder: Path, deadline: Deadline) -> None:
        """Copy a layer to where every machine of the engine sees it, running ones included.

        Args:
            digest: Name of the layer.
            folder: Its files on this computer.
            deadline: Deadline of the copy.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: The deadline passed.
        """


@dataclass(frozen=True)
class LayerLocation:
    """Location of layers in a machine."""

    guest_root: str
    """Folder of the layers inside."""
    image: ImageLayers | None = None
    """Image that layers are built for and copied to; None for a machine that has the Python of this
    process and sees this computer's folder of layers."""
