"""Copies between the host and a sandbox: paths, bytes and open files."""

import os
import shutil
import tempfile
from pathlib import Path, PurePath
from typing import IO

from llm_sandbox.exceptions import (
    SandboxFileNotFoundError,
    SandboxNotADirectoryError,
    ValidationError,
)
from llm_sandbox.sandbox.files import SandboxFiles

__all__ = ["Source", "archive", "copy_in", "copy_out"]

Source = str | Path | bytes | bytearray | memoryview | IO[bytes]
"""Source of a copy: a path of the host, bytes, or a file that is open for reading bytes."""

_PIECE = 1 << 20


def copy_in(files: SandboxFiles, src: Source, dest: str) -> None:
    """Copy into a sandbox; see `BaseSession.copy_to_runtime`.

    Args:
        files: The sandbox's files.
        src: The source.
        dest: Path in the sandbox.

    Raises:
        ValidationError: `src` is not a source, or has no name and `dest` is a folder.
    """
    if isinstance(src, bytes | bytearray | memoryview):
        files.write_bytes(_target(files, None, dest), bytes(src))
    elif isinstance(src, str | os.PathLike):
        path = os.fspath(src)
        is_folder = Path(path).is_dir()
        files.upload(path, dest if is_folder else _target(files, Path(path).name, dest))
    elif callable(getattr(src, "read", None)):
        name = getattr(src, "name", None)
        target = _target(files, PurePath(name).name if isinstance(name, str) else None, dest)
        with tempfile.TemporaryDirectory(prefix="llm-sandbox-") as folder:
            path = str(Path(folder, "file"))
            _write(src, path)
            files.upload(path, target)
    else:
        raise ValidationError(
            f"invalid src: expected a path, bytes or an open file, got {type(src).__name__}",
            parameter="src",
        )


def copy_out(files: SandboxFiles, src: str, dest: str | Path) -> None:
    """Copy out of a sandbox; see `BaseSession.copy_from_runtime`."""
    files.stat(src)  # no folder is made for a missing file
    Path(dest).absolute().parent.mkdir(parents=True, exist_ok=True)
    files.download(src, dest)


def archive(files: SandboxFiles, path: str) -> tuple[bytes, dict[str, object]]:
    """Return a file or directory as a tar archive, with its name, size and mode."""
    entry = files.stat(path)
    return files.archive(path), {"name": entry.name, "size": entry.size, "mode": entry.mode}


def _target(files: SandboxFiles, name: str | None, dest: str) -> str:
    """Return the path of the copy: in `dest`, if that is a folder."""
    is_folder = dest in ("", ".", "..") or dest.endswith("/")
    if not is_folder:
        try:
            is_folder = files.stat(dest).kind == "directory"
        except (SandboxFileNotFoundError, SandboxNotADirectoryError):
            return dest
    if not is_folder:
        return dest
    if name is None:
        raise ValidationError(
            f"invalid dest: {dest!r} is a folder, and src has no name",
            parameter="dest",
            hint="name the file: dest='folder/name'",
        )
    return f"{dest.rstrip('/') or ('/' if dest else '.')}/{name}"


def _write(source: IO[bytes], path: str) -> None:
    with Path(path).open("xb") as file:
        first = source.read(_PIECE)
        if not isinstance(first, bytes):
            raise ValidationError(
                f"invalid src: expected a file of bytes, got one of {type(first).__name__}",
                parameter="src",
                hint="open it with 'rb'",
            )
        file.write(first)
        shutil.copyfileobj(source, file, _PIECE)
