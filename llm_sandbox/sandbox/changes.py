"""Changes of a run in the working directory: created and changed files, and their contents.

The file service compares the directory before and after, as the sandbox's user; its answers are
checked, and contents are limited. No file of the host is touched.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, get_args

from llm_sandbox.artifacts.artifact import human_size
from llm_sandbox.artifacts.files import ChangedFile, ChangeKind, FileChanges
from llm_sandbox.exceptions import (
    ContainerGoneError,
    FileError,
    PathError,
    ProtocolError,
    SandboxError,
    SandboxFileNotFoundError,
    SandboxPermissionError,
)
from llm_sandbox.guest.bulk import Record
from llm_sandbox.limits import Limits
from llm_sandbox.results.contents import Content
from llm_sandbox.sandbox.file_service import DeadlineConnection, FileService
from llm_sandbox.sandbox.files import ModifiedFlag

if TYPE_CHECKING:
    from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["ChangeListing", "WorkdirWatch", "read_count", "read_listing", "read_moment"]

_MOST_FILES = 1_000
_MOST_DELETED = 100
_LONGEST_PATH = 4_096
_LONGEST_TARGET = 1_000
_LARGEST = 2**63 - 1
_KINDS: tuple[str, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class ChangeListing:
    """Answer of the file service about changes."""

    at_ns: int
    """Time of the listing, by the service's clock."""
    files: tuple[tuple[ChangedFile, object], ...]
    """Created and changed files, each with the time of its last change."""
    omitted: int
    """Number of files beyond the limit."""
    deleted: tuple[str, ...]
    """Removed paths, the first 100."""
    deleted_count: int
    """Number of removed paths."""
    is_complete: bool
    """Whether the service listed everything."""
    is_compared: bool
    """Whether the service had an earlier listing to compare with."""
    is_settled: bool
    """Whether no change can have the same time stamp as the listing."""


def read_listing(record: Record) -> ChangeListing:
    """Parse the answer of the operation ``changes``.

    Invalid entries are counted as omitted.

    Raises:
        ProtocolError: The record is invalid.
    """
    listed = record.get("entries")
    if not isinstance(listed, list):
        raise ProtocolError("the sandbox's file service sent no list of files")
    found: dict[str, tuple[ChangedFile, object]] = {}
    for item in listed[:_MOST_FILES]:
        file = _read_entry(item) if isinstance(item, dict) else None
        if file is not None and file.path not in found:
            found[file.path] = file, item.get("mtime_ns")
    return ChangeListing(
        read_moment(record),
        tuple(found.values()),
        read_count(record.get("omitted")) + len(listed) - len(found),
        tuple(_read_paths(record.get("deleted"))),
        read_count(record.get("deleted_count")),
        record.get("is_complete") is True,
        record.get("is_compared") is True,
        record.get("is_settled") is True,
    )


def read_moment(record: Record) -> int:
    """Parse the service's time from a record.

    Raises:
        ProtocolError: The record has no time.
    """
    # trust: a number that is only ever handed back.
    moment = record.get("at_ns")
    if type(moment) is not int or not 0 < moment <= _LARGEST:
        raise ProtocolError("the sandbox's file service sent no time")
    return moment


def read_count(value: object) -> int:
    """Return a claimed number; 0 for an invalid one."""
    return value if type(value) is int and 0 <= value <= _LARGEST else 0


def _read_entry(item: Mapping[str, Any]) -> ChangedFile | None:
    path, change, kind = item.get("path"), item.get("change"), item.get("kind")
    if not _is_path(path) or change not in ("created", "changed") or kind not in _KINDS:
        return None
    target = item.get("target") if kind == "link" else None
    if target is not None and not (isinstance(target, str) and len(target) <= _LONGEST_TARGET):
        return None
    size, stored = item.get("size"), item.get("stored")
    if not all(type(one) is int and 0 <= one <= _LARGEST for one in (size, stored)):
        return None
    return ChangedFile(path, change, kind, size, stored, target)  # type: ignore[arg-type]


def _read_paths(data: object) -> Iterator[str]:
    for path in data[:_MOST_DELETED] if isinstance(data, list) else ():
        if _is_path(path):
            yield path


def _is_path(path: object) -> bool:
    # trust: relative and below the working directory, whatever it is called; it is shown, and named
    # back to the service, and never a path of this machine.
    if not isinstance(path, str) or not 0 < len(path) <= _LONGEST_PATH or "\0" in path:
        return False
    if any(part in ("", ".", "..") for part in path.split("/")):
        return False
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


_TOTAL_S = 10.0
_LOOK_S = 5.0
_SETTLED_S = 0.012
"""Time stamps of files have a resolution of up to ten milliseconds, and two changes within it may
look the same: a run that follows sooner on changes waits, so that its own changes are later.
"""
_HEAD = 4096
_TOGETHER = 4
"""Limit of all files of a run together, in multiples of the limit of one file."""
_LISTING_BYTES = 4 << 20
_REPLY_BYTES = 1 << 16
_NOTES = {
    "link": "a link; it was not followed",
    "pipe": "a named pipe; it was not opened",
    "socket": "a socket; it was not opened",
    "device": "a device; it was not opened",
    "folder": "a directory that was not looked into: it is unreadable, or lies too deep",
}


class WorkdirWatch:
    """Detector of each run's changes in the working directory. For one thread at a time.

    Args:
        service: File service of the sandbox.
        workdir: The directory.
        modified: Flag of changes by the host between runs.
        is_empty: Whether the directory is known to be empty.
    """

    def __init__(
        self, service: FileService, workdir: str, modified: ModifiedFlag, *, is_empty: bool
    ) -> None:
        self._service = service
        self._workdir = workdir
        self._modified = modified
        self._since_ns = 0
        self._known_by = 0
        self._is_known = is_empty
        self._settled_at = 0.0
        self._problem = ""

    @classmethod
    def of(cls, sandbox: "Sandbox") -> Self:
        """Return the watch of a sandbox in which nothing has run yet."""
        isolated = sandbox.isolation.level != "none"
        return cls(sandbox._service, sandbox.workdir, sandbox._modified, is_empty=isolated)

    def prepare(self) -> None:
        """Start the file service, so that no run waits for it."""
        # The next operation reports why it cannot be started.
        with contextlib.suppress(SandboxError):
            self._service.start()

    def mark(self, within_s: float | None = None) -> None:
        """List the directory before a run, unless the listing after the last run still holds.

        Args:
            within_s: Seconds it may take; None for the default of ten.
        """
        self._problem = ""
        # The snapshot of a service that was disconnected is lost.
        is_same = self._since_ns == 0 or self._known_by == self._service.number
        is_known = not self._modified.take() and self._is_known and is_same
        # The changes of the run are unknown until they are collected.
        self._is_known = False
        if is_known:
            # Sleeping for no time would give the processor away.
            if (left := self._settled_at - time.monotonic()) > 0:
                time.sleep(left)
            return
        total_s = _total_s(within_s)
        try:
            reply = self._service.call(
                "mark",
                self._workdir,
                timeout_s=total_s,
                talk=_nothing,
                reply_bytes=_REPLY_BYTES,
                seconds=_look_s(total_s),
            )[1]
            self._since_ns = read_moment(reply)
        except SandboxError as error:
            self._problem = _sentence(error)

    def collect(self, limits: Limits, within_s: float | None = None) -> FileChanges:
        """Return the changes since `mark`, with the contents that the limits admit.

        Errors are returned as notes.

        Args:
            limits: Limits of the contents.
            within_s: Seconds it may take; None for the default of ten.
        """
        if self._problem:
            return FileChanges(notes=(self._problem,))
        total_s = _total_s(within_s)
        if total_s == 0:
            return FileChanges(notes=("There was no time left to list the files of the run.",))
        budget = _Budget.of(limits, total_s)
        try:
            listing = self._look(total_s)
        except SandboxError as error:
            return FileChanges(notes=(_sentence(error),))
        self._since_ns, self._is_known = listing.at_ns, True
        self._known_by = self._service.number
        if not listing.is_settled:
            self._settled_at = time.monotonic() + _SETTLED_S
        files = tuple(self._with_contents(listing.files, budget))
        return FileChanges(
            files,
            listing.omitted,
            listing.deleted,
            listing.deleted_count,
            (*_remarks(listing), *_without_content(files)),
        )

    def _look(self, total_s: float) -> ChangeListing:
        reply = self._service.call(
            "changes",
            self._workdir,
            timeout_s=total_s,
            talk=_nothing,
            reply_bytes=_LISTING_BYTES,
            since_ns=self._since_ns,
            seconds=_look_s(total_s),
        )[1]
        return read_listing(reply)

    def _with_contents(
        self, files: Iterable[tuple[ChangedFile, object]], budget: "_Budget"
    ) -> Iterator[ChangedFile]:
        stopped = ""
        for file, mtime_ns in files:
            if file.kind != "file":
                yield replace(file, size=0, note=_NOTES[file.kind])
                continue
            if not stopped and budget.seconds_left == 0:
                stopped = "there was no time left to fetch it"
            if stopped:
                yield replace(file, note=stopped)
                continue
            try:
                yield self._fetched(file, mtime_ns, budget)
            except FileError as error:
                yield replace(file, note=_why_not(error))
            except SandboxError:
                stopped = "it could not be fetched: the sandbox's file service did not answer"
                yield replace(file, note=stopped)

    def _fetched(self, file: ChangedFile, mtime_ns: object, budget: "_Budget") -> ChangedFile:
        limit = budget.next_bytes
        data, reply = self._service.call(
            "fetch",
            self._workdir,
            timeout_s=max(0.001, budget.seconds_left),
            talk=_receiver(max(limit, _HEAD)),
            reply_bytes=_REPLY_BYTES,
            name=file.path,
            limit=limit,
            head=_HEAD,
        )
        # trust: the size is that of what came; what was said of it decides only which note it gets.
        if reply.get("is_whole") is not True or len(data) > limit or not budget.keeps_any:
            size = max(file.size, read_count(reply.get("size")))
            changed = mtime_ns if isinstance(mtime_ns, int) else None
            note = budget.refusal(file, size)
            return replace(file, size=size, head=data[:_HEAD], mtime_ns=changed, note=note)
        budget.take(len(data))
        moved = len(data) != file.size or reply.get("mtime_ns") != mtime_ns
        note = "it changed while it was collected" if moved else ""
        return replace(file, size=len(data), content=Content.of(data), note=note)


@dataclass(slots=True)
class _Budget:
    """Remaining limits for the files of one run."""

    limits: Limits
    bytes_left: int
    files_left: int
    deadline: float

    @classmethod
    def of(cls, limits: Limits, total_s: float) -> Self:
        deadline = time.monotonic() + total_s
        return cls(limits, _TOGETHER * limits.artifact_bytes, limits.artifacts, deadline)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    @property
    def keeps_any(self) -> bool:
        return self.files_left > 0 and self.limits.artifact_bytes > 0

    @property
    def next_bytes(self) -> int:
        """Limit of the next file in bytes."""
        return min(self.limits.artifact_bytes, self.bytes_left) if self.keeps_any else 0

    def take(self, size: int) -> None:
        self.bytes_left -= size
        self.files_left -= 1

    def refusal(self, file: ChangedFile, size: int) -> str:
        """Return the reason for not collecting the content of a file."""
        most = self.limits.artifact_bytes
        if most == 0 or self.limits.artifacts == 0:
            return "contents of files are not kept: limits.artifact_bytes or limits.artifacts is 0"
        if size > most:
            sparse = f", {human_size(file.stored_bytes)} of them stored"
            shown = human_size(size) + (sparse if file.stored_bytes < size // 2 else "")
            return (
                f"it has {shown}, over limits.artifact_bytes ({human_size(most)}); save() brings it"
            )
        if self.files_left <= 0:
            return f"the run made more files than limits.artifacts ({self.limits.artifacts})"
        together = human_size(_TOGETHER * most)
        return f"the run's files have more than {together} together, {_TOGETHER} times the limit"


def _total_s(within_s: float | None) -> float:
    return _TOTAL_S if within_s is None else min(_TOTAL_S, max(0.0, within_s))


def _look_s(total_s: float) -> float:
    """Return the seconds for the listing, out of the available time: its answer takes some, too."""
    return min(_LOOK_S, total_s / 2)


def _nothing(line: DeadlineConnection) -> None:
    """Transfer no bulk data."""


def _receiver(limit: int) -> Callable[[DeadlineConnection], bytes]:
    def receive(line: DeadlineConnection) -> bytes:
        data = bytearray()
        # trust: the service has the limit; it is enforced here as well.
        for chunk in line.chunks():
            if len(data) + len(chunk) > limit:
                raise ProtocolError("the sandbox's file service sent more than requested")
            data += chunk
        return bytes(data)

    return receive


# --- in words


def _without_content(files: Sequence[ChangedFile]) -> Iterator[str]:
    missing = sum(file.kind == "file" and file.content is None for file in files)
    if missing:
        plural = "s were" if missing != 1 else " was"
        yield f"{missing:,} file{plural} listed without content: the note of each says why."


def _remarks(listing: ChangeListing) -> Iterator[str]:
    if listing.omitted:
        yield f"{listing.omitted} more files were created or changed than are listed."
    if listing.deleted_count > len(listing.deleted):
        unnamed = listing.deleted_count - len(listing.deleted)
        yield f"{unnamed:,} more files were removed than are listed."
    if not listing.is_complete:
        yield "There are more files in the working directory than were looked at."
    if not listing.is_compared:
        yield (
            "The file service was ended during the run: files are listed by their times, "
            "and removed ones are not known."
        )


def _sentence(error: SandboxError) -> str:
    if isinstance(error, ContainerGoneError):
        return "The files of the run are gone with the sandbox."
    return "The files of the run could not be listed: the sandbox's file service did not answer."


def _why_not(error: FileError) -> str:
    # trust: the service's own words are not repeated.
    if isinstance(error, SandboxFileNotFoundError):
        return "it was gone when it was to be read"
    if isinstance(error, SandboxPermissionError):
        return "the sandbox's user may not read it"
    if isinstance(error, PathError):
        return "a link was in its place when it was to be read; it was not followed"
    return "something else was in its place when it was to be read"
