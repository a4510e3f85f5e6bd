"""Making an installed folder fit to be shared: files and folders only, all of them ours, and named
by their content.
"""

import hashlib
import os
import stat
from collections.abc import Set as AbstractSet
from pathlib import Path

from llm_sandbox.exceptions import LibraryInstallationError

__all__ = ["LAYER_FORMAT", "seal"]

LAYER_FORMAT = "llm-sandbox layer 1"
_CACHES = frozenset({"__pycache__"})


def seal(folder: Path, stamp: str, caches: AbstractSet[str] = _CACHES) -> str:
    """Make every file world-readable and ours.

    Args:
        folder: What was installed.
        stamp: What sets it apart from others of the same content.
        caches: Names of folders that are not counted: what is in them was made by us from what is
            counted. Byte code of Python, by default.

    Returns:
        The digest of its content.

    Raises:
        LibraryInstallationError: There is a link in it, or something else that is no file.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise _hostile(folder.name)
    lines = []
    # trust: the tree was written inside; it is walked by descriptors, and no link is followed.
    for path, folders, names, fd in os.fwalk(folder):
        relative = os.path.relpath(path, folder)
        for name in folders:
            if not stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
                raise _hostile(name)
        _own(fd, 0o755)
        counted = caches.isdisjoint(Path(relative).parts)
        for name in names:
            executable, content = _seal_file(name, fd)
            if counted:
                lines.append(f"{relative}/{name}\0{executable}\0{content}\0")
    header = f"{LAYER_FORMAT}\0{stamp}\0"
    text = header + "".join(sorted(lines))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _seal_file(name: str, folder: int) -> tuple[bool, str]:
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        raise _hostile(name) from error
    with os.fdopen(fd, "rb") as file:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            raise _hostile(name)
        executable = bool(mode & 0o100)
        _own(fd, 0o755 if executable else 0o644)
        return executable, hashlib.file_digest(file, "sha256").hexdigest()


def _own(fd: int, mode: int) -> None:
    if os.geteuid() == 0:
        os.fchown(fd, 0, 0)
    os.fchmod(fd, mode)  # after the owner: a change of owner drops bits, and this sets them all


def _hostile(name: str) -> LibraryInstallationError:
    return LibraryInstallationError(
        f"the installed files hold {name!r}, which is neither a file nor a folder", op="install"
    )
