"""Files of a sandbox."""

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
    """Type of a `FileInfo`."""

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


_KINDS = {"directory": FileType.DIRECTORY, "link": FileType.SYMLINK}


@dataclass(frozen=True)
class FileInfo:
    """Metadata of a file in a sandbox."""

    name: str
    """Last component of the path."""
    path: str
    """Absolute path."""
    type: FileType
    """Type; pipes, sockets and devices count as files."""
    size: int
    """Size in bytes."""
    mode: int
    """Permission bits."""
    permissions: str
    """Permissions as printed by ``ls -l``."""
    modified_time: float
    """Last change, in seconds since 1970."""
    symlink_target: str | None = None
    """Target of a symbolic link; None for other types."""

    def is_file(self) -> bool:
        """Return whether this is a file."""
        return self.type is FileType.FILE

    def is_dir(self) -> bool:
        """Return whether this is a directory."""
        return self.type is FileType.DIRECTORY

    def is_symlink(self) -> bool:
        """Return whether this is a symbolic link."""
        return self.type is FileType.SYMLINK


class SandboxFilesystem:
    """Files of a sandbox, accessed with the rights of its user; paths are absolute.

    Raises:
        InvalidError: By every method: a path is not absolute.
        SandboxFilesystemError: By every method: the operation failed; the subclass says why.

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
            UnicodeDecodeError: The content is not UTF-8.
        """
        with translated_files():
            return self._sandbox.files.read_bytes(check_path(remote_path)).decode("utf-8")

    @Method
    def write_bytes(self, data: bytes | bytearray | memoryview, remote_path: str) -> None:
        """Write a file, with missing parent directories; an existing file is overwritten."""
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
            FileNotFoundError: The file does not exist on this machine.
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
        """Copy a file of the sandbox to this machine atomically, creating parent directories."""
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
        """Return the entries of a directory, sorted by name."""
        path = check_path(remote_path)
        with translated_files():
            found = self._sandbox.files.list(path)
        return [_info(entry, f"{path.rstrip('/')}/{entry.name}") for entry in found]

    @Method
    def stat(self, remote_path: str) -> FileInfo:
        """Return the metadata of a file; links are not followed."""
        path = check_path(remote_path)
        with translated_files():
            return _info(self._sandbox.files.stat(path, follow=False), path)

    @Method
    def make_directory(self, remote_path: str, *, create_parents: bool = True) -> None:
        """Create a directory; an existing one is left as it is.

        Args:
            remote_path: Absolute path.
            create_parents: Whether missing parents are created, and an existing directory is
                accepted.
        """
        with translated_files():
            self._sandbox.files.mkdir(
                check_path(remote_path), parents=create_parents, exist_ok=create_parents
            )

    @Method
    def remove(self, remote_path: str, *, recursive: bool = False) -> None:
        """Remove a file, a link or an empty directory; with `recursive`, a directory and its
        contents.

        Raises:
            InvalidError: The path is the root directory.
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
