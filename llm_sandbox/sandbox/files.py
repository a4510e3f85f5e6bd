"""Files of a sandbox, accessed as its user inside."""

import os
import posixpath
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from llm_sandbox.backends.base import Ending
from llm_sandbox.exceptions import (
    OutputLimitError,
    PathError,
    ProtocolError,
    SandboxFileNotFoundError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
    ValidationError,
)
from llm_sandbox.guest.bulk import Record
from llm_sandbox.sandbox.file_service import DeadlineConnection, FileService
from llm_sandbox.sandbox.transfer import TransferReport, receive_tree, send_path

__all__ = ["FileEntry", "ModifiedFlag", "SandboxFiles"]


class ModifiedFlag:
    """Flag of changes by the host: written files, and started programs until they end.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted = False
        self._programs: list[Ending] = []

    def note(self) -> None:
        """Record a change by the host."""
        self._noted = True

    def follow(self, program: Ending) -> None:
        """Record a started program; it counts until its end was observed."""
        with self._lock:
            self._programs.append(program)

    def take(self) -> bool:
        """Return whether anything may have changed since the last call."""
        with self._lock:
            # Before it is asked what goes on: what ends in between counts once more.
            touched, self._noted = self._noted or bool(self._programs), False
            self._programs = [one for one in self._programs if one.get() is None]
            return touched


_Value = TypeVar("_Value")

_OPERATION_S = 30.0
_TRANSFER_S = 600.0
_READ_BYTES = 64 << 20
_ARCHIVE_BYTES = 256 << 20
_DOWNLOAD_BYTES = 1 << 30
_PIECE = 1 << 18
_KINDS = ("file", "directory", "link", "other")
_TEMPORARY = ("/tmp", "/dev/shm")  # noqa: S108 - inside the sandbox
_CHANGING = frozenset({"write", "mkdir", "remove", "receive_tree"})


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file, directory or link in the sandbox, as the sandbox describes it."""

    name: str
    """Last part of the path; bytes that are not UTF-8 are surrogates, as in `os.listdir`."""
    kind: Literal["file", "directory", "link", "other"]
    """Type of the file; ``other`` is a pipe, socket or device."""
    size: int
    """Size in bytes."""
    mode: int
    """Permission bits."""
    mtime: float
    """Time of the last change, in seconds since 1970."""
    target: str | None = None
    """Target of a link; None for other types."""


class SandboxFiles:
    """File operations in a sandbox with the rights of its user.

    Paths are text; relative ones start at the working directory. Links are followed inside the
    sandbox and nowhere else. Every method raises these besides what it names itself:

    Raises:
        PathError: The path is no text, is empty or holds a NUL.
        FileError: The operation failed in the sandbox: the subclass says how.
        SandboxTimeoutError: It took more than 30 seconds, or 10 minutes for uploads, downloads and
            archives.
        ContainerGoneError: The sandbox has ended.
        TransportError: The sandbox's file service was killed in the middle.
    """

    def __init__(
        self,
        service: FileService,
        workdir: str,
        modified: ModifiedFlag | None = None,
        mounted: Sequence[str] = (),
    ) -> None:
        self._service = service
        self._workdir = workdir
        self._modified = modified or ModifiedFlag()
        self._writable = (workdir, *_TEMPORARY, *mounted)

    def read_bytes(self, path: str, limit: int = _READ_BYTES) -> bytes:
        """Return a file's content.

        Args:
            path: The file.
            limit: Maximum number of bytes; 64 MiB.

        Raises:
            OutputLimitError: The file is larger than the limit.
        """
        _check_count("limit", limit)
        return self._call("read", path, _receiver(limit), limit=limit)[0]

    def read_text(self, path: str, limit: int = _READ_BYTES) -> str:
        r"""Return a file's content decoded as UTF-8; other bytes appear as ``\xff`` escapes."""
        return self.read_bytes(path, limit).decode("utf-8", "backslashreplace")

    def write_bytes(
        self,
        path: str,
        data: bytes,
        *,
        append: bool = False,
        exclusive: bool = False,
        parents: bool = True,
        mode: int = 0o644,
    ) -> None:
        """Write a file.

        Args:
            path: The file; an existing one is overwritten and keeps its mode.
            data: The content.
            append: Append to the file.
            exclusive: Fail if the file exists.
            parents: Create missing parent directories.
            mode: Permission bits of a new file.

        Raises:
            SandboxFileExistsError: The file exists, and `exclusive` is true.
            NoSpaceError: A limit on disk, inodes or file size is reached; part of the data may be
                there.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ValidationError("data must be bytes", parameter="data")
        if mode not in range(0o1000):
            raise ValidationError(
                "invalid mode: expected permission bits, 0 to 0o777", parameter="mode"
            )
        view = memoryview(data).cast("B")

        def send(line: DeadlineConnection) -> None:
            for offset in range(0, len(view), _PIECE):
                line.send_chunk(view[offset : offset + _PIECE])
            line.end_chunks()

        self._call(
            "write",
            path,
            send,
            repeatable=not (append or exclusive),
            append=append,
            exclusive=exclusive,
            parents=parents,
            mode=mode,
        )

    def write_text(
        self,
        path: str,
        data: str,
        *,
        append: bool = False,
        exclusive: bool = False,
        parents: bool = True,
        mode: int = 0o644,
    ) -> None:
        """Write text as UTF-8; see `write_bytes`."""
        if not isinstance(data, str):
            raise ValidationError("data must be text", parameter="data")
        self.write_bytes(
            path,
            data.encode("utf-8", "surrogateescape"),
            append=append,
            exclusive=exclusive,
            parents=parents,
            mode=mode,
        )

    def list(self, path: str = ".") -> list[FileEntry]:
        """Return the entries of a directory, sorted by name; links are described, not followed.

        Raises:
            OutputLimitError: The directory has more than 100,000 entries.
        """
        entries = self._call("list", path, _nothing)[1].get("entries")
        if not isinstance(entries, list):
            raise ProtocolError("the sandbox's file service sent no entries")
        return [_read_entry(entry) for entry in entries]

    def stat(self, path: str, *, follow: bool = True) -> FileEntry:
        """Describe one file; with `follow`, the target of a link."""
        return _read_entry(self._call("stat", path, _nothing, follow=follow)[1].get("entry"))

    def exists(self, path: str) -> bool:
        """Return whether the path exists; False for a dangling link."""
        try:
            self.stat(path)
        except (SandboxFileNotFoundError, SandboxNotADirectoryError):
            return False
        return True

    def mkdir(self, path: str, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Create a directory.

        Raises:
            SandboxFileExistsError: The directory exists and `exist_ok` is false, or another file
                has the path.
        """
        self._call("mkdir", path, _nothing, repeatable=exist_ok, parents=parents, exist_ok=exist_ok)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, link or empty directory; with `recursive`, a directory and its content."""
        self._call("remove", path, _nothing, repeatable=False, recursive=recursive)

    def upload(self, host_path: str | os.PathLike[str], path: str) -> None:
        """Copy a file or directory of this computer into the sandbox.

        A file is copied to `path`; the content of a directory is copied into the directory `path`,
        over existing files. Links in a directory stay links.

        Raises:
            PathError: A link leads out of the directory, or it contains a pipe, socket or device.
            OSError: A file of this computer cannot be read.
        """
        self._call(
            "receive_tree",
            path,
            lambda line: send_path(os.fspath(host_path), line),
            timeout_s=_TRANSFER_S,
            repeatable=False,
        )

    def download(
        self, path: str, host_path: str | os.PathLike[str], *, limit: int = _DOWNLOAD_BYTES
    ) -> TransferReport:
        """Copy a file or directory of the sandbox to this computer.

        A file is written to `host_path` atomically. A directory is written to the directory
        `host_path`, atomically if it is new; otherwise its files are added to those there. No link
        of either side is followed below `host_path`, and none is created: links, devices and
        unusable names are left out and reported.

        Args:
            path: Path in the sandbox.
            host_path: Path on this computer; its parent must exist.
            limit: Maximum number of bytes in all; 1 GiB.

        Raises:
            OutputLimitError: There are more bytes, or more than 100,000 files.
            OSError: A file of this computer cannot be written.
        """
        _check_count("limit", limit)
        return self._call(
            "send_tree",
            path,
            lambda line: receive_tree(line, os.fspath(host_path), limit),
            timeout_s=_TRANSFER_S,
            repeatable=False,
            limit=limit,
        )[0]

    def archive(self, path: str = ".", limit: int = _ARCHIVE_BYTES) -> bytes:
        """Return a file or directory as an uncompressed tar archive, which is untrusted.

        Raises:
            OutputLimitError: The archive has more than `limit` bytes; 256 MiB.
        """
        _check_count("limit", limit)
        return self._call("pack", path, _receiver(limit), timeout_s=_TRANSFER_S, limit=limit)[0]

    def _call(
        self,
        op: str,
        path: str,
        talk: Callable[[DeadlineConnection], _Value],
        *,
        timeout_s: float = _OPERATION_S,
        repeatable: bool = True,
        **fields: Any,
    ) -> tuple[_Value, Record]:
        try:
            return self._service.call(
                op,
                self.resolve(path),
                timeout_s=timeout_s,
                talk=talk,
                repeatable=repeatable,
                **fields,
            )
        except SandboxPermissionError as error:
            if op in _CHANGING:
                error.hint = f"places that can be written: {', '.join(self._writable)}"
            raise
        finally:
            if op in _CHANGING:
                self._modified.note()

    def resolve(self, path: str) -> str:
        """Return the absolute form of a path, with links and ``..`` unresolved.

        Raises:
            PathError: The path is not a text, is empty or contains a NUL.
        """
        if not isinstance(path, str):
            raise PathError("invalid path: expected text")
        if not path or "\0" in path:
            raise PathError("invalid path: expected a non-empty text without NUL", path=path)
        try:
            path.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise PathError(
                "invalid path: expected text that UTF-8 can encode", path=ascii(path)
            ) from None
        return posixpath.join(self._workdir, path)


def _nothing(line: DeadlineConnection) -> None:
    """Transfer no bulk data."""


def _receiver(limit: int) -> Callable[[DeadlineConnection], bytes]:
    def receive(line: DeadlineConnection) -> bytes:
        data = bytearray()
        # trust: the service has the limit; it is enforced here as well.
        for chunk in line.chunks():
            if len(data) + len(chunk) > limit:
                raise OutputLimitError(f"more than {limit} bytes were sent", limit=limit)
            data += chunk
        return bytes(data)

    return receive


def _read_entry(data: object) -> FileEntry:
    # trust: the description comes from inside; only values of the expected types are taken.
    entry = cast("Record", data) if isinstance(data, dict) else {}
    name, kind, target = entry.get("name"), entry.get("kind"), entry.get("target")
    size, mode, mtime = entry.get("size"), entry.get("mode"), entry.get("mtime")
    if (
        not isinstance(name, str)
        or kind not in _KINDS
        or not isinstance(size, int)
        or not isinstance(mode, int)
        or not isinstance(mtime, (int, float))
        or not (target is None or isinstance(target, str))
    ):
        raise ProtocolError("the sandbox's file service sent an invalid entry")
    return FileEntry(name, kind, size, mode, float(mtime), target)


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValidationError(f"{name} is a number of bytes", parameter=name)
