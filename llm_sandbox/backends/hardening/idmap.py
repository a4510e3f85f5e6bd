"""Idmapped mounts (Linux 5.12): files of one user appear as files of another.

Through such a mount a sandbox has the rights of a folder's owner, and the files it creates belong
to that owner, whichever user it runs as. Only root can create one, on file systems that support it.

The calls are made in a process of their own: only a process with one thread can join a mount
namespace.
"""

import ctypes
import errno
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from llm_sandbox.guest import linux

__all__ = ["MappedFolder", "attach_to", "clone", "main", "move", "obstacle", "open_exactly"]

_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
"""Numbers of the system calls, equal on every supported architecture."""
_CLONE, _RECURSIVE, _EMPTY_PATH, _AT_FDCWD = 1, 0x8000, 0x1000, -100
_FROM_EMPTY_PATH = 0x4
_NO_LINKS = 0x4
_REPLACED = "a part of its path has become a link since it was checked"
_READ_ONLY, _NO_SUID, _NO_DEVICES, _ID_MAP = 0x1, 0x2, 0x4, 0x00100000
_ANYBODY = 65534
_WITHIN_S = 30.0

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class MappedFolder:
    """Specification of one idmapped mount."""

    source: str
    """Folder or file of this computer, without links in its path."""
    target: str
    """Mount point in the mount namespace that it is put into."""
    owner: tuple[int, int]
    """User and group on the disk."""
    seen: tuple[int, int]
    """User and group that they appear as inside."""
    read_only: bool
    """Whether the mount is read-only."""


def open_exactly(path: str) -> int:
    """Open a folder or file for a mount, following no link.

    The path was checked and had no links. A sandbox that may write to a parent folder could have
    put one there since, to get its target mounted, into itself or into another sandbox.

    Raises:
        OSError: The path has a link, or does not exist.
    """
    wanted = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _NO_LINKS)
    try:
        return _call(
            _OPENAT2, *(_AT_FDCWD, os.fsencode(path), wanted, len(wanted)), what=f"openat2 {path}"
        )
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, f"{path}: {_REPLACED}") from None
        raise


def clone(folder: MappedFolder) -> int:
    """Return the descriptor of a detached mount.

    Raises:
        OSError: The kernel refused, as the caller is not root or the file system does not support
            it; or the path has a link.
    """
    source = open_exactly(folder.source)
    try:
        tree = _call(
            _OPEN_TREE,
            *(source, b"", _CLONE | _RECURSIVE | _EMPTY_PATH | os.O_CLOEXEC),
            what=f"open_tree {folder.source}",
        )
    finally:
        os.close(source)
    users = -1
    try:
        users = _namespace(folder.owner, folder.seen)
        flags = _NO_SUID | _NO_DEVICES | _ID_MAP | (_READ_ONLY if folder.read_only else 0)
        wanted = struct.pack("=QQQQ", flags, 0, 0, users)
        _call(
            _MOUNT_SETATTR,
            *(tree, b"", _EMPTY_PATH | _RECURSIVE, wanted, len(wanted)),
            what=f"mount_setattr {folder.source}",
        )
    except BaseException:
        os.close(tree)
        raise
    finally:
        if users >= 0:
            os.close(users)
    return tree


def move(tree: int, target: str) -> None:
    """Attach a detached mount at a path, and close its descriptor.

    Raises:
        OSError: The kernel refused.
    """
    try:
        _call(
            _MOVE_MOUNT,
            *(tree, b"", _AT_FDCWD, os.fsencode(target), _FROM_EMPTY_PATH),
            what=f"move_mount {target}",
        )
    finally:
        os.close(tree)


def obstacle(path: str) -> str | None:
    """Return why a path cannot be mounted with another owner; None if it can.

    Args:
        path: Folder or file of this computer, without links in its path.

    Raises:
        SecurityError: The path has a link by now.
    """
    if os.geteuid() != 0:
        return "only root can map users of a mount"
    found = os.stat(path)
    return _obstacle(found.st_dev, path)


@lru_cache(maxsize=64)
def _obstacle(device: int, path: str) -> str | None:
    del device  # part of the cache key: another file system may be mounted there later
    folder = MappedFolder(path, "", (0, 0), (_ANYBODY, _ANYBODY), read_only=True)
    reason = _run({"folders": [asdict(folder)], "process": None})
    if reason is not None and reason.endswith(_REPLACED):
        # Imported here, as the process of `main` does not need it.
        from llm_sandbox.exceptions import SecurityError

        # Mounting by path instead would follow the link.
        raise SecurityError(reason, op="create", hint="check who may write to the folders above")
    return reason


def attach_to(process: int, folders: Sequence[MappedFolder]) -> str | None:
    """Create mounts in the mount namespace of a process.

    Args:
        process: Its id in this process's namespace; no program of a sandbox runs in it yet.
        folders: The mounts.

    Returns:
        Reason of a failure; None on success.
    """
    return _run({"folders": [asdict(folder) for folder in folders], "process": process})


def _run(plan: Mapping[str, object]) -> str | None:
    # Imported here, as the process of `main` does not need it.
    from llm_sandbox.backends.python_environment import module_command

    done = subprocess.run(
        module_command(__name__),
        input=json.dumps(plan).encode(),
        capture_output=True,
        timeout=_WITHIN_S,
        env={},
        check=False,
    )
    if done.returncode == 0:
        return None
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return words[-1] if words else f"the process ended with {done.returncode}"


def main() -> None:
    """Run the process that makes the calls. Its plan is standard input."""
    plan = json.load(sys.stdin)
    try:
        folders = [MappedFolder(**entry) for entry in plan["folders"]]
        trees = [clone(folder) for folder in folders]
        if plan["process"] is None:
            return
        namespace = os.open(f"/proc/{plan['process']}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        # Root and working directory become those of the namespace.
        linux.setns(namespace, linux.CLONE_NEWNS)
        for tree, folder in zip(trees, folders, strict=True):
            move(tree, folder.target)
    except OSError as error:
        sys.exit(str(error.args[-1]))  # written to standard error


def _namespace(owner: Sequence[int], seen: Sequence[int]) -> int:
    """Return the descriptor of a user namespace that maps `owner` inside to `seen` outside."""
    ready_read, ready_write = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            linux.unshare(linux.CLONE_NEWUSER)
            os.write(ready_write, b"1")
            signal.pause()
        finally:
            os._exit(1)
    try:
        os.close(ready_write)
        if os.read(ready_read, 1) != b"1":
            raise OSError(1, "a user namespace could not be made")
        for name, inside, outside in zip(("uid_map", "gid_map"), owner, seen, strict=True):
            with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
                file.write(f"{inside} {outside} 1")
        return os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready_read)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _call(number: int, *arguments: object, what: str) -> int:
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
