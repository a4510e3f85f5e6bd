"""The writable root of a machine: what programs change lies in memory, over what is read-only.

Each of some places has an overlay of its own, so that the root itself stays as it is: a program
that could rename a folder of the root could put its own code where the supervisor's is found. All
upper layers lie in one file system, which no program sees once it is covered.
"""

from __future__ import annotations

import os
import stat

from . import linux
from .bulk import ChunkWriter, Connection
from .files import CHUNK
from .mount_points import mount_path, open_beneath, open_mount_point

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be a tenth of the supervisor's start
    from typing import Any, NoReturn

_STAGE = "/mnt"
_UPPER, _WORK = "upper", "work"
_SKELETON = 3
REFUSED = "a writable root is not possible here"
"""How the message begins when the kernel cannot do it."""


def mount_root(wanted: dict[str, Any], archive: int | None) -> int:
    """Make the overlays, in the mount namespace of the calling process.

    Args:
        wanted: ``places``, and ``size`` and ``inodes`` of what may change in all of them.
        archive: Descriptor of what another machine's upper layers were packed as; None for none.

    Returns:
        A descriptor of the folder that has the upper layers.

    Raises:
        OSError: It is not possible, or the archive could not be unpacked.
    """
    # The kernel does its own work in an overlay with the rights of who has mounted it.
    linux.use_capability(linux.CAP_DAC_OVERRIDE, True)
    options = f"size={wanted['size']},nr_inodes={wanted['inodes']},mode=755"
    linux.mount("tmpfs", _STAGE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
    for name in (_UPPER, _WORK):
        os.mkdir(f"{_STAGE}/{name}", 0o755)
    _prove_attributes(f"{_STAGE}/{_UPPER}")
    if archive is not None:
        _unpack(archive, f"{_STAGE}/{_UPPER}")
    for place in wanted["places"]:
        _cover(place)
    upper = os.open(f"{_STAGE}/{_UPPER}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    # Covered, which nobody in the machine can undo: to unmount it, the kernel would wait for all of
    # its processors, five times as long as for all the rest.
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_RDONLY
    linux.mount("tmpfs", _STAGE, "tmpfs", flags, "size=4k,mode=755")
    return upper


def _prove_attributes(folder: str) -> None:
    try:
        os.setxattr(folder, "user.overlay.llm-sandbox", b"y")
        os.removexattr(folder, "user.overlay.llm-sandbox")
    except OSError as error:
        raise OSError(
            f"{REFUSED}: file systems in memory keep no attributes of users ({error.strerror}); "
            "Linux 6.6 and later can"
        ) from None


def _cover(place: str) -> None:
    """Mount an overlay over a place, and what is mounted below it over that."""
    # trust: what is in an upper layer was packed of another sandbox.
    stage = os.open(_STAGE, os.O_PATH | os.O_CLOEXEC)
    upper = _make_beneath(stage, f"{_UPPER}{place}")
    work = _make_beneath(stage, f"{_WORK}{place}")
    _own_folders(place, upper)
    below = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in _mounts_below(place)]
    options = f"lowerdir={place},upperdir={mount_path(upper)},workdir={mount_path(work)},userxattr"
    try:
        linux.mount("overlay", place, "overlay", linux.MS_NOSUID | linux.MS_NODEV, options)
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
    """Open a folder below another one, following no link; it is made where it is missing."""
    fd = os.dup(folder)
    for name in path.split("/"):
        try:
            os.mkdir(name, 0o755, dir_fd=fd)
        except FileExistsError:
            pass
        above, fd = fd, open_beneath(fd, name)
        os.close(above)
    return fd


def _own_folders(place: str, upper: int) -> None:
    """Have the folders of a place belong to its programs' user: what is in the upper layer counts.

    Only the first levels: a place with thousands of folders would take its time.
    """
    for folder, names, _ in os.walk(place):
        below = folder[len(place) :].lstrip("/")
        if below and below.count("/") + 1 >= _SKELETON:
            names.clear()
        try:
            above = open_beneath(upper, below or ".")
        except OSError:
            names.clear()
            continue  # the sandbox that was saved had something else there
        for name in names:
            if os.path.islink(os.path.join(folder, name)):
                continue
            try:
                os.mkdir(name, 0o755, dir_fd=above)
            except (FileExistsError, NotADirectoryError, FileNotFoundError):
                pass  # the sandbox that was saved had something else there, or nothing
        os.close(above)


def _mounts_below(place: str) -> list[str]:
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            path = line.split()[4].encode().decode("unicode_escape")
            if path.startswith(f"{place}/"):
                found.append(path)
    return sorted(found)


def _unpack(archive: int, folder: str) -> None:
    """Unpack as one who may do no more than programs may."""
    from . import archives

    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            _give_up()
            root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            with open(archive, "rb", closefd=False) as source:
                archives.Unpacker(root, layer=True).unpack(source)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            os.write(write, str(error).encode()[:1000])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as report:
        words = report.read()
    os.waitpid(pid, 0)
    if words:
        raise OSError(f"the saved root could not be unpacked: {words.decode('utf-8', 'replace')}")


def send_root(upper: int, connection: Connection, limit: int) -> NoReturn:
    """Be the process that sends upper layers as an archive, and then a record; see `files`.

    Args:
        upper: What `mount_root` returned.
        connection: The connection to the host.
        limit: Bytes at most.
    """
    os.fchdir(upper)
    _give_up()
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


def _give_up() -> None:
    linux.drop_bounding_set()
    linux.drop_all_capabilities()
    linux.set_no_new_privileges()
