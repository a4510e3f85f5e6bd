"""Mounts in which what belongs to one user appears as another's (idmapped mounts, Linux 5.12).

Through such a mount a sandbox has the rights of a folder's owner, and what it makes belongs to that
owner, whichever user it runs as itself. Only root can make one, of file systems that know them.

The calls are made in a process of their own: joining a mount namespace takes a process with one
thread.
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
from pathlib import Path

from llm_sandbox.guest import linux

__all__ = ["MappedFolder", "attach_to", "clone", "main", "move", "obstacle", "open_exactly"]

_OPEN_TREE, _MOVE_MOUNT, _OPENAT2, _MOUNT_SETATTR = 428, 429, 437, 442
"""The same numbers on every architecture that we run on."""
_CLONE, _RECURSIVE, _EMPTY_PATH, _AT_FDCWD = 1, 0x8000, 0x1000, -100
_FROM_EMPTY_PATH = 0x4
_NO_LINKS = 0x4
_REPLACED = "a part of its path has become a link since it was judged"
_READ_ONLY, _NO_SUID, _NO_DEVICES, _ID_MAP = 0x1, 0x2, 0x4, 0x00100000
_ANYBODY = 65534
_WITHIN_S = 30.0

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class MappedFolder:
    """What one mount is to be."""

    source: str
    """A folder or file of this computer, without links in its path."""
    target: str
    """Where it is put, as the process sees it in whose mount namespace it is put."""
    owner: tuple[int, int]
    """User and group on the disk."""
    seen: tuple[int, int]
    """User and group that those are inside."""
    read_only: bool
    """Whether it cannot be written."""


def open_exactly(path: str) -> int:
    """Open a folder or file to be mounted, following no link.

    What was judged is a path without links. A sandbox that may write to a folder above could put
    one there since, to be given what it leads to, or to have another sandbox given that.

    Raises:
        OSError: There is a link in the path, or nothing at its end.
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
    """Return a descriptor of a mount that is nowhere yet.

    Raises:
        OSError: The kernel refuses: the caller is not root, or the file system cannot; or there is
            a link in the path.
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
    """Put a mount where it is seen, and close its descriptor.

    Raises:
        OSError: The kernel refuses.
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
    """Say why a folder cannot be mounted so; None if it can.

    Args:
        path: A folder or file of this computer, without links in its path.

    Raises:
        SecurityError: There is a link in its path by now.
    """
    if os.geteuid() != 0:
        return "only root can map users of a mount"
    found = os.stat(path)
    return _obstacle(found.st_dev, path)


@lru_cache(maxsize=64)
def _obstacle(device: int, path: str) -> str | None:
    del device  # what is known of a path holds for the file system that is there
    folder = MappedFolder(path, "", (0, 0), (_ANYBODY, _ANYBODY), read_only=True)
    reason = _run({"folders": [asdict(folder)], "process": None})
    if reason is not None and reason.endswith(_REPLACED):
        # Not for the process of its own, which would load all errors for nothing.
        from llm_sandbox.exceptions import SecurityError

        # Not to be mounted by its path instead, which would follow it.
        raise SecurityError(reason, op="create", hint="look at who may write to the folders above")
    return reason


def attach_to(process: int, folders: Sequence[MappedFolder]) -> str | None:
    """Put mounts into the mount namespace of a process, over what is there.

    Args:
        process: Its number, as this process sees it; no program of a sandbox runs there yet.
        folders: The mounts.

    Returns:
        Why it could not be done; None if it was.
    """
    return _run({"folders": [asdict(folder) for folder in folders], "process": process})


def _run(plan: Mapping[str, object]) -> str | None:
    package = Path(__file__).resolve().parents[3]
    code = (
        f"import sys; sys.path.insert(0, {str(package)!r}); "
        "from llm_sandbox.backends.hardening import idmap; idmap.main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
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
    """Entry point of the process of its own: the plan is its standard input."""
    plan = json.load(sys.stdin)
    try:
        folders = [MappedFolder(**entry) for entry in plan["folders"]]
        trees = [clone(folder) for folder in folders]
        if plan["process"] is None:
            return
        namespace = os.open(f"/proc/{plan['process']}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        # The root and the working directory become those of the namespace.
        linux.setns(namespace, linux.CLONE_NEWNS)
        for tree, folder in zip(trees, folders, strict=True):
            move(tree, folder.target)
    except OSError as error:
        sys.exit(str(error.args[-1]))  # which it writes to standard error


def _namespace(owner: Sequence[int], seen: Sequence[int]) -> int:
    """A descriptor of a user namespace in which `owner` is what `seen` is outside."""
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
