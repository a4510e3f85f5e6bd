"""Registry of detached sandboxes: a private folder with a record for each.

Of every one that lives there are four files: ``ID.json``, its record; ``ID.lock``, which its daemon
holds for as long as it lives, so that nobody needs to trust a process number; ``ID.sock``, where
the daemon listens; and for a moment ``ID.json.new``. Of one that has ended there are its record,
``ID.out`` and ``ID.err``. One whose lock is free and that has not ended has lost its daemon.

One that lives without a daemon (`self_kept`) has a record with its ``place``, and ``ID.key``. It
counts as alive until somebody who has asked its backend writes down its end.
"""

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import (
    NameInUseError,
    SandboxError,
    SandboxNotFoundError,
    ValidationError,
)
from llm_sandbox.sandbox.detached.record import ID, Record
from llm_sandbox.sandbox.detached.state_dir import StateDir
from llm_sandbox.sandbox.snapshots import sweep_snapshots

__all__ = [
    "Registration",
    "clean",
    "find",
    "find_by_name",
    "find_ended",
    "last_output",
    "live_records",
    "mark_ended",
    "register",
    "rewrite",
    "sweep",
]

_MOST_BYTES = 1 << 17
_STREAMS = (".out", ".err")
_SUFFIXES = (
    ".json",
    ".json.new",
    ".key",
    ".key.new",
    ".sock",
    ".lock",
    *_STREAMS,
    *(f"{name}.new" for name in _STREAMS),
)
_MOST_OUTPUT = 1 << 20
_REMEMBERED_S = 86400.0
_MOST_REMEMBERED = 100
_KILLED = 137


@dataclass
class Registration:
    """Entry of a daemon in the registry. For one thread."""

    state_dir: StateDir
    record: Record
    lock: int

    def write(self, record: Record) -> None:
        """Change the record."""
        self.record = record
        self.state_dir.write(f"{record.id}.json", record.to_json())

    def remove(self, last: Record | None = None, output: Sequence[bytes] = ()) -> None:
        """Remove the entry and so release the name; `last` remains for queries about the end.

        Args:
            last: Record of the end; None for no trace.
            output: Standard output and error of the entry command; the end of each remains, too.
        """
        with self.state_dir.locked():
            for suffix in _SUFFIXES:
                if suffix != ".lock":
                    self.state_dir.remove(self.record.id + suffix)
            if last is not None:
                self.state_dir.write(f"{last.id}.json", last.to_json())
                for suffix, data in zip(_STREAMS, output, strict=False):
                    self.state_dir.write(last.id + suffix, data[-_MOST_OUTPUT:])
            self.state_dir.remove(f"{self.record.id}.lock")


def register(state_dir: StateDir, record: Record) -> Registration:
    """Register a sandbox that is about to be created, in its daemon.

    Raises:
        NameInUseError: Another living sandbox has the name.
    """
    with state_dir.locked():
        for other in _read_all(state_dir):
            if (
                record.name is not None
                and (other.name, other.namespace) == (record.name, record.namespace)
                and other.state != "ended"
                and _lives(state_dir, other)
            ):
                raise NameInUseError(record.name, record.namespace, backend=other.backend)
        lock = state_dir.take_lock(f"{record.id}.lock")
        assert lock is not None  # noqa: S101 - nobody else has this id
        entry = Registration(state_dir, record, lock)
        entry.write(record)
        return entry


def live_records(
    state_dir: StateDir, tags: Mapping[str, str] | None = None, namespace: str | None = None
) -> list[Record]:
    """Return the living sandboxes that have all the given tags, newest first.

    Args:
        state_dir: Folder of the registry.
        tags: Required tags and values.
        namespace: Required namespace; None for any.
    """
    wanted = dict(tags or {})
    with state_dir.locked():
        found = [
            record
            for record in _read_all(state_dir)
            if record.state == "running"
            and (namespace is None or record.namespace == namespace)
            and wanted.items() <= dict(record.tags).items()
            and _lives(state_dir, record)
        ]
    return sorted(found, key=lambda record: (record.created_at, record.id), reverse=True)


def find(state_dir: StateDir, sandbox_id: object) -> Record:
    """Return a living sandbox by its id.

    Raises:
        SandboxNotFoundError: There is no such sandbox; the message says how it ended, if it did so
            by itself within a day.
        ValidationError: The id is malformed.
    """
    if not isinstance(sandbox_id, str) or not ID.fullmatch(sandbox_id):
        raise ValidationError(
            f"invalid id: expected that of a detached sandbox, got {sandbox_id!r:.80}",
            parameter="id",
            hint="such ids begin with 'sb-', and Sandbox.list() has them",
        )
    with state_dir.locked():
        record = _read(state_dir, sandbox_id)
        if record is None:
            raise SandboxNotFoundError(sandbox_id)
        if record.state == "ended" or not _lives(state_dir, record):
            raise _ended(sandbox_id, record)
        return record


def find_by_name(state_dir: StateDir, name: str, namespace: str) -> Record:
    """Return the living sandbox of a name.

    Raises:
        SandboxNotFoundError: There is no such sandbox; the message says how the last one of the
            name ended, if it did so by itself within a day, or was lost.
    """
    for record in live_records(state_dir, namespace=namespace):
        if record.name == name:
            return record
    which = f"{name!r} in namespace {namespace!r}"
    with state_dir.locked():
        ended = [
            one for one in _read_all(state_dir) if (one.name, one.namespace) == (name, namespace)
        ]
        last = max(ended, key=lambda record: record.created_at, default=None)
        if last is None or (last.state == "starting" and _is_alive(state_dir, last.id)):
            raise SandboxNotFoundError(which)
        raise _ended(which, last)


def _ended(which: str, last: Record) -> SandboxNotFoundError:
    """Return the error for a sandbox whose daemon is gone."""
    if last.state == "ended":
        return SandboxNotFoundError(which, end_reason=last.end_reason, exit_code=last.exit_code)
    # Its daemon was killed, or this computer was started again.
    return SandboxNotFoundError(which, end_reason="gone", exit_code=_KILLED)


def find_ended(state_dir: StateDir, which: str, namespace: str) -> Record | None:
    """Return the last ended sandbox of a name, an id or the start of an id, if its
    record remains.
    """
    with state_dir.locked():
        found = [
            one
            for one in _read_all(state_dir)
            if one.state == "ended"
            and (
                (one.name, one.namespace) == (which, namespace)
                or (which.startswith("sb-") and one.id.startswith(which))
            )
        ]
    return max(found, key=lambda one: one.created_at, default=None)


def last_output(state_dir: StateDir, sandbox_id: str) -> tuple[bytes, bytes]:
    """Return the end of the standard output and error of an ended sandbox's entry command."""
    out, err = (state_dir.read(sandbox_id + name, _MOST_OUTPUT) or b"" for name in _STREAMS)
    return out, err


def sweep(state_dir: StateDir, *, everything: bool = False) -> list[Record | str]:
    """Remove the files of killed daemons, and expired records of ended sandboxes.

    Args:
        state_dir: Where they are registered.
        everything: Whether to remove all records of ended sandboxes.

    Returns:
        Records of the sandboxes whose daemon was killed, or the id where the record cannot be read.
    """
    lost: list[Record | str] = []
    remembered: list[Record] = []
    with state_dir.locked():
        ids = {name.partition(".")[0] for name in state_dir.names() if name.endswith(_SUFFIXES)}
        for one in sorted(filter(ID.fullmatch, ids)):
            record = _read(state_dir, one)
            if _is_alive(state_dir, one) or (record is not None and _lives(state_dir, record)):
                continue
            if record is not None and record.state == "ended":
                remembered.append(record)
                continue
            _forget(state_dir, one)
            lost.append(one if record is None else record)
        remembered.sort(key=lambda record: record.created_at, reverse=True)
        for number, record in enumerate(remembered):
            too_old = record.created_at < time.time() - _REMEMBERED_S
            if everything or too_old or number >= _MOST_REMEMBERED:
                _forget(state_dir, record.id)
    return lost


def _forget(state_dir: StateDir, sandbox_id: str) -> None:
    for suffix in _SUFFIXES:
        state_dir.remove(sandbox_id + suffix)


def rewrite(state_dir: StateDir, sandbox_id: str, **changes: Any) -> None:
    """Change the record of a sandbox without a daemon, if it has not ended."""
    with state_dir.locked():
        record = _read(state_dir, sandbox_id)
        if record is not None and record.state == "running":
            state_dir.write(f"{sandbox_id}.json", replace(record, **changes).to_json())


def mark_ended(
    state_dir: StateDir, record: Record, reason: str, exit_code: int | None, *, remembered: bool
) -> None:
    """Write down the end of a sandbox without a daemon, whose key is removed.

    Args:
        state_dir: Folder of the registry.
        record: Its record.
        reason: Why it has ended.
        exit_code: Its exit code.
        remembered: Whether the record remains, for queries about the end.
    """
    with state_dir.locked():
        found = _read(state_dir, record.id)
        if found is None or found.state == "ended":
            return
        _forget(state_dir, record.id)
        if remembered:
            last = replace(found, state="ended", end_reason=reason, exit_code=exit_code)
            state_dir.write(f"{record.id}.json", last.to_json())


def _lives(state_dir: StateDir, record: Record) -> bool:
    """Return whether a sandbox that has not ended lives; called while the registry is locked."""
    if record.place is not None:
        return record.state != "ended"
    return _is_alive(state_dir, record.id)


def _is_alive(state_dir: StateDir, sandbox_id: str) -> bool:
    """Return whether a daemon lives; called while the registry is locked."""
    name = f"{sandbox_id}.lock"
    if name not in state_dir.names():
        return False
    try:
        lock = state_dir.take_lock(name)
    except OSError:
        return False  # a link, or a pipe: nobody holds that
    if lock is None:
        return True
    os.close(lock)
    return False


def _read_all(state_dir: StateDir) -> Iterator[Record]:
    for name in sorted(state_dir.names()):
        stem, _, suffix = name.partition(".")
        if (
            suffix == "json"
            and ID.fullmatch(stem)
            and (record := _read(state_dir, stem)) is not None
        ):
            yield record


def _read(state_dir: StateDir, sandbox_id: str) -> Record | None:
    data = state_dir.read(f"{sandbox_id}.json", _MOST_BYTES)
    if data is None:
        return None
    try:
        record = Record.from_json(data)
    except ValidationError:
        return None
    return record if record.id == sandbox_id else None


logger = logging.getLogger(__name__)


def clean() -> list[str]:
    """Clean up after daemons that were killed; return the ids of their sandboxes.

    Their processes have ended with them. Their containers and expired snapshots are removed, and so
    is what is left of sandboxes without a daemon that have ended.
    """
    # Not before: most users have none.
    from llm_sandbox.sandbox.detached.self_kept import settle

    settle()
    with StateDir() as state_dir:
        lost = sweep(state_dir, everything=True)
    for one in lost:
        if isinstance(one, Record) and one.machine is not None:
            _remove_container(one.backend, one.machine)
    sweep_snapshots()
    return [one.id if isinstance(one, Record) else one for one in lost]


def _remove_container(backend_name: str, machine: str) -> None:
    """Remove a container of this library whose process has ended."""
    with contextlib.suppress(SandboxError):
        backend = get_backend(backend_name)
        if not backend.has_containers:
            return
        # trust: the id comes from a file; what it names is removed only if its labels say that it
        # is ours and nobody's any more.
        inventory = backend.inventory
        held = [one for one in inventory.resources() if one.id.startswith(machine)]
        sandboxes = [one for one in held if one.kind == "sandbox"]
        for decision in inventory.collect(inventory.decide(sandboxes)):
            logger.debug("container %s: %s", decision.resource.id, decision.why)
