"""Mount points: folders and files opened without following links of programs.

Files of another sandbox in a writable root are hostile: a link in the path of a mount point would
let the mount cover the link's target.
"""

from __future__ import annotations

import errno
import os
import stat

from . import linux
from .constants import LINK_IN_MOUNT_PATH

_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 8


def open_beneath(folder: int, path: str) -> int:
    """Open a relative path, following no link.

    Raises:
        OSError: A part of the path is a link (ELOOP), or is missing.
    """
    fd = os.dup(folder)
    for name in path.split("/"):
        fd = _step(fd, name, path)
    return fd


def open_mount_point(path: str, *, is_folder: bool = True) -> int:
    """Open a mount point in the calling process's root; create it where it is missing.

    Links on the root's own file system, such as ``/var/tmp``, are followed: it is read-only for
    programs. No other link is.

    Args:
        path: Absolute, normalised.
        is_folder: Whether it is a folder, or a file.

    Returns:
        A descriptor (O_PATH): mount on ``mount_path`` of it, then close it.

    Raises:
        OSError: A part of the path is a link that a program may have made (ELOOP), or it cannot be
            created.
    """
    names = path.strip("/").split("/")
    root = fd = os.open("/", _PATH)
    device = os.fstat(root).st_dev
    links = 0
    try:
        while names:
            name = names.pop(0)
            missing = _missing(fd, name)
            if missing:
                _make(fd, name, is_folder=is_folder or bool(names))
            elif links < _MOST_LINKS and (target := _own_link(fd, name, device)) is not None:
                links += 1
                names = [*target.strip("/").split("/"), *names]
                if target.startswith("/"):
                    fd = _replace(fd, os.dup(root), root)
                continue
            fd = _replace(fd, _step(os.dup(fd), name, path), root)
        kind = os.fstat(fd).st_mode
        if stat.S_ISDIR(kind) != is_folder:
            raise OSError(errno.ENOTDIR if is_folder else errno.EISDIR, f"cannot mount at {path}")
        return os.dup(fd)
    finally:
        for one in {root, fd}:
            os.close(one)


def mount_path(fd: int) -> str:
    """Return a path to the file behind a descriptor, independent of the file's own path."""
    return f"/proc/self/fd/{fd}"


def _step(folder: int, name: str, path: str) -> int:
    """Open an entry of a folder, and close the folder."""
    try:
        fd = os.open(name, _PATH, dir_fd=folder)
    except OSError as error:
        raise OSError(error.errno, f"{path}: {error.strerror}") from None
    finally:
        os.close(folder)
    if stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.ELOOP, f"{LINK_IN_MOUNT_PATH}: {name} of {path}")
    return fd


def _replace(old: int, new: int, keep_open: int) -> int:
    if old != keep_open:
        os.close(old)
    return new


def _missing(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return True
    return False


def _own_link(folder: int, name: str, device: int) -> str | None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode) or found.st_dev != device:
        return None
    return os.readlink(name, dir_fd=folder)


def _make(folder: int, name: str, *, is_folder: bool) -> None:
    """Create an entry, also on the root's own file system, which is read-only."""
    flags = linux.MS_BIND | linux.MS_REMOUNT | linux.MS_NOSUID | linux.MS_NODEV
    linux.mount(None, "/", None, flags)
    try:
        if is_folder:
            os.mkdir(name, 0o755, dir_fd=folder)
        else:
            open_flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(name, open_flags, 0o644, dir_fd=folder))
    finally:
        linux.mount(None, "/", None, flags | linux.MS_RDONLY)
