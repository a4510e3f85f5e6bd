"""The process that reads and writes a machine's files on the host's behalf, as the machine's user.

It runs inside the machine, confined like user code, so that a link or a race can lead it only where
user code could go anyway. A request is a JSON record; bulk follows as chunks: ``u32 length |
bytes``, ended by a zero length, or by ``0xFFFFFFFF`` when the sender failed halfway.
"""

import contextlib
import io
import json
import os
import shutil
import socket
import stat
import struct
from collections.abc import Iterator
from typing import Any

_LENGTH = struct.Struct("<I")
_FAILED = 0xFFFFFFFF
CHUNK = 1 << 18
_MAX_ENTRIES = 100_000

Reply = dict[str, Any]


class Connection:
    """Records and chunks over a socket; both ends use it.

    Raises:
        EOFError: The peer is gone.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    def send_record(self, record: Reply) -> None:
        """Send one JSON record."""
        body = json.dumps(record).encode()
        self.socket.sendall(_LENGTH.pack(len(body)) + body)

    def receive_record(self, limit: int = 64 << 20) -> Reply:
        """Wait for one JSON record of at most `limit` bytes."""
        (length,) = _LENGTH.unpack(self._exactly(4))
        if length > limit:
            raise EOFError(f"a record of {length} bytes is over the limit of {limit}")
        record = json.loads(self._exactly(length))
        if not isinstance(record, dict):
            raise EOFError("a record is not an object")
        return record

    def send_chunk(self, data: bytes | memoryview) -> None:
        """Send one piece of bulk, not empty."""
        self.socket.sendall(_LENGTH.pack(len(data)))
        self.socket.sendall(data)

    def end_chunks(self, *, failed: bool = False) -> None:
        """Say that the bulk is complete, or that the sender gave up."""
        self.socket.sendall(_LENGTH.pack(_FAILED if failed else 0))

    def chunks(self) -> Iterator[bytes]:
        """Yield the pieces of bulk until its end.

        Raises:
            EOFError: The peer gave up or is gone.
        """
        while True:
            (length,) = _LENGTH.unpack(self._exactly(4))
            if length == 0:
                return
            if length > 64 << 20:
                raise EOFError("the sender gave up")
            yield self._exactly(length)

    def _exactly(self, size: int) -> bytes:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            got = self.socket.recv_into(view)
            if not got:
                raise EOFError("the connection ended")
            view = view[got:]
        return bytes(buffer)


class ChunkWriter(io.RawIOBase):
    """A file object that sends what is written as chunks, and refuses to send more than `limit`
    bytes."""

    def __init__(self, connection: Connection, limit: int) -> None:
        self._connection = connection
        self._left = limit

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._left -= len(view)
        if self._left < 0:
            raise OSError(27, "over the size limit")
        if view:
            self._connection.send_chunk(view)
        return len(view)


class ChunkReader(io.RawIOBase):
    """A file object that reads chunks."""

    def __init__(self, connection: Connection) -> None:
        self._chunks = connection.chunks()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def drain(self) -> None:
        """Read what is left, so that the connection is at the next record."""
        for _ in self._chunks:
            pass


def serve(sock: socket.socket, *, plain: bool) -> None:
    """Answer requests until the host hangs up."""
    del plain
    connection = Connection(sock)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request = connection.receive_record()
            try:
                OPERATIONS[request.pop("op")](connection, **request)
            except OSError as error:
                connection.send_record(
                    {"errno": error.errno or 5, "message": error.strerror or str(error)}
                )


def _read(connection: Connection, path: str, limit: int) -> None:
    fd = _open_regular(path)
    with open(fd, "rb", buffering=0) as file:
        size = os.fstat(fd).st_size
        if size > limit:
            raise OSError(27, f"it has {size} bytes, over the limit of {limit}")
        connection.send_record({"size": size})
        left = limit
        while left and (data := file.read(min(CHUNK, left))):
            left -= len(data)
            connection.send_chunk(data)
        connection.end_chunks()


def _open_regular(path: str) -> int:
    # Not blocking: opening a FIFO for reading would wait for its writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, os.strerror(21))
    raise OSError(22, "it is not a regular file")


def _write(
    connection: Connection, path: str, append: bool, exclusive: bool, parents: bool, mode: int
) -> None:
    source = ChunkReader(connection)
    try:
        if parents and (parent := os.path.dirname(path)):
            os.makedirs(parent, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        flags |= os.O_APPEND if append else os.O_TRUNC
        flags |= os.O_EXCL if exclusive else 0
        fd = os.open(path, flags, mode)
        written = 0
        with open(fd, "wb", buffering=0) as file:
            while data := source.read(CHUNK):
                file.write(data)
                written += len(data)
    except OSError:
        source.drain()
        raise
    connection.send_record({"size": written})


def _describe(path: str, name: str, follow: bool) -> Reply:
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


def _stat(connection: Connection, path: str, follow: bool) -> None:
    connection.send_record({"entry": _describe(path, os.path.basename(path), follow)})


def _list(connection: Connection, path: str) -> None:
    entries = []
    for name in sorted(os.listdir(path))[:_MAX_ENTRIES]:
        with contextlib.suppress(FileNotFoundError):
            entries.append(_describe(os.path.join(path, name), name, follow=False))
    connection.send_record({"entries": entries})


def _mkdir(connection: Connection, path: str, parents: bool, exist_ok: bool) -> None:
    if parents:
        os.makedirs(path, exist_ok=exist_ok)
    else:
        try:
            os.mkdir(path)
        except FileExistsError:
            if not exist_ok or not os.path.isdir(path):
                raise
    connection.send_record({})


def _remove(connection: Connection, path: str, recursive: bool) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        if recursive:
            shutil.rmtree(path)
        else:
            os.rmdir(path)
    else:
        os.unlink(path)
    connection.send_record({})


def _pack(connection: Connection, path: str, limit: int) -> None:
    """Send a file or directory as a tar archive whose members are named from the last part of
    `path`."""
    import tarfile

    os.lstat(path)
    connection.send_record({})
    writer = ChunkWriter(connection, limit)
    try:
        with tarfile.open(fileobj=io.BufferedWriter(writer, CHUNK), mode="w|") as archive:
            name = os.path.basename(path.rstrip("/")) or "root"
            archive.add(path, arcname=name, recursive=True, filter=_packable)
            archive.fileobj.flush()  # type: ignore[union-attr]
    except OSError as error:
        connection.end_chunks(failed=True)
        connection.send_record({"errno": error.errno or 5, "message": str(error)})
        return
    connection.end_chunks()
    connection.send_record({})


def _packable(member: Any) -> Any:
    """Leave out what could block the reader or means nothing outside: devices, pipes and
    sockets."""
    return member if member.isreg() or member.isdir() or member.issym() else None


def _unpack(connection: Connection, path: str) -> None:
    """Unpack a tar archive that the host made below the directory `path`."""
    import tarfile

    source = ChunkReader(connection)
    try:
        os.makedirs(path, exist_ok=True)
        with tarfile.open(fileobj=io.BufferedReader(source, CHUNK), mode="r|") as archive:
            for member in archive:
                target = os.path.join(path, member.name)
                if member.isdir():
                    os.makedirs(target, exist_ok=True)
                elif member.isreg():
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    content = archive.extractfile(member)
                    assert content is not None
                    with open(target, "wb") as file:
                        shutil.copyfileobj(content, file, CHUNK)
                    os.chmod(target, member.mode & 0o777)
                elif member.issym():
                    os.symlink(member.linkname, target)
        source.drain()
    except OSError:
        source.drain()
        raise
    connection.send_record({})


OPERATIONS = {
    "read": _read,
    "write": _write,
    "stat": _stat,
    "list": _list,
    "mkdir": _mkdir,
    "remove": _remove,
    "pack": _pack,
    "unpack": _unpack,
}
