"""A sandbox's files."""

import contextlib
import os
import stat as modes
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from llm_sandbox.adapters.modal.calls import Method
from llm_sandbox.adapters.modal.checks import check_path
from llm_sandbox.adapters.modal.exception import (
    InvalidError,
    SandboxFilesystemError,
    SandboxFilesystemIsADirectoryError,
)
from llm_sandbox.adapters.modal.translation import translated_files
from llm_sandbox.sandbox import Sandbox as Machine
from llm_sandbox.sandbox.files import FileEntry

__all__ = ["FileInfo", "FileType", "SandboxFilesystem"]

_LARGEST = 5 << 30


class FileType(Enum):
    """What a `FileInfo` is."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


_KINDS = {"directory": FileType.DIRECTORY, "link": FileType.SYMLINK}


@dataclass(frozen=True)
class FileInfo:
    """A file of a sandbox."""

    name: str
    """Last part of its path."""
    path: str
    """Its path."""
    type: FileType
    """What it is; pipes, sockets and devices count as files."""
    size: int
    """In bytes."""
    mode: int
    """Permission bits."""
    permissions: str
    """The same as ``ls -l`` writes them."""
    modified_time: float
    """Last change, in seconds since 1970."""
    symlink_target: str | None = None
    """What a link names; None for anything else."""

    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.type is FileType.FILE

    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.type is FileType.DIRECTORY

    def is_symlink(self) -> bool:
        """Whether it is a link."""
        return self.type is FileType.SYMLINK


class SandboxFilesystem:
    """Reads and writes a sandbox's files with the rights of its user; paths are absolute.

    Raises:
        InvalidError: By every method: a path is not absolute.
        SandboxFilesystemError: By every method: it failed; the subclass says how.

    Args:
        sandbox: The sandbox.
    """

    def __init__(self, sandbox: Machine) -> None:
        self._sandbox = sandbox

    @Method
    def read_bytes(self, remote_path: str) -> bytes:
        """Return a file's content, 64 MiB at most."""
        with translated_files():
            return self._sandbox.files.read_bytes(check_path(remote_path))

    @Method
    def read_text(self, remote_path: str) -> str:
        """Return a file's content as UTF-8.

        Raises:
            UnicodeDecodeError: It is none.
        """
        with translated_files():
            return self._sandbox.files.read_bytes(check_path(remote_path)).decode("utf-8")

    @Method
    def write_bytes(self, data: bytes | bytearray | memoryview, remote_path: str) -> None:
        """Write a file, with the folders above it; one that is there is overwritten."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data is bytes, not {type(data).__name__}: data comes first")
        with translated_files():
            self._sandbox.files.write_bytes(check_path(remote_path), bytes(data))

    @Method
    def write_text(self, data: str, remote_path: str) -> None:
        """Write text as UTF-8; see `write_bytes`."""
        if not isinstance(data, str):
            raise TypeError(f"data is text, not {type(data).__name__}")
        with translated_files():
            self._sandbox.files.write_bytes(check_path(remote_path), data.encode("utf-8"))

    @Method
    def copy_from_local(self, local_path: str | os.PathLike[str], remote_path: str) -> None:
        """Copy a file of this machine into the sandbox.

        Raises:
            FileNotFoundError: There is none on this machine.
        """
        path = Path(local_path)
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: files are copied one by one")
        with path.open("rb") as file:
            os.fstat(file.fileno())
        with translated_files():
            target = check_path(remote_path)
            self._sandbox.files.mkdir(os.path.dirname(target) or "/")  # noqa: PTH120
            self._sandbox.files.upload(path, target)

    @Method
    def copy_to_local(self, remote_path: str, local_path: str | os.PathLike[str]) -> None:
        """Copy a file of the sandbox to this machine in one step, with the folders above it."""
        source, target = check_path(remote_path), Path(local_path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with translated_files():
            if self._sandbox.files.stat(source).kind == "directory":
                raise SandboxFilesystemIsADirectoryError(f"{source} is a directory", path=source)
            folder = tempfile.mkdtemp(dir=target.parent, prefix=".llm-sandbox-")
            try:
                fresh = Path(folder, "file")
                report = self._sandbox.files.download(source, fresh, limit=_LARGEST)
                if not fresh.is_file():
                    raise SandboxFilesystemError(f"{source} was not copied: {report}", path=source)
                fresh.replace(target)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    Path(folder, "file").unlink()
                Path(folder).rmdir()

    @Method
    def list_files(self, remote_path: str) -> list[FileInfo]:
        """Return what is in a directory, by name."""
        path = check_path(remote_path)
        with translated_files():
            found = self._sandbox.files.list(path)
        return [_info(entry, f"{path.rstrip('/')}/{entry.name}") for entry in found]

    @Method
    def stat(self, remote_path: str) -> FileInfo:
        """Describe a file; a link is described itself."""
        path = check_path(remote_path)
        with translated_files():
            return _info(self._sandbox.files.stat(path, follow=False), path)

    @Method
    def make_directory(self, remote_path: str, *, create_parents: bool = True) -> None:
        """Make a directory; one that is there is left as it is.

        Args:
            remote_path: Its path.
            create_parents: Whether those above it are made, and one that is there will do.
        """
        with translated_files():
            self._sandbox.files.mkdir(
                check_path(remote_path), parents=create_parents, exist_ok=create_parents
            )

    @Method
    def remove(self, remote_path: str, *, recursive: bool = False) -> None:
        """Remove a file, a link or an empty directory; with `recursive` all in it.

        Raises:
            InvalidError: It is the root.
        """
        path = check_path(remote_path)
        if path == "/":
            raise InvalidError("the root cannot be removed", parameter="remote_path")
        with translated_files():
            self._sandbox.files.remove(path, recursive=recursive)


def _info(entry: FileEntry, path: str) -> FileInfo:
    kind = _KINDS.get(entry.kind, FileType.FILE)
    bits = {FileType.DIRECTORY: modes.S_IFDIR, FileType.SYMLINK: modes.S_IFLNK}
    return FileInfo(
        name=entry.name,
        path=path,
        type=kind,
        size=entry.size,
        mode=entry.mode,
        permissions=modes.filemode(bits.get(kind, modes.S_IFREG) | entry.mode),
        modified_time=entry.mtime,
        symlink_target=entry.target,
    )
