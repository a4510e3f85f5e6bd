"""Where a machine finds installed libraries, and whose Python they are for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.limits import Deadline

__all__ = ["ImageLayers", "LayerLocation"]


class ImageLayers(Protocol):
    """What a machine that is made from an image has instead of this machine's folder of layers."""

    image: str
    """Stands for everything that the image has, its Python among it; text for a record's key."""
    image_name: str
    """What people know the image by."""

    def fresh_machine(self, spec: MachineSpec) -> Machine:
        """Make a machine of the same image in which nothing has run; the taker destroys it."""

    def marker(self, digest: str) -> str:
        """Path, as the machine sees it, of a file that is there when a layer is there complete."""

    def deliver(self, digest: str, folder: Path, deadline: Deadline) -> None:
        """Have a layer there for every machine of the engine, those that run already included.

        Args:
            digest: Its name.
            folder: Its files on this machine.
            deadline: Until when.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: The deadline passed.
        """


@dataclass(frozen=True)
class LayerLocation:
    """Where a machine finds layers."""

    guest_root: str
    """Their folder as the machine sees it."""
    image: ImageLayers | None = None
    """What they have to be made for and brought to; None for a machine that has the Python of this
    process and sees this machine's own folder of layers."""
