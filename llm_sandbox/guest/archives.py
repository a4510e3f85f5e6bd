"""Tar archives of untrusted trees: packing, and unpacking that treats the archive as hostile.

The members of an archive lie below its first one, a folder. As in the kernel's overlays, a file
that was deleted from a lower layer is a character device 0/0, and a folder that hides the one below
it has an extended attribute.
"""

from __future__ import annotations

import errno
import os
import stat
import tarfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

_DEEPEST = 128
_MOST_ENTRIES = 1_000_000
_PIECE = 1 << 18
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OPAQUE = "user.overlay.opaque"
"""Attribute of a folder that hides the folder of a lower layer."""
_PAX_OPAQUE = f"SCHILY.xattr.{OPAQUE}"


def pack(
    path: str, name: str, target: Any, *, layer: bool = False, for_snapshot: bool = False
) -> None:
    """Write a file or folder as an archive.

    Args:
        path: The file or folder.
        name: Its name in the archive.
        target: File object to which the archive is written, a piece at a time.
        layer: Whether it is the upper layer of an overlay, whose marks are packed as well.
        for_snapshot: Whether other mounts below it and the owners of the files are left out.
    """
    device = os.lstat(path).st_dev
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as archive:

        def chosen(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
            # Hard links are packed as separate files.
            archive.inodes.clear()  # type: ignore[attr-defined]
            # Not by `relpath`, which needs the working directory: that may have no path.
            inside = os.path.join(path, member.name[len(name) :].lstrip("/"))
            if for_snapshot:
                if os.lstat(inside).st_dev != device:
                    return None
                member.uid = member.gid = 0
                member.uname = member.gname = ""
            if layer and member.isdir() and _is_opaque(inside):
                member.pax_headers = {_PAX_OPAQUE: "y"}
            if member.isreg() or member.isdir() or member.issym():
                return member
            # Devices, pipes and sockets could block, or are meaningless outside.
            return member if layer and _is_whiteout(member) else None

        archive.add(path, arcname=name, recursive=True, filter=chosen)


def _is_whiteout(member: tarfile.TarInfo) -> bool:
    return member.ischr() and member.devmajor == 0 and member.devminor == 0


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False


class Unpacker:
    """Unpacker into one folder, with the rights of the calling process.

    No link is followed, and only files, folders and symbolic links are made. Owners and
    set-user-id bits are not restored.

    Args:
        folder: The folder, open.
        layer: Whether it becomes a layer of an overlay, so that its marks are made.
    """

    def __init__(self, folder: int, *, layer: bool = False) -> None:
        self._root = folder
        self._layer = layer
        self._folders: list[tuple[list[str], int, float]] = []

    def unpack(self, source: BinaryIO) -> None:
        """Unpack an archive.

        Raises:
            OSError: It could not be unpacked whole, or it is hostile.
        """
        # trust: the archive has names and contents of a sandbox; names are walked part by part.
        try:
            with tarfile.open(fileobj=source, mode="r|") as archive:
                for number, member in enumerate(archive):
                    if number > _MOST_ENTRIES:
                        raise _refused("it has too many files")
                    self._place(archive, member, first=number == 0)
        except tarfile.TarError as error:
            raise _refused(f"it is not a tar archive: {error}") from None
        # Last, because a read-only folder could not be filled.
        for parts, mode, mtime in reversed(self._folders):
            folder = self._walk(parts)
            try:
                os.fchmod(folder, mode)
                os.utime(folder, (mtime, mtime))
            finally:
                os.close(folder)

    def _place(self, archive: tarfile.TarFile, member: tarfile.TarInfo, *, first: bool) -> None:
        parts = _parts(member.name)
        if first:
            if not member.isdir():
                raise _refused("it does not begin with a folder")
            self._top = parts
            return
        if parts[: len(self._top)] != self._top or len(parts) == len(self._top):
            raise _refused("it has a path that leads out of it")
        parts = parts[len(self._top) :]
        if member.isdir():
            self._make_folder(parts, member)
            return
        folder = self._walk(parts[:-1])
        try:
            _clear(parts[-1], folder)
            self._make(archive, member, parts[-1], folder)
        finally:
            os.close(folder)

    def _make_folder(self, parts: list[str], member: tarfile.TarInfo) -> None:
        folder = self._walk(parts)
        try:
            if self._layer and member.pax_headers.get(_PAX_OPAQUE) == "y":
                os.setxattr(folder, OPAQUE, b"y")
        finally:
            os.close(folder)
        self._folders.append((parts, member.mode & 0o1777, member.mtime))

    def _make(
        self, archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, folder: int
    ) -> None:
        if member.issym():
            if not member.linkname or "\0" in member.linkname:
                raise _refused("it has a link without a target")
            os.symlink(member.linkname, name, dir_fd=folder)
            os.utime(name, (member.mtime,) * 2, dir_fd=folder, follow_symlinks=False)
        elif member.issparse():
            raise _refused("it has a file that is larger than what the archive holds of it")
        elif member.isreg():
            fd = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
            try:
                for piece in _content(archive, member):
                    view = memoryview(piece)
                    while view:
                        view = view[os.write(fd, view) :]
                os.fchmod(fd, member.mode & 0o777)
                os.utime(fd, (member.mtime,) * 2)
            finally:
                os.close(fd)
        elif self._layer and _is_whiteout(member):
            os.mknod(name, stat.S_IFCHR, 0, dir_fd=folder)
        else:
            raise _refused("it has what is neither a file, a folder nor a link")

    def _walk(self, parts: list[str]) -> int:
        """Open a folder, making it where it is missing."""
        parent = os.dup(self._root)
        try:
            for part in parts:
                try:
                    below = os.open(part, _FOLDER, dir_fd=parent)
                except FileNotFoundError:
                    os.mkdir(part, 0o755, dir_fd=parent)
                    below = os.open(part, _FOLDER, dir_fd=parent)
                except OSError as error:
                    if error.errno in (errno.ELOOP, errno.ENOTDIR):
                        raise _refused("a link or a file is in the way of a folder") from None
                    raise
                os.close(parent)
                parent = below
        except BaseException:
            os.close(parent)
            raise
        return parent


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or "\0" in name or len(parts) > _DEEPEST:
        raise _refused("it has a path that leads out of it")
    return [part for part in parts if part not in ("", ".")]


def _clear(name: str, folder: int) -> None:
    """Remove a file of that name; a folder stays, and the member fails."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    content = archive.extractfile(member)
    left = member.size
    while left:
        piece = content.read(min(left, _PIECE)) if content is not None else b""
        if not piece:
            raise _refused("it is cut short")
        left -= len(piece)
        yield piece


def _refused(why: str) -> OSError:
    return OSError(errno.EINVAL, f"the archive is not acceptable: {why}")
