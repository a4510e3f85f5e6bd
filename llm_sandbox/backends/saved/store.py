"""The store: a folder for each snapshot, which has its name once it is whole.

A snapshot is written into a folder whose name begins with ``.new-`` and that its writer holds a
lock of; what is in it is on the disk before the folder is given its name. Nobody reads from one
that has none, and one that nobody holds is what a killed writer has left.
"""

import builtins
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Self

from llm_sandbox.backends.saved.folder import (
    PRIVATE_FOLDER,
    data_folder,
    open_private,
    read_own,
)
from llm_sandbox.backends.saved.record import Part, SavedRecord
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import ImageNotFoundError, SecurityError, UnsupportedError

__all__ = ["Saving", "Store"]

_RECORD = "snapshot.json"
_IDENTITY = "store.id"
_REF = re.compile(r"snap-[0-9a-f]{16}")
_UNFINISHED = re.compile(r"\.(new|old)-[0-9a-f]{16}")
_LARGEST_RECORD = 1 << 16
_PIECE = 1 << 20


class Saving:
    """A snapshot that is being written; see `Store.begin`."""

    def __init__(self, store: "Store", folder: int, temporary: str) -> None:
        self._store = store
        self._folder = folder
        self._temporary = temporary
        self._parts: dict[str, Part] = {}

    def add(self, name: str, data: bytes) -> None:
        """Write one archive.

        Raises:
            OSError: It could not be written.
        """
        _write(self._folder, f"{name}.tar", data)
        self._parts[name] = Part(len(data), hashlib.sha256(data).hexdigest())

    def finish(self, snapshot: Snapshot) -> Snapshot:
        """Have it be a snapshot.

        Args:
            snapshot: What is known of it; the rest is filled in.

        Returns:
            The snapshot.
        """
        ref = f"snap-{os.urandom(8).hex()}"
        size = sum(part.size for part in self._parts.values())
        made = replace(
            snapshot,
            store=self._store.identity,
            ref=ref,
            name=snapshot.name or ref,
            size=size,
        )
        _write(self._folder, _RECORD, SavedRecord(made, self._parts).to_json())
        os.fsync(self._folder)
        self._store.give_name(self._temporary, ref)
        return made


class Store:
    """The snapshots of this user that are files. As a context manager it is closed at the end.

    Args:
        path: The folder; None for this user's own.

    Raises:
        SecurityError: It is not this user's alone.
        BackendUnavailableError: It cannot be made.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path or data_folder()
        self._fd = open_private(self.path)

    def close(self) -> None:
        """Close the folder."""
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def identity(self) -> str:
        """What tells this store from every other one."""
        while (found := self._read_identity()) is None:
            temporary = f".id-{os.urandom(8).hex()}"
            _write(self._fd, temporary, f"files:{os.urandom(16).hex()}".encode())
            try:
                # Of several processes that make one, the first wins.
                with contextlib.suppress(FileExistsError):
                    os.link(temporary, _IDENTITY, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            finally:
                os.unlink(temporary, dir_fd=self._fd)
        return found

    def _read_identity(self) -> str | None:
        fd = read_own(self._fd, _IDENTITY)
        if fd is None:
            if os.access(_IDENTITY, os.F_OK, dir_fd=self._fd, follow_symlinks=False):
                raise SecurityError(
                    f"{self.path}/{_IDENTITY} is no file of this user's", hint="look at it"
                )
            return None
        with open(fd, "rb") as file:
            return file.read(100).decode("ascii", "replace")

    # --- writing

    @contextlib.contextmanager
    def begin(self) -> Iterator[Saving]:
        """Write a snapshot in the block; nothing of one that was not finished stays."""
        temporary, folder = self._make_folder()
        try:
            yield Saving(self, folder, temporary)
        finally:
            os.close(folder)
            shutil.rmtree(temporary, ignore_errors=True, dir_fd=self._fd)

    def _make_folder(self) -> tuple[str, int]:
        while True:
            temporary = f".new-{os.urandom(8).hex()}"
            os.mkdir(temporary, 0o700, dir_fd=self._fd)
            with contextlib.suppress(FileNotFoundError):
                folder = os.open(temporary, PRIVATE_FOLDER, dir_fd=self._fd)
                fcntl.flock(folder, fcntl.LOCK_EX)
                # A sweep may have taken it for one that was left, before it was locked.
                if os.fstat(folder).st_nlink:
                    return temporary, folder
                os.close(folder)

    def give_name(self, temporary: str, ref: str) -> None:
        """Make a folder that was written the snapshot of a name, in one step and for good."""
        os.rename(temporary, ref, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        os.fsync(self._fd)

    # --- reading

    def get(self, snapshot: Snapshot) -> SavedRecord:
        """Return what is known of a snapshot that can be restored.

        Raises:
            UnsupportedError: It is another store's.
            ImageNotFoundError: It was deleted.
            ValidationError: Its time to live is over.
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

    def find(self, ref: str) -> SavedRecord | None:
        """Return what is known of a snapshot, by its name in the store; None where it is not."""
        if not _REF.fullmatch(ref):
            return None
        with contextlib.suppress(OSError), self._open_snapshot(ref) as folder:
            fd = read_own(folder, _RECORD)
            if fd is not None:
                with open(fd, "rb") as file:
                    return SavedRecord.from_json(file.read(_LARGEST_RECORD), ref)
        return None

    @contextlib.contextmanager
    def _open_snapshot(self, ref: str) -> Iterator[int]:
        folder = os.open(ref, PRIVATE_FOLDER, dir_fd=self._fd)
        try:
            yield folder
        finally:
            os.close(folder)

    def open_part(self, record: SavedRecord, name: str) -> int:
        """Open an archive that is what was saved, from its beginning.

        Raises:
            ImageNotFoundError: It was deleted meanwhile.
            SecurityError: It was changed.
        """
        part, ref = record.parts[name], record.snapshot.ref
        fd = None
        with contextlib.suppress(OSError), self._open_snapshot(ref) as folder:
            fd = read_own(folder, f"{name}.tar")
        if fd is None:
            raise ImageNotFoundError(record.snapshot.name)
        digest, size = hashlib.sha256(), 0
        while piece := os.read(fd, _PIECE):
            digest.update(piece)
            size += len(piece)
        if (size, digest.hexdigest()) != (part.size, part.digest):
            os.close(fd)
            raise SecurityError(
                f"snapshot {record.snapshot.name} is not what was saved: {self.path}/{ref}/"
                f"{name}.tar was changed",
                hint=f"delete it: llm-sandbox snapshots delete {ref}",
            )
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def list(self) -> builtins.list[SavedRecord]:
        """Return every snapshot, newest first."""
        found = [self.find(name) for name in os.listdir(self._fd)]
        known = [one for one in found if one is not None]
        return sorted(known, key=lambda one: one.snapshot.created_at, reverse=True)

    # --- removing

    def delete(self, ref: str) -> bool:
        """Remove a snapshot, in one step for whoever restores; False if there is none."""
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
        """Remove the snapshots whose time to live is over, and what killed writers have left.

        Returns:
            Those that were removed because of their time.
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
            if one.is_expired() and self.delete(one.snapshot.ref)
        ]

    def _remove_unheld(self, name: str) -> None:
        with contextlib.suppress(OSError):
            folder = os.open(name, PRIVATE_FOLDER, dir_fd=self._fd)
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
    """Write a new file, and have it on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o400, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)
