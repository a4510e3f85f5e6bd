"""Saving of sandboxes, and creation from snapshots."""

import contextlib
import io
import logging
import os
import posixpath
import tarfile
import time
from collections.abc import Callable
from dataclasses import replace

from llm_sandbox.backends.base import Backend, Machine, MachineSpec
from llm_sandbox.backends.file_snapshots import FileSnapshots, SnapshotRecord
from llm_sandbox.backends.snapshot import ENGINES, Snapshot, SnapshotKind, expiry
from llm_sandbox.exceptions import (
    BackendError,
    FileError,
    NoSpaceError,
    OutputLimitError,
    SandboxError,
    UnsupportedError,
    ValidationError,
)
from llm_sandbox.sandbox.file_service import DeadlineConnection, FileService
from llm_sandbox.sandbox.files import SandboxFiles
from llm_sandbox.sandbox.secret_files import check_snapshot_path

__all__ = [
    "MOST_BYTES",
    "begin_from",
    "create_from",
    "find_record",
    "restore",
    "save",
    "sweep_snapshots",
]

logger = logging.getLogger(__name__)

MOST_BYTES = 256 << 20
"""Maximum size of a saved directory, with the headers of its archive."""

_TRANSFER_S = 600.0
_PIECE = 1 << 18
_NAME_CHARACTERS = 200
_NOT_SAVED = ("dev", "proc", "sys")
"""Paths of the kernel's file systems, and of memory, where secret files are."""


# --- saving


def save(
    machine: Machine,
    service: FileService,
    files: SandboxFiles,
    *,
    name: str | None,
    kind: SnapshotKind,
    path: str | None,
    ttl: float | None,
) -> Snapshot:
    """Save a sandbox; see `Sandbox.snapshot`."""
    _check_kind(kind, name, path)
    expires_at = expiry(ttl)
    workdir = machine.spec.workdir
    if kind == "directory":
        check_snapshot_path(files.resolve(workdir if path is None else path))
        return _save_directory(machine, service, name=name, path=path, expires_at=expires_at)
    if not machine.saves_file_systems:
        # Refused before anything is packed.
        return Machine.snapshot(machine, b"", name)
    packed = _empty_folder() if workdir in machine.spec.mounts else _pack(service, workdir)
    return machine.snapshot(packed, name, expires_at=expires_at)


def _check_kind(kind: str, name: object, path: object) -> None:
    if kind not in ("filesystem", "directory"):
        raise ValidationError(
            f"invalid kind: expected 'filesystem' or 'directory', got {kind!r:.80}",
            parameter="kind",
        )
    if path is not None and kind != "directory":
        raise ValidationError(
            "invalid path: only a snapshot of kind 'directory' has one",
            parameter="path",
            hint="snapshot(kind='directory', path=...)",
        )
    if name is not None and not (
        isinstance(name, str) and 0 < len(name) <= _NAME_CHARACTERS and name.isprintable()
    ):
        raise ValidationError(
            f"invalid name: expected 1 to {_NAME_CHARACTERS} printable characters, "
            f"got {name!r:.80}",
            parameter="name",
        )


def _empty_folder() -> bytes:
    """Return an archive of an empty folder, in place of a mounted one."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        folder = tarfile.TarInfo("workdir")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
    return packed.getvalue()


def _pack(service: FileService, path: str) -> bytes:
    def receive(line: DeadlineConnection) -> bytes:
        data = bytearray()
        # trust: the service has the limit; it is enforced here as well.
        for chunk in line.chunks():
            data += chunk
            if len(data) > MOST_BYTES:
                raise OutputLimitError(f"more than {MOST_BYTES} bytes", limit=MOST_BYTES)
        return bytes(data)

    try:
        data, _ = service.call(
            "pack",
            path,
            timeout_s=_TRANSFER_S,
            talk=receive,
            limit=MOST_BYTES,
            for_snapshot=True,
        )
    except OutputLimitError:
        raise OutputLimitError(
            f"{path} holds more than {MOST_BYTES >> 20} MiB, which is the most that a snapshot "
            "takes",
            limit=MOST_BYTES,
            op="snapshot",
            hint="save a part of it: snapshot(kind='directory', path=...), or download it",
        ) from None
    return data


def _save_directory(
    machine: Machine,
    service: FileService,
    *,
    name: str | None,
    path: str | None,
    expires_at: float | None,
) -> Snapshot:
    """Save one directory of a sandbox in this user's store.

    Args:
        machine: Machine of the sandbox.
        service: File service of the sandbox.
        name: Label; None for the name of the folder in the store.
        path: The directory; None for the working directory.
        expires_at: Time of expiry in seconds since 1970; None for never.

    Raises:
        ValidationError: The directory does not exist, or must not be saved.
        OutputLimitError: The directory has more than 256 MiB.
    """
    workdir = machine.spec.workdir
    full, shown = _resolve_path(workdir, path)
    created_at = time.time()
    try:
        _, reply = service.call(
            "stat", full, timeout_s=_TRANSFER_S, talk=lambda _: None, follow=False
        )
    except FileError as error:
        raise ValidationError(
            f"{full} cannot be saved: {error.message}", parameter="path"
        ) from None
    entry = reply.get("entry")
    if not isinstance(entry, dict) or entry.get("kind") != "directory":
        raise ValidationError(f"invalid path: expected a directory, got {full}", parameter="path")
    data = _pack(service, full)
    with FileSnapshots() as store, store.begin() as saving:
        saving.add("workdir", data)
        return saving.finish(
            Snapshot(
                machine.isolation.backend,
                "",
                "",
                name or "",
                kind="directory",
                created_at=created_at,
                expires_at=expires_at,
                path=shown,
            )
        )


def _resolve_path(workdir: str, path: object) -> tuple[str, str | None]:
    """Return the directory, and its path for the record: below the working directory,
    or absolute.
    """
    if path is None:
        return workdir, None
    if not isinstance(path, str) or not path or "\0" in path or ".." in path.split("/"):
        raise ValidationError(
            "invalid path: expected that of a directory, without '..'", parameter="path"
        )
    full = posixpath.normpath(posixpath.join(workdir, path))
    if full == workdir:
        return workdir, None
    if full.startswith(f"{workdir}/"):
        return full, full[len(workdir) + 1 :]
    first = full.lstrip("/").partition("/")[0]
    if not first or first in _NOT_SAVED:
        raise ValidationError(
            f"{full} is not saved: it has what belongs to the system, or to secrets",
            parameter="path",
        )
    return full, full


# --- beginning from it


def find_record(snapshot: Snapshot) -> SnapshotRecord | None:
    """Return the record of a snapshot of this user's store; None for one of an engine.

    Raises:
        UnsupportedError: The snapshot is in another store.
        ImageNotFoundError: The snapshot was deleted.
        ValidationError: The snapshot has expired.
    """
    if not snapshot.is_file:
        return None
    with FileSnapshots() as store:
        return store.get(snapshot)


def begin_from(snapshot: Snapshot, backend: Backend, spec: MachineSpec) -> MachineSpec:
    """Return the options of a machine that starts from a snapshot of this user's store.

    Raises:
        UnsupportedError: The backend cannot start from it.
        SandboxError: As `find_record`.
    """
    record = find_record(snapshot)
    # What was noted when it was saved counts: the name can be written by anybody.
    if record is None or record.snapshot.kind == "directory":
        if record is not None:
            _check_target(record.snapshot, backend.name)
        return spec
    if record.snapshot.backend != backend.name:
        raise UnsupportedError(
            "image=",
            backend.name,
            f"{snapshot.name} is the file system of a sandbox of {record.snapshot.backend}",
            hint=f"backend={record.snapshot.backend!r}, or save one directory: "
            "snapshot(kind='directory')",
        )
    if "root" not in record.parts:
        return spec
    return replace(spec, writable_root=True, saved_root=record.snapshot.ref)


def _check_target(snapshot: Snapshot, backend: str) -> None:
    if backend == "local" and snapshot.path is not None and snapshot.path.startswith("/"):
        raise UnsupportedError(
            f"restoring {snapshot.path}",
            backend,
            "that is a path of this computer, outside of the sandbox's working directory",
            hint="save a directory below the working directory, or restore it on another backend",
        )


def create_from(backend: Backend, spec: MachineSpec, snapshot: Snapshot | None) -> Machine:
    """Create a machine with the files of a snapshot, if there is one.

    Raises:
        SandboxError: The machine could not be created, or the files not be written; nothing of it
            is left.
    """
    machine = backend.create(spec)
    if snapshot is not None:
        try:
            restore(machine, snapshot)
        except BaseException:
            machine.destroy()
            raise
    return machine


def restore(machine: Machine, snapshot: Snapshot) -> None:
    """Write the saved directory into a new machine; do nothing for an engine's snapshot.

    Raises:
        SandboxError: As by `find_record`; or the snapshot was modified in the store, or could not
            be written.
    """
    record = find_record(snapshot)
    if record is None:
        return
    noted = record.snapshot
    _check_target(noted, machine.isolation.backend)
    target = posixpath.join(machine.spec.workdir, noted.path or "")
    with FileSnapshots() as store:
        fd = store.open_part(record, "workdir")
    service = FileService(machine.open_files, machine.isolation.backend)
    try:
        service.call(
            "unpack",
            target.rstrip("/"),
            timeout_s=_TRANSFER_S,
            talk=_sender(fd),
            repeatable=False,
        )
    except NoSpaceError:
        raise
    except FileError as error:
        raise BackendError(
            f"snapshot {noted.name} was not restored into {target}: {error.message}",
            op="restore",
            backend=machine.isolation.backend,
        ) from None
    finally:
        service.close()
        os.close(fd)


def _sender(fd: int) -> Callable[[DeadlineConnection], None]:
    def send(line: DeadlineConnection) -> None:
        while data := os.read(fd, _PIECE):
            line.send_chunk(data)
        line.end_chunks()

    return send


# --- removing


def sweep_snapshots() -> list[Snapshot]:
    """Remove expired snapshots, and incomplete ones of killed processes; skip engines that do not
    answer.

    Returns:
        The expired snapshots that were removed.
    """
    from llm_sandbox.backends.registry import get_backend

    with FileSnapshots() as store:
        gone = store.sweep()
    for name in ENGINES:
        with contextlib.suppress(SandboxError):
            gone += get_backend(name).snapshots.remove_expired()
    for one in gone:
        logger.debug("snapshot %s of %s has expired, and was removed", one.name, one.backend)
    return gone
