"""Store of this user's snapshots that are files: one folder for each snapshot.

A snapshot is written into a locked folder whose name begins with ``.new-``. Once its content is on
the disk, the folder is renamed to the snapshot's reference. Readers ignore other names, and an
unlocked folder is what a killed writer has left.
"""

import builtins
import contextlib
import fcntl
import hashlib
import json
import os
import pwd
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Self

from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ImageNotFoundError,
    SecurityError,
    UnsupportedError,
)

__all__ = ["ArchiveInfo", "FileSnapshots", "SnapshotRecord", "SnapshotWriter"]

_FORMAT = 1
_PRIVATE_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_RECORD = "snapshot.json"
_IDENTITY = "store.id"
_REF = re.compile(r"snap-[0-9a-f]{16}")
_UNFINISHED = re.compile(r"\.(new|old)-[0-9a-f]{16}")
_LARGEST_RECORD = 1 << 16
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ArchiveInfo:
    """One archive of a snapshot."""

    size: int
    """Size in bytes."""
    digest: str
    """SHA-256, hexadecimal."""


@dataclass(frozen=True)
class SnapshotRecord:
    """Content of the file that describes a snapshot."""

    snapshot: Snapshot
    parts: Mapping[str, ArchiveInfo]
    """Archives by name: ``workdir``, the saved directory; ``root``, the changes of a writable
    root."""

    def to_json(self) -> bytes:
        """Return the content of the file."""
        data = {
            "format": _FORMAT,
            "snapshot": self.snapshot.to_dict(),
            "parts": {name: asdict(part) for name, part in self.parts.items()},
        }
        return json.dumps(data).encode()

    @classmethod
    def from_json(cls, text: bytes, ref: str) -> "SnapshotRecord | None":
        """Read the content of a file; return None if it does not describe the snapshot `ref`."""
        # trust: another program of this user's may have put anything there.
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                return None
            parts = {
                str(name): ArchiveInfo(int(part["size"]), str(part["digest"]))
                for name, part in data["parts"].items()
            }
            record = cls(Snapshot.from_dict(data["snapshot"]), parts)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        inside = (record.snapshot.path or "").split("/")
        is_valid = record.snapshot.ref == ref and "workdir" in parts and ".." not in inside
        return record if is_valid else None


class SnapshotWriter:
    """Writer of one snapshot; see `FileSnapshots.begin`."""

    def __init__(self, store: "FileSnapshots", folder: int, temporary: str) -> None:
        self._store = store
        self._folder = folder
        self._temporary = temporary
        self._parts: dict[str, ArchiveInfo] = {}

    def add(self, name: str, data: bytes) -> None:
        """Write one archive.

        Raises:
            OSError: The archive could not be written.
        """
        _write(self._folder, f"{name}.tar", data)
        self._parts[name] = ArchiveInfo(len(data), hashlib.sha256(data).hexdigest())

    def finish(self, snapshot: Snapshot) -> Snapshot:
        """Complete the snapshot.

        Args:
            snapshot: Its description, without store, reference and size.

        Returns:
            The complete description.
        """
        ref = f"snap-{os.urandom(8).hex()}"
        size = sum(part.size for part in self._parts.values())
        complete = replace(
            snapshot,
            store=self._store.identity,
            ref=ref,
            name=snapshot.name or ref,
            size=size,
        )
        _write(self._folder, _RECORD, SnapshotRecord(complete, self._parts).to_json())
        os.fsync(self._folder)
        self._store.give_name(self._temporary, ref)
        return complete


class FileSnapshots:
    """Snapshots of this user that are files. A context manager closes the folder.

    Args:
        path: The folder; None for the one below ``$XDG_DATA_HOME``.

    Raises:
        SecurityError: Other users may write to the folder.
        BackendUnavailableError: The folder cannot be created.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path or _data_folder()
        self._fd = _open_private(self.path)

    def close(self) -> None:
        """Close the folder."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def identity(self) -> str:
        """Unique identifier of the store."""
        while (found := self._read_identity()) is None:
            temporary = f".id-{os.urandom(8).hex()}"
            _write(self._fd, temporary, f"files:{os.urandom(16).hex()}".encode())
            try:
                # The first of several processes wins.
                with contextlib.suppress(FileExistsError):
                    os.link(temporary, _IDENTITY, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            finally:
                os.unlink(temporary, dir_fd=self._fd)
        return found

    def _read_identity(self) -> str | None:
        fd = _read_own(self._fd, _IDENTITY)
        if fd is None:
            if os.access(_IDENTITY, os.F_OK, dir_fd=self._fd, follow_symlinks=False):
                raise SecurityError(
                    f"{self.path}/{_IDENTITY} is not a regular file of this user",
                    hint="look at it",
                )
            return None
        with open(fd, "rb") as file:
            return file.read(100).decode("ascii", "replace")

    # --- writing

    @contextlib.contextmanager
    def begin(self) -> Iterator[SnapshotWriter]:
        """Write a snapshot in the block. An unfinished one is removed."""
        temporary, folder = self._make_folder()
        try:
            yield SnapshotWriter(self, folder, temporary)
        finally:
            os.close(folder)
            shutil.rmtree(temporary, ignore_errors=True, dir_fd=self._fd)

    def _make_folder(self) -> tuple[str, int]:
        while True:
            temporary = f".new-{os.urandom(8).hex()}"
            os.mkdir(temporary, 0o700, dir_fd=self._fd)
            with contextlib.suppress(FileNotFoundError):
                folder = os.open(temporary, _PRIVATE_FOLDER, dir_fd=self._fd)
                fcntl.flock(folder, fcntl.LOCK_EX)
                # Before it was locked, `sweep` may have removed it as a leftover.
                if os.fstat(folder).st_nlink:
                    return temporary, folder
                os.close(folder)

    def give_name(self, temporary: str, ref: str) -> None:
        """Rename a written folder to its reference, durably."""
        os.rename(temporary, ref, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        os.fsync(self._fd)

    # --- reading

    def get(self, snapshot: Snapshot) -> SnapshotRecord:
        """Return the record of a snapshot that can be restored.

        Raises:
            UnsupportedError: The snapshot is in another store.
            ImageNotFoundError: The snapshot was deleted.
            ValidationError: The snapshot has expired.
        """
        if snapshot.store != self.identity:
            raise UnsupportedError(
                "image=",
                snapshot.backend,
                f"{snapshot.name} was saved in another store ({snapshot.store}) than "
                f"{self.path} ({self.identity})",
                hint="restore it where it was saved: as the same user, with the same XDG_DATA_HOME",
            )
        record = self.find(snapshot.ref)
        if record is None:
            raise ImageNotFoundError(
                snapshot.name,
                hint=f"it was deleted, or expired and was removed, from {self.path}; "
                "what is there: llm-sandbox snapshots list",
            )
        record.snapshot.check_alive()
        return record

    def find(self, ref: str) -> SnapshotRecord | None:
        """Return the record of a snapshot by its reference; None without such a snapshot."""
        if not _REF.fullmatch(ref):
            return None
        with contextlib.suppress(OSError), self._open_snapshot(ref) as folder:
            fd = _read_own(folder, _RECORD)
            if fd is not None:
                with open(fd, "rb") as file:
                    return SnapshotRecord.from_json(file.read(_LARGEST_RECORD), ref)
        return None

    @contextlib.contextmanager
    def _open_snapshot(self, ref: str) -> Iterator[int]:
        folder = os.open(ref, _PRIVATE_FOLDER, dir_fd=self._fd)
        try:
            yield folder
        finally:
            os.close(folder)

    def open_part(self, record: SnapshotRecord, name: str) -> int:
        """Open an archive, verified, at its beginning.

        Raises:
            ImageNotFoundError: The snapshot was deleted meanwhile.
            SecurityError: The archive was changed.
        """
        part, ref = record.parts[name], record.snapshot.ref
        fd = None
        with contextlib.suppress(OSError), self._open_snapshot(ref) as folder:
            fd = _read_own(folder, f"{name}.tar")
        if fd is None:
            raise ImageNotFoundError(record.snapshot.name)
        digest, size = hashlib.sha256(), 0
        while chunk := os.read(fd, _CHUNK):
            digest.update(chunk)
            size += len(chunk)
        if (size, digest.hexdigest()) != (part.size, part.digest):
            os.close(fd)
            raise SecurityError(
                f"snapshot {record.snapshot.name} is not what was saved: {self.path}/{ref}/"
                f"{name}.tar was changed",
                hint=f"delete it: llm-sandbox snapshots delete {ref}",
            )
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def list(self) -> builtins.list[SnapshotRecord]:
        """Return the records of all snapshots, newest first."""
        found = [self.find(name) for name in os.listdir(self._fd)]
        known = [one for one in found if one is not None]
        return sorted(known, key=lambda one: one.snapshot.created_at, reverse=True)

    # --- removing

    def delete(self, ref: str) -> bool:
        """Remove a snapshot atomically; return False if there is none."""
        if not _REF.fullmatch(ref):
            return False
        gone = f".old-{os.urandom(8).hex()}"
        try:
            os.rename(ref, gone, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except FileNotFoundError:
            return False
        shutil.rmtree(gone, ignore_errors=True, dir_fd=self._fd)
        return True

    def sweep(self) -> builtins.list[Snapshot]:
        """Remove expired snapshots, and leftovers of killed writers.

        Returns:
            The expired snapshots that were removed.
        """
        for name in os.listdir(self._fd):
            if _UNFINISHED.fullmatch(name):
                self._remove_unheld(name)
            elif name.startswith(".id-") and self._is_old(name):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=self._fd)
        return [
            one.snapshot
            for one in self.list()
            if one.snapshot.is_expired and self.delete(one.snapshot.ref)
        ]

    def _remove_unheld(self, name: str) -> None:
        with contextlib.suppress(OSError):
            folder = os.open(name, _PRIVATE_FOLDER, dir_fd=self._fd)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(name, ignore_errors=True, dir_fd=self._fd)
            finally:
                os.close(folder)

    def _is_old(self, name: str) -> bool:
        with contextlib.suppress(OSError):
            changed = os.stat(name, dir_fd=self._fd, follow_symlinks=False).st_mtime
            return time.time() - changed > 60
        return False


def _write(folder: int, name: str, data: bytes) -> None:
    """Write a new file and flush it to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o400, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def _data_folder() -> str:
    """Return the folder below ``$XDG_DATA_HOME``, else below ``~/.local/share``."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = pwd.getpwuid(os.geteuid()).pw_dir
        base = os.path.join(home, ".local", "share")
    return os.path.join(base, "llm-sandbox", "snapshots")


def _open_private(path: str) -> int:
    """Open a private folder of this user, creating it if it is missing.

    Raises:
        SecurityError: Other users own the folder or may enter it.
        BackendUnavailableError: The folder cannot be created.
    """
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        fd = os.open(path, _PRIVATE_FOLDER)
    except (NotADirectoryError, FileExistsError):
        raise _not_private(path, "it is not a folder, or is a link to one") from None
    except OSError as error:
        if os.path.islink(path):
            raise _not_private(path, "it is a link") from None
        raise BackendUnavailableError(
            f"snapshots are kept in {path}, which cannot be used: {error.strerror}",
            hint="name a folder that can be written: XDG_DATA_HOME",
        ) from None
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        os.close(fd)
        raise _not_private(path, "others own it, or may enter it")
    return fd


def _not_private(path: str, why: str) -> SecurityError:
    return SecurityError(
        f"snapshots are kept in {path}, and {why}", hint=f"look at it, and move it away: {path}"
    )


def _read_own(folder: int, name: str) -> int | None:
    """Open a regular file of this user for reading; return None if there is none."""
    # trust: another program of this user's may have put anything here; no link is followed.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(fd)
        return None
    return fd
