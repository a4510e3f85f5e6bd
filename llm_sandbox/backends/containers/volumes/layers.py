"""Volume of installed libraries, which all containers of an engine read.

Each layer is a folder named by its digest. The file beside it, with ``.complete`` at the end of its
name, marks the folder as complete.
"""

import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.volumes.engine_volume import READ_ONLY, EngineVolume
from llm_sandbox.backends.layer_archive import end_archive, layer_marker, pack_header, pack_layer
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.limits import Deadline

__all__ = ["LAYERS_VOLUME", "AttachedLayers", "ContainerLayers", "LayersVolume"]

LAYERS_VOLUME = "llm-sandbox-layers"
"""Name of the volume."""

_FIRST = "made"
_WAIT_S = 60.0
_PIECE = 1 << 20


class LayersVolume:
    """Volume of layers in one engine. Safe to use from several threads and processes.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._volume = EngineVolume(engine, LAYERS_VOLUME)
        self._lock = threading.Lock()
        self._known = False

    @property
    def mount(self) -> dict[str, dict[str, str]]:
        """The mount of the volume in containers, as docker-py's ``volumes``."""
        return {LAYERS_VOLUME: {"bind": LAYERS_ROOT, "mode": READ_ONLY}}

    def ensure(self, image: str) -> None:
        """Create the volume unless it exists, with a first file.

        Engines copy files of an image into an empty volume.

        Args:
            image: Any image that the engine has; nothing of it is run.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: Another program keeps it busy.
        """
        with self._lock:
            if not self._known:
                if self._volume.make():
                    self._volume.fill(image, _FIRST, _first, Deadline.after(_WAIT_S))
                self._known = True

    def add(self, image: str, digest: str, folder: Path, deadline: Deadline) -> bool:
        """Copy a layer into the volume unless it is there; returns whether it was copied.

        Args:
            image: Any image that the engine has; nothing of it is run.
            digest: The layer's name.
            folder: Its files on this machine.
            deadline: When to give up.

        Raises:
            BackendError: The engine refused.
            SandboxTimeoutError: The deadline passed.
        """
        return self._volume.fill(
            image,
            layer_marker(digest),
            lambda: _together(pack_layer(digest, folder, deadline)),
            deadline,
            part=digest[:16],
        )


class ContainerLayers:
    """See `ImageLayers`.

    Args:
        volume: The engine's volume of layers.
        image: Id of the machine's image.
        image_name: Its name, for people.
        variant: Other options of the machine that decide which Python it has.
        fresh_machine: See `ImageLayers`.
    """

    def __init__(
        self,
        volume: LayersVolume,
        image: str,
        image_name: str,
        *,
        variant: str,
        fresh_machine: Callable[[MachineSpec], Machine],
    ) -> None:
        self.image = f"{image} {variant}".rstrip()
        self.image_name = image_name
        self._fresh_machine = fresh_machine
        self._image_id = image
        self._volume = volume

    def fresh_machine(self, spec: MachineSpec) -> Machine:
        return self._fresh_machine(spec)

    def marker(self, digest: str) -> str:
        return f"{LAYERS_ROOT}/{layer_marker(digest)}"

    def deliver(self, digest: str, folder: Path, deadline: Deadline) -> None:
        self._volume.add(self._image_id, digest, folder, deadline)


class AttachedLayers(ContainerLayers):
    """See `ImageLayers`: for an existing container, which has no volume of layers.

    Args:
        engine: The engine.
        container: The container's id.
        folder: Folder of this library's files in it, which is removed when the session ends.
        image: Id of its image, which decides which Python it has.
        image_name: Its name, for people.
        variant: As in `ContainerLayers`.
        fresh_machine: Creates a machine from that image.
    """

    def __init__(
        self,
        engine: Engine,
        container: str,
        folder: str,
        image: str,
        image_name: str,
        *,
        variant: str,
        fresh_machine: Callable[[MachineSpec], Machine],
    ) -> None:
        volume = LayersVolume(engine)
        super().__init__(volume, image, image_name, variant=variant, fresh_machine=fresh_machine)
        self._engine, self._container, self._folder = engine, container, folder

    def marker(self, digest: str) -> str:
        return f"{self._folder}/{layer_marker(digest)}"

    def deliver(self, digest: str, folder: Path, deadline: Deadline) -> None:
        packed = _together(pack_layer(digest, folder, deadline))
        with self._engine.errors("copy", self._container):
            self._engine.api.put_archive(self._container, self._folder, packed)


def _together(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in larger chunks: each chunk is one write to the engine."""
    gathered = bytearray()
    for piece in pieces:
        gathered += piece
        if len(gathered) >= _PIECE:
            yield bytes(gathered)
            gathered.clear()
    yield bytes(gathered)


def _first() -> Iterator[bytes]:
    yield pack_header(tarfile.TarInfo(_FIRST))
    yield end_archive()
