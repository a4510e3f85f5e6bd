"""Volumes: folders of this user that outlive sandboxes and are shared by them."""

import contextlib
import os
import posixpath
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Self

from llm_sandbox.adapters.modal.app import refuse_environment
from llm_sandbox.adapters.modal.calls import Function, Listing, Method
from llm_sandbox.adapters.modal.exception import (
    AlreadyExistsError,
    InvalidError,
    NotFoundError,
    UnimplementedError,
)
from llm_sandbox.adapters.modal.translation import translated, translated_files
from llm_sandbox.exceptions import SandboxFileNotFoundError
from llm_sandbox.mounts import Volume as CoreVolume

__all__ = ["FileEntry", "FileEntryType", "Volume"]

_PIECE = 1 << 20


class FileEntryType(IntEnum):
    """Type of a `FileEntry`."""

    UNSPECIFIED = 0
    FILE = 1
    DIRECTORY = 2
    SYMLINK = 3
    FIFO = 4
    SOCKET = 5


_TYPES = {
    "file": FileEntryType.FILE,
    "folder": FileEntryType.DIRECTORY,
    "link": FileEntryType.SYMLINK,
}


@dataclass(frozen=True)
class FileEntry:
    """File or folder in a volume."""

    path: str
    """Path in the volume."""
    type: FileEntryType
    """Type of the entry."""
    mtime: int
    """Time of the last change, in seconds since 1970."""
    size: int
    """Size in bytes."""


class Volume:
    """Folder that outlives sandboxes. Created by `from_name` or `ephemeral`.

    A volume is a folder of this machine: what one sandbox writes, other sandboxes and this process
    see at once. `commit` and `reload` have no effect.
    """

    def __init__(self, core: CoreVolume) -> None:
        self._core = core

    def __repr__(self) -> str:
        return f"Volume({self._core.name!r})"

    @property
    def name(self) -> str:
        """Name of the volume."""
        return self._core.name

    @property
    def object_id(self) -> str:
        """Id of the volume, derived from its name."""
        return f"vo-{self._core.name}"

    @Function
    @staticmethod
    def from_name(
        name: str,
        *,
        environment_name: str | None = None,
        create_if_missing: bool = False,
        version: int | None = None,
        client: object = None,
    ) -> "Volume":
        """Return a volume by name.

        Args:
            name: 1 to 64 letters, digits, ``.``, ``_`` or ``-``.
            environment_name: None; there are no environments.
            create_if_missing: Whether to create a volume that does not exist.
            version: Version of Modal's file system; ignored.
            client: None; there is nothing to connect to.

        Raises:
            NotFoundError: The volume does not exist.
            InvalidError: The name is invalid.
        """
        del version
        refuse_environment(client, environment_name)
        with translated():
            core = CoreVolume(name)
            if create_if_missing:
                CoreVolume.create(name)
            elif not core.exists:
                raise NotFoundError(
                    f"there is no volume {name!r}",
                    hint=f"Volume.from_name({name!r}, create_if_missing=True)",
                )
        return Volume(core)

    @staticmethod
    def ephemeral(client: object = None, environment_name: str | None = None) -> "_Ephemeral":
        """Return a context manager, for ``with`` or ``async with``, of a volume that is deleted at
        the end of the block.
        """
        refuse_environment(client, environment_name)
        return _Ephemeral()

    @Function
    @staticmethod
    def delete(name: str, *, client: object = None, environment_name: str | None = None) -> None:
        """Delete a volume and its files.

        Raises:
            NotFoundError: The volume does not exist.
            ExecutionError: A sandbox uses the volume.
        """
        refuse_environment(client, environment_name)
        with translated():
            try:
                CoreVolume.delete(name)
            except SandboxFileNotFoundError:
                raise NotFoundError(f"there is no volume {name!r}") from None

    def read_only(self) -> "Volume":
        """Return the same volume as read-only for sandboxes."""
        return Volume(CoreVolume(self._core.name, read_only=True))

    def with_mount_options(
        self, *, read_only: bool | None = None, sub_path: str | PurePosixPath | None = None
    ) -> "Volume":
        """Return the same volume with other options.

        Raises:
            UnimplementedError: `sub_path` is given.
        """
        if sub_path is not None:
            raise UnimplementedError(
                "Volume.with_mount_options(sub_path=)", None, "a volume is mounted as a whole"
            )
        return self if read_only is None else Volume(CoreVolume(self.name, read_only=read_only))

    @Method
    def commit(self) -> None:
        """Return at once: writes need no commit."""

    @Method
    def reload(self) -> None:
        """Return at once: writes of others are already visible."""

    @Method
    def listdir(self, path: str, *, recursive: bool = False) -> list[FileEntry]:
        """Return the entries of a folder of the volume.

        Raises:
            SandboxFilesystemNotFoundError: The path does not exist.
        """
        with translated_files():
            found = self._core.files.list(path, recursive=recursive)
        return [
            FileEntry(
                entry.path,
                _TYPES.get(entry.kind, FileEntryType.UNSPECIFIED),
                int(entry.mtime),
                entry.size,
            )
            for entry in found
        ]

    @property
    def iterdir(self) -> Listing[..., FileEntry]:
        """Iterator over the entries of a folder; recursive by default. See `listdir`."""

        def iterate(path: str, *, recursive: bool = True) -> Iterator[FileEntry]:
            return iter(self.listdir(path, recursive=recursive))

        return Listing(iterate)

    @property
    def read_file(self) -> Listing[[str], bytes]:
        """Iterator over the content of a file in chunks.

        Raises:
            SandboxFilesystemNotFoundError: The path does not exist.
        """

        def read(path: str) -> Iterator[bytes]:
            with translated_files():
                data = self._core.files.get(path)
            return iter([data[at : at + _PIECE] for at in range(0, len(data), _PIECE)])

        return Listing(read)

    @Method
    def read_file_into_fileobj(self, path: str, fileobj: IO[bytes]) -> int:
        """Copy the content of a file to a file object, and return the number of bytes."""
        with translated_files():
            data = self._core.files.get(path)
        fileobj.write(data)
        return len(data)

    @Method
    def remove_file(self, path: str, recursive: bool = False) -> None:
        """Delete a file; with `recursive`, a folder and its contents."""
        with translated_files():
            self._core.files.remove(path, recursive=recursive)

    @Method
    def copy_files(self, src_paths: Sequence[str], dst_path: str, recursive: bool = False) -> None:
        """Copy files within the volume.

        Args:
            src_paths: Source files; with `recursive`, also folders.
            dst_path: Target folder; or the new path of a single file.
            recursive: Whether folders are copied.
        """
        with translated_files():
            files = self._core.files
            into = len(src_paths) > 1 or dst_path.endswith("/") or self._is_folder(dst_path)
            for source in src_paths:
                base = source.strip("/")
                target = f"{dst_path}/{posixpath.basename(base)}" if into else dst_path
                if not self._is_folder(source):
                    files.put(target, files.get(source))
                    continue
                if not recursive:
                    raise InvalidError(f"{source!r} is a folder", hint="recursive=True copies it")
                for entry in files.list(source, recursive=True):
                    if entry.kind == "file":
                        inside = entry.path[len(base) :].lstrip("/")
                        files.put(f"{target}/{inside}", files.get(entry.path))

    def _is_folder(self, path: str) -> bool:
        name = path.strip("/")
        if not name:
            return True
        parent, _, _ = name.rpartition("/")
        with contextlib.suppress(SandboxFileNotFoundError):
            return any(
                entry.path == name and entry.kind == "folder"
                for entry in self._core.files.list(parent)
            )
        return False

    def batch_upload(self, force: bool = False) -> "_Upload":
        """Return a context manager, for ``with`` or ``async with``, that collects files of this
        machine and copies them into the volume at the end of the block.

        Args:
            force: Whether existing files are replaced.
        """
        return _Upload(self, force=force)


class _Ephemeral:
    def __enter__(self) -> Volume:
        self._name = f"ephemeral-{secrets.token_hex(8)}"
        return Volume.from_name(self._name, create_if_missing=True)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        Volume.delete(self._name)

    async def __aenter__(self) -> Volume:
        return await Function(self.__enter__).aio()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await Function(self.__exit__).aio(exc_type, exc_val, exc_tb)


class _Upload:
    def __init__(self, volume: Volume, *, force: bool) -> None:
        self._volume = volume
        self._force = force
        self._files: list[tuple[Path | bytes, str]] = []

    def put_file(self, local_file: str | os.PathLike[str] | IO[bytes], remote_path: str) -> None:
        """Add a file, by path or as an open binary file."""
        given: Path | bytes
        if isinstance(local_file, (str, os.PathLike)):
            given = Path(local_file)
            if not given.is_file():
                raise FileNotFoundError(f"there is no file {given}")
        else:
            given = local_file.read()
        self._files.append((given, remote_path))

    def put_directory(
        self, local_path: str | os.PathLike[str], remote_path: str, recursive: bool = True
    ) -> None:
        """Add the files of a folder, with `recursive` also those of its subfolders."""
        folder = Path(local_path)
        if not folder.is_dir():
            raise NotADirectoryError(f"there is no folder {folder}")
        for path in sorted(folder.rglob("*") if recursive else folder.iterdir()):
            if path.is_file():
                inside = path.relative_to(folder).as_posix()
                self._files.append((path, f"{remote_path.rstrip('/')}/{inside}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if exc_type is not None:
            return
        files = self._volume._core.files
        with translated_files():
            if not self._force:
                there = {entry.path for entry in files.list("/", recursive=True)}
                for _, path in self._files:
                    if path.strip("/") in there:
                        raise AlreadyExistsError(
                            f"the volume has {path!r} already", hint="batch_upload(force=True)"
                        )
            for content, path in self._files:
                files.put(path, content if isinstance(content, bytes) else content.read_bytes())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await Function(self.__exit__).aio(exc_type, exc_val, exc_tb)
