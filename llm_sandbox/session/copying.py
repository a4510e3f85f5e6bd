"""What is copied into a sandbox: paths, bytes and open files."""

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

__all__ = ["Source", "copy_in"]

Source = str | Path | bytes | bytearray | memoryview | IO[bytes]
"""What can be copied: a path of this computer, bytes, or a file that is open for reading bytes."""

_PIECE = 1 << 20


def copy_in(files: SandboxFiles, src: Source, dest: str) -> None:
    """Copy into a sandbox; see `MachineSession.copy_to_runtime`.

    Args:
        files: The sandbox's.
        src: What.
        dest: Path in the sandbox.

    Raises:
        ValidationError: `src` is nothing that can be copied, or has no name for a place in a
            folder.
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
            f"src is a path, bytes or a file that is open, not {type(src).__name__}",
            parameter="src",
        )


def _target(files: SandboxFiles, name: str | None, dest: str) -> str:
    """Where a file goes: into `dest`, if that is a folder."""
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
            f"dest {dest!r} is a folder, and what is copied has no name",
            parameter="dest",
            hint="name the file: dest='folder/name'",
        )
    return f"{dest.rstrip('/') or ('/' if dest else '.')}/{name}"


def _write(source: IO[bytes], path: str) -> None:
    with Path(path).open("xb") as file:
        first = source.read(_PIECE)
        if not isinstance(first, bytes):
            raise ValidationError(
                f"src gives {type(first).__name__}, not bytes",
                parameter="src",
                hint="open it with 'rb'",
            )
        file.write(first)
        shutil.copyfileobj(source, file, _PIECE)
