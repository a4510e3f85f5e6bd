"""Archives of layers, for machines that do not see this computer's folder of layers."""

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Deadline

__all__ = ["end_archive", "layer_marker", "pack_header", "pack_layer"]

_PIECE = 1 << 20
_BLOCK = tarfile.BLOCKSIZE


def layer_marker(digest: str) -> str:
    """Return the name of the file beside a layer that marks it as complete."""
    return f"{digest}.complete"


def end_archive() -> bytes:
    """Return the end of an archive."""
    return b"\0" * 2 * _BLOCK


def pack_layer(digest: str, folder: Path, deadline: Deadline) -> Iterator[bytes]:
    """Yield the files of a layer as a tar archive, owned by root, with its marker last.

    Raises:
        SandboxTimeoutError: The deadline passed.
    """
    top = tarfile.TarInfo(digest)
    top.type, top.mode = tarfile.DIRTYPE, 0o755
    yield pack_header(top)
    for path, folders, names in os.walk(folder):
        folders.sort()
        inside = os.path.normpath(os.path.join(digest, os.path.relpath(path, folder)))
        for name in folders:
            entry = tarfile.TarInfo(f"{inside}/{name}")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            yield pack_header(entry)
        for name in sorted(names):
            yield from _pack_file(os.path.join(path, name), f"{inside}/{name}", deadline)
    yield pack_header(tarfile.TarInfo(layer_marker(digest)))
    yield end_archive()


def _pack_file(path: str, inside: str, deadline: Deadline) -> Iterator[bytes]:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        entry = tarfile.TarInfo(inside)
        entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
        entry.size, entry.mtime = status.st_size, int(status.st_mtime)
        yield pack_header(entry)
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


def pack_header(entry: tarfile.TarInfo) -> bytes:
    """Return the header of a member."""
    return entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
