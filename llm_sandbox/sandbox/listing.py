"""Reading what the file service says of changed files: a list from inside, checked item by item."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from llm_sandbox.artifacts.files import ChangedFile, ChangeKind
from llm_sandbox.exceptions import ProtocolError
from llm_sandbox.guest.bulk import Record

__all__ = ["Listing", "read_count", "read_listing", "read_moment"]

_MOST_FILES = 1_000
_MOST_DELETED = 100
_LONGEST_PATH = 4_096
_LONGEST_TARGET = 1_000
_LARGEST = 2**63 - 1
_KINDS: tuple[str, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class Listing:
    """What the service found."""

    at_ns: int
    """When it looked, on its clock."""
    files: tuple[tuple[ChangedFile, object], ...]
    """What was created or changed, each with the time of its last change."""
    omitted: int
    """How many more there are."""
    deleted: tuple[str, ...]
    """What was removed, the first 100."""
    deleted_count: int
    """How much was removed."""
    is_complete: bool
    """Whether it looked at everything."""
    is_compared: bool
    """Whether it knew what was there before."""
    is_settled: bool
    """Whether no change can fall into the same step of the clock as the look."""


def read_listing(record: Record) -> Listing:
    """Read the record of the operation ``changes``.

    Entries that cannot be ones are counted as omitted.

    Raises:
        ProtocolError: The record is none.
    """
    listed = record.get("entries")
    if not isinstance(listed, list):
        raise ProtocolError("the sandbox's file service sent no list of files")
    found: dict[str, tuple[ChangedFile, object]] = {}
    for item in listed[:_MOST_FILES]:
        file = _read_entry(item) if isinstance(item, dict) else None
        if file is not None and file.path not in found:
            found[file.path] = file, item.get("mtime_ns")
    return Listing(
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
    """Read the service's time from a record.

    Raises:
        ProtocolError: It has none.
    """
    # trust: a number that is only ever handed back.
    moment = record.get("at_ns")
    if type(moment) is not int or not 0 < moment <= _LARGEST:
        raise ProtocolError("the sandbox's file service sent no time")
    return moment


def read_count(value: object) -> int:
    """Return a claimed number; 0 for what is none."""
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
