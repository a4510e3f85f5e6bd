"""Writable root of a machine: overlays whose upper layers lie in memory, over a read-only root.

Each of the given folders has an overlay of its own, so that the root itself stays read-only: a
program that could rename a folder of the root could replace the supervisor's code. All upper layers
lie in one file system, which is covered and so invisible for programs.
"""

from __future__ import annotations

import os
import stat

from . import linux
from .bulk import ChunkWriter, Connection
from .files import CHUNK
from .machine import run_in_child
from .mount_points import mount_path, open_beneath, open_mount_point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_STAGE = "/mnt"
_UPPER, _WORK = "upper", "work"
_SKELETON = 3
REFUSED = "a writable root is not possible here"
"""Start of the message when the kernel does not support it."""


def mount_root(spec: dict[str, Any], archive: int | None) -> int:
    """Mount the overlays, in the mount namespace of the calling process.

    Args:
        spec: ``places``, and ``size`` and ``inodes`` of all upper layers together.
        archive: Descriptor of an archive of another machine's upper layers; None for none.

    Returns:
        A descriptor of the folder of the upper layers.

    Raises:
        OSError: It is not supported, or the archive could not be unpacked.
    """
    # The kernel accesses an overlay with the rights of the process that mounted it.
    linux.use_capability(linux.CAP_DAC_OVERRIDE, True)
    options = f"size={spec['size']},nr_inodes={spec['inodes']},mode=755"
    linux.mount("tmpfs", _STAGE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
    for name in (_UPPER, _WORK):
        os.mkdir(f"{_STAGE}/{name}", 0o755)
    _check_attributes(f"{_STAGE}/{_UPPER}")
    if archive is not None:
        _unpack(archive, f"{_STAGE}/{_UPPER}")
    for path in spec["places"]:
        _mount_overlay(path)
    upper = os.open(f"{_STAGE}/{_UPPER}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    # Covered, which no program can undo: an unmount would wait for all processors, five times as
    # long as all the rest takes.
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_RDONLY
    linux.mount("tmpfs", _STAGE, "tmpfs", flags, "size=4k,mode=755")
    return upper


def _check_attributes(folder: str) -> None:
    try:
        os.setxattr(folder, "user.overlay.llm-sandbox", b"y")
        os.removexattr(folder, "user.overlay.llm-sandbox")
    except OSError as error:
        raise OSError(
            f"{REFUSED}: file systems in memory keep no attributes of users ({error.strerror}); "
            "Linux 6.6 and later can"
        ) from None


def _mount_overlay(folder: str) -> None:
    """Mount an overlay over a folder, and bind the mounts below the folder again."""
    # trust: the upper layer was packed from another sandbox.
    stage = os.open(_STAGE, os.O_PATH | os.O_CLOEXEC)
    upper = _make_beneath(stage, f"{_UPPER}{folder}")
    work = _make_beneath(stage, f"{_WORK}{folder}")
    _own_folders(folder, upper)
    below = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in _mounts_below(folder)]
    options = f"lowerdir={folder},upperdir={mount_path(upper)},workdir={mount_path(work)},userxattr"
    try:
        linux.mount("overlay", folder, "overlay", linux.MS_NOSUID | linux.MS_NODEV, options)
    except OSError as error:
        raise OSError(
            f"{REFUSED}: the kernel mounts no overlay in a user namespace ({error.strerror})"
        ) from None
    for path, fd in below:
        point = open_mount_point(path, is_folder=stat.S_ISDIR(os.fstat(fd).st_mode))
        linux.mount(mount_path(fd), mount_path(point), None, linux.MS_BIND)
        os.close(point)
        os.close(fd)
    for fd in (stage, upper, work):
        os.close(fd)


def _make_beneath(folder: int, path: str) -> int:
    """Open a folder below another one, following no link; make it where it is missing."""
    fd = os.dup(folder)
    for name in path.split("/"):
        try:
            os.mkdir(name, 0o755, dir_fd=fd)
        except FileExistsError:
            pass
        above, fd = fd, open_beneath(fd, name)
        os.close(above)
    return fd


def _own_folders(root: str, upper: int) -> None:
    """Make the folders below `root` belong to the programs' user, by folders in the upper layer.

    Only the first levels: a root with thousands of folders would take long.
    """
    for folder, names, _ in os.walk(root):
        below = folder[len(root) :].lstrip("/")
        if below and below.count("/") + 1 >= _SKELETON:
            names.clear()
        try:
            above = open_beneath(upper, below or ".")
        except OSError:
            names.clear()
            continue  # the saved sandbox had another kind of file there
        for name in names:
            if os.path.islink(os.path.join(folder, name)):
                continue
            try:
                os.mkdir(name, 0o755, dir_fd=above)
            except (FileExistsError, NotADirectoryError, FileNotFoundError):
                pass  # the saved sandbox had another kind of file there, or deleted the folder
        os.close(above)


def _mounts_below(root: str) -> list[str]:
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            path = line.split()[4].encode().decode("unicode_escape")
            if path.startswith(f"{root}/"):
                found.append(path)
    return sorted(found)


def _unpack(archive: int, folder: str) -> None:
    """Unpack an archive in a child with no more rights than programs have."""
    from . import archives

    def unpack() -> None:
        _drop_rights()
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with open(archive, "rb", closefd=False) as source:
            archives.Unpacker(root, layer=True).unpack(source)

    run_in_child(unpack, "the saved root could not be unpacked")


def send_root(upper: int, connection: Connection, limit: int) -> NoReturn:
    """Send the upper layers as an archive, and then a record, and exit; see `files`.

    Args:
        upper: Result of `mount_root`.
        connection: The connection to the host.
        limit: Bytes at most.
    """
    os.fchdir(upper)
    _drop_rights()
    reply: dict[str, Any] = {}
    failed = False
    try:
        import io

        from . import archives

        writer = io.BufferedWriter(ChunkWriter(connection, limit), CHUNK)
        archives.pack(".", "root", writer, layer=True, for_snapshot=True)
        writer.flush()
    except OSError as error:
        failed = True
        reply = {"errno": error.errno or 5, "message": error.strerror or str(error)}
    connection.end_chunks(failed=failed)
    connection.send_record(reply)
    os._exit(0)


def _drop_rights() -> None:
    linux.drop_bounding_set()
    linux.drop_all_capabilities()
    linux.set_no_new_privileges()
