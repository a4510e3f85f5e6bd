"""File service: reads and writes a machine's files for the host, as the machine's user.

It runs inside the machine, confined like user code, so that a link or a race can lead it only where
user code could go anyway. The host sends a record, then the operation's bulk if it has any; the
service sends its bulk if it has any, then a record, which has an ``errno`` if the operation failed.

A tree is a sequence of records ``{"path", "kind", "mode", "target"}``, parents first, each file's
followed by its chunks, ended by an empty record.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import socket
import stat
from collections.abc import Callable, Iterator

from . import changes
from .bulk import ChunkReader, ChunkWriter, Connection, Record

CHUNK = 1 << 18
_MAX_ENTRIES = 100_000
_MAX_DEPTH = 64


def serve(sock: socket.socket) -> None:
    """Answer requests until the host hangs up."""
    connection = changes.WatchingConnection(sock)
    os.umask(0o022)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request = connection.receive_record()
            try:
                reply = OPERATIONS[request.pop("op")](connection, **request)
            except OSError as error:
                reply = {"errno": error.errno or 5, "message": error.strerror or str(error)}
            connection.send_record(reply)


# --- operations


def _ping(connection: Connection, path: str) -> Record:
    return {}


def _read(connection: Connection, path: str, limit: int) -> Record:
    with _sending(connection), open(_open_regular(path), "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise OSError(errno.EFBIG, f"it has {size} bytes, over the limit of {limit}")
        _send_content(connection, file, limit)
    return {}


@contextlib.contextmanager
def _sending(connection: Connection) -> Iterator[None]:
    """End the bulk that the block sends, as complete or as failed."""
    try:
        yield
    except OSError:
        connection.end_chunks(failed=True)
        raise
    connection.end_chunks()


def _send_content(connection: Connection, file: io.RawIOBase | io.FileIO, limit: int) -> int:
    left = limit
    while data := file.read(CHUNK):
        left -= len(data)
        if left < 0:
            raise OSError(errno.EFBIG, "it is over the size limit")
        connection.send_chunk(data)
    return limit - left


def _open_regular(path: str, flags: int = 0, folder: int | None = None) -> int:
    # Not blocking: opening a FIFO for reading would wait for its writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags, dir_fd=folder)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is not a regular file")


def _write(
    connection: Connection, path: str, append: bool, exclusive: bool, parents: bool, mode: int
) -> Record:
    chunks = connection.chunks()
    written = 0
    try:
        if parents and (parent := os.path.dirname(path)):
            os.makedirs(parent, exist_ok=True)
        fd = _create(path, mode, append=append, exclusive=exclusive)
        try:
            for data in chunks:
                _write_all(fd, data)
                written += len(data)
        finally:
            os.close(fd)
    finally:
        for _ in chunks:
            pass
    return {"size": written}


def _create(
    path: str, mode: int, *, append: bool = False, exclusive: bool = False, follow: bool = True
) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    flags |= (os.O_APPEND if append else 0) | (0 if follow else os.O_NOFOLLOW)
    try:
        fd = os.open(path, flags | os.O_EXCL, mode)
        os.fchmod(fd, mode)
        return fd
    except FileExistsError:
        if exclusive:
            raise
    fd = os.open(path, flags, mode)
    kind = os.fstat(fd).st_mode
    if stat.S_ISREG(kind):
        if not append:
            os.ftruncate(fd, 0)
    elif not stat.S_ISCHR(kind):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return fd


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _stat(connection: Connection, path: str, follow: bool) -> Record:
    return {"entry": _describe(path, os.path.basename(path.rstrip("/")) or "/", follow)}


def _describe(path: str, name: str, follow: bool) -> Record:
    info = os.stat(path, follow_symlinks=follow)
    return {
        "name": name,
        "kind": _kind(info.st_mode),
        "size": info.st_size,
        "mode": stat.S_IMODE(info.st_mode),
        "mtime": info.st_mtime,
        "target": os.readlink(path) if stat.S_ISLNK(info.st_mode) else None,
    }


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "other"


def _space(connection: Connection, path: str) -> Record:
    """Return the size and the free space of the file system of a path."""
    about = os.statvfs(path)
    return {
        "size_bytes": about.f_blocks * about.f_frsize,
        "free_bytes": about.f_bavail * about.f_frsize,
        "inodes": about.f_files,
        "free_inodes": about.f_favail,
    }


def _list(connection: Connection, path: str) -> Record:
    names = os.listdir(path)
    if len(names) > _MAX_ENTRIES:
        raise OSError(errno.EOVERFLOW, f"it has more than {_MAX_ENTRIES} entries")
    entries = []
    for name in sorted(names):
        with contextlib.suppress(FileNotFoundError):
            entries.append(_describe(os.path.join(path, name), name, follow=False))
    return {"entries": entries}


def _mkdir(connection: Connection, path: str, parents: bool, exist_ok: bool) -> Record:
    if parents:
        os.makedirs(path, exist_ok=exist_ok)
        return {}
    try:
        os.mkdir(path)
    except FileExistsError:
        if not exist_ok or not os.path.isdir(path):
            raise
    return {}


def _remove(connection: Connection, path: str, recursive: bool) -> Record:
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
    elif recursive:
        import shutil

        shutil.rmtree(path)
    else:
        os.rmdir(path)
    return {}


def _pack(connection: Connection, path: str, limit: int, for_snapshot: bool = False) -> Record:
    """Send a file or directory as a tar archive; its names start with the last part of `path`.

    An archive for a snapshot omits other mounts below the path, and the owners of the files.
    """
    from . import archives

    with _sending(connection):
        os.lstat(path)
        writer = io.BufferedWriter(ChunkWriter(connection, limit), CHUNK)
        name = os.path.basename(path.rstrip("/")) or "root"
        archives.pack(path, name, writer, for_snapshot=for_snapshot)
        writer.flush()
    return {}


def _unpack(connection: Connection, path: str) -> Record:
    """Unpack a tar archive that the host sends into the directory `path`."""
    from . import archives

    chunks = connection.chunks()
    try:
        os.makedirs(path, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            archives.Unpacker(folder).unpack(io.BufferedReader(ChunkReader(chunks), CHUNK))
        finally:
            os.close(folder)
    finally:
        for _ in chunks:
            pass
    return {}


def _send_tree(connection: Connection, path: str, limit: int) -> Record:
    """Send a directory as a tree, or a file as a tree of one entry with an empty path."""
    try:
        top = os.stat(path).st_mode
        if stat.S_ISDIR(top):
            _send_folder(connection, path, limit)
        else:
            os.close(_open_regular(path))
            _send_file(connection, path, "", limit)
    finally:
        connection.send_record({})
    return {}


def _send_folder(connection: Connection, path: str, limit: int) -> None:
    connection.send_record({"path": "", "kind": "directory"})
    waiting = [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            parent = changes.open_directory(path, folder)
        except OSError as error:
            connection.send_record({"path": folder, "kind": "unreadable", "why": error.strerror})
            continue
        try:
            for name in sorted(os.listdir(parent)):
                relative = os.path.join(folder, name)
                try:
                    kind = _kind(os.lstat(name, dir_fd=parent).st_mode)
                except OSError:
                    continue
                if kind == "file":
                    limit -= _send_file(connection, name, relative, limit, parent)
                    continue
                connection.send_record({"path": relative, "kind": kind})
                if kind == "directory" and depth < _MAX_DEPTH:
                    waiting.append((relative, depth + 1))
        finally:
            os.close(parent)


def _send_file(
    connection: Connection, path: str, name: str, limit: int, folder: int | None = None
) -> int:
    try:
        fd = _open_regular(path, 0 if folder is None else os.O_NOFOLLOW, folder)
    except OSError as error:
        connection.send_record({"path": name, "kind": "unreadable", "why": error.strerror})
        return 0
    with open(fd, "rb", buffering=0) as file:
        info = os.fstat(fd)
        mode = stat.S_IMODE(info.st_mode)
        connection.send_record({"path": name, "kind": "file", "mode": mode, "size": info.st_size})
        with _sending(connection):
            if info.st_size > limit:
                raise OSError(errno.EFBIG, "they are over the size limit")
            return _send_content(connection, file, limit)


def _receive_tree(connection: Connection, path: str) -> Record:
    """Write a tree that the host sends below the directory `path`."""
    failure: OSError | None = None
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        failure = error
    while entry := connection.receive_record():
        chunks = connection.chunks() if entry["kind"] == "file" else iter(())
        try:
            if failure is None:
                _receive_entry(os.path.join(path, entry["path"]).rstrip("/"), entry, chunks)
        except OSError as error:
            failure = error
        for _ in chunks:
            pass
    if failure is not None:
        raise failure
    return {}


def _receive_entry(path: str, entry: Record, chunks: Iterator[bytes]) -> None:
    if entry["kind"] == "directory":
        os.makedirs(path, exist_ok=True)
        return
    if os.path.islink(path):
        os.unlink(path)
    if entry["kind"] == "link":
        os.symlink(entry["target"], path)
        return
    fd = _create(path, entry["mode"], follow=False)
    try:
        for data in chunks:
            _write_all(fd, data)
        os.fchmod(fd, entry["mode"])
    finally:
        os.close(fd)


OPERATIONS: dict[str, Callable[..., Record]] = {
    "ping": _ping,
    "read": _read,
    "write": _write,
    "stat": _stat,
    "space": _space,
    "list": _list,
    "mkdir": _mkdir,
    "remove": _remove,
    "pack": _pack,
    "unpack": _unpack,
    "send_tree": _send_tree,
    "receive_tree": _receive_tree,
    "mark": changes.mark,
    "changes": changes.changes,
    "fetch": changes.fetch,
}
