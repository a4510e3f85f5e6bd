"""Archives that are not trusted, unpacked into a folder: tar, and the packages of Debian.

Files, folders and symbolic links are made below the folder and nowhere else; a link is never
followed on the way. Owners, times and every other right than to execute are not taken over.
"""

import contextlib
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.packages.debian_archive import open_files
from llm_sandbox.packages.processes import LARGEST_LAYER
from llm_sandbox.packages.tar_archive import Entry, Stream, read_tar

__all__ = ["Unpacker"]

_MOST_ENTRIES = 1_000_000
_DEEPEST = 60
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MERGED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_UNUSED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/lintian",
    "usr/share/bug",
    "usr/share/doc-base",
)


class Unpacker:
    """Unpacks into one folder.

    Args:
        root: The folder; it is made if it is absent.
        largest: Bytes of all files together; 8 GiB.
    """

    def __init__(self, root: Path, largest: int = LARGEST_LAYER) -> None:
        root.mkdir(exist_ok=True)
        self._root = root
        self._left = largest
        self._entries = _MOST_ENTRIES

    def unpack_package(self, package: Path) -> list[str]:
        """Unpack the files that a Debian package has below /usr and /opt.

        Returns:
            Their paths, below the folder.

        Raises:
            LibraryInstallationError: It is not a package, or it is hostile.
        """
        with _refusing(package.name), package.open("rb") as file, open_files(file) as data:
            return self._unpack(data, _place_of_system)

    def unpack_tar(self, archive: Path) -> list[str]:
        """Unpack a tar archive that is not compressed.

        Returns:
            Paths of its files, below the folder.

        Raises:
            LibraryInstallationError: It is not an archive, or it is hostile.
        """
        with _refusing(archive.name), archive.open("rb") as file:
            return self._unpack(file, lambda parts: parts)

    def _unpack(
        self, stream: Stream, place_of: Callable[[list[str]], list[str] | None]
    ) -> list[str]:
        made = []
        root = os.open(self._root, _FOLDER)
        try:
            for entry, content in read_tar(stream):
                self._entries -= 1
                if self._entries < 0:
                    raise ValueError("it has too many files")
                parts = place_of(_parts(entry.path))
                if not parts:
                    continue
                if entry.kind == "folder":
                    os.close(_walk(root, parts))
                elif entry.kind != "other":
                    folder = _walk(root, parts[:-1])
                    try:
                        self._make(root, folder, parts[-1], entry, content, place_of)
                    finally:
                        os.close(folder)
                    made.append("/".join(parts))
        finally:
            os.close(root)
        return made

    def _make(
        self,
        root: int,
        folder: int,
        name: str,
        entry: Entry,
        content: Iterator[bytes],
        place_of: Callable[[list[str]], list[str] | None],
    ) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        if entry.kind == "symlink":
            os.symlink(entry.target, name, dir_fd=folder)
            return
        if entry.kind == "hardlink":
            there = place_of(_parts(entry.target))
            if not there:
                raise ValueError("it has a link that leads out of it")
            source = _walk(root, there[:-1])
            try:
                os.link(
                    there[-1], name, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False
                )
            finally:
                os.close(source)
            return
        self._left -= entry.size
        if self._left < 0:
            raise ValueError("it is larger than the limit")
        fd = os.open(name, _NEW, 0o755 if entry.is_program else 0o644, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            for piece in content:
                file.write(piece)


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or len(parts) > _DEEPEST or "\0" in path:
        raise ValueError("it has a path that leads out of it")
    return parts


def _place_of_system(parts: list[str]) -> list[str] | None:
    """Where a file of a system goes, whose /lib and others are links to those below /usr."""
    if parts and parts[0] in _MERGED:
        parts = ["usr", *parts]
    if not parts or parts[0] not in ("usr", "opt"):
        return None
    path = "/".join(parts)
    unused = any(path == name or path.startswith(f"{name}/") for name in _UNUSED)
    return None if unused else parts


def _walk(root: int, parts: list[str]) -> int:
    here = os.dup(root)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


@contextlib.contextmanager
def _refusing(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        reason = str(error) if isinstance(error, ValueError) else "it could not be unpacked"
        raise LibraryInstallationError(
            f"{name} is not acceptable: {reason}", output=str(error), op="install"
        ) from error
