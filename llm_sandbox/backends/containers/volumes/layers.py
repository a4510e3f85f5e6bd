"""Volume of installed libraries, which all containers of an engine read.

Each layer is a folder named by its digest. The file beside it, with ``.complete`` at the end of its
name, marks the folder as complete.
"""

import os
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.volumes.engine_volume import READ_ONLY, EngineVolume
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Deadline

__all__ = ["LAYERS_VOLUME", "AttachedLayers", "ContainerLayers", "LayersVolume", "pack_layer"]

LAYERS_VOLUME = "llm-sandbox-layers"
"""Name of the volume."""

_FIRST = "made"
_WAIT_S = 60.0
_PIECE = 1 << 20
_BLOCK = tarfile.BLOCKSIZE


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
            _marker(digest),
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
        return f"{LAYERS_ROOT}/{_marker(digest)}"

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
        return f"{self._folder}/{_marker(digest)}"

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


def _marker(digest: str) -> str:
    return f"{digest}.complete"


def _first() -> Iterator[bytes]:
    yield _header(tarfile.TarInfo(_FIRST))
    yield b"\0" * 2 * _BLOCK


def pack_layer(digest: str, folder: Path, deadline: Deadline) -> Iterator[bytes]:
    """Yield the files of a layer as a tar archive, owned by root, with its marker last.

    Raises:
        SandboxTimeoutError: The deadline passed.
    """
    top = tarfile.TarInfo(digest)
    top.type, top.mode = tarfile.DIRTYPE, 0o755
    yield _header(top)
    for path, folders, names in os.walk(folder):
        folders.sort()
        inside = os.path.normpath(os.path.join(digest, os.path.relpath(path, folder)))
        for name in folders:
            entry = tarfile.TarInfo(f"{inside}/{name}")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            yield _header(entry)
        for name in sorted(names):
            yield from _pack_file(os.path.join(path, name), f"{inside}/{name}", deadline)
    yield _header(tarfile.TarInfo(_marker(digest)))
    yield b"\0" * 2 * _BLOCK


def _pack_file(path: str, inside: str, deadline: Deadline) -> Iterator[bytes]:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        entry = tarfile.TarInfo(inside)
        entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
        entry.size, entry.mtime = status.st_size, int(status.st_mtime)
        yield _header(entry)
        left = entry.size
        while left:
            if deadline.expired:
                raise SandboxTimeoutError("copying the libraries took too long", op="copy")
            piece = file.read(min(_PIECE, left))
            if not piece:
                raise OSError(f"{path} became shorter while it was read")
            left -= len(piece)
            yield piece
    yield b"\0" * (-entry.size % _BLOCK)


def _header(entry: tarfile.TarInfo) -> bytes:
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
