"""Changes of a workspace between two manifests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from llm_sandbox.workspace.diff import diff_of
from llm_sandbox.workspace.manifest import Entry, Manifest

__all__ = ["Change", "Changes", "compare"]


@dataclass(frozen=True)
class Change:
    """Created, changed, deleted or renamed entry."""

    kind: Literal["added", "changed", "deleted", "renamed"]
    path: str
    """Current path; for a deleted entry, the former one."""
    before: Entry | None = field(default=None, repr=False)
    after: Entry | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Changes:
    """Changes of a workspace, by path."""

    entries: tuple[Change, ...]
    repository: tuple[str, ...]
    """Created, changed or deleted files of a Git repository that can make Git start programs:
    hooks, configuration, attributes. They are not in the diff.
    """

    def __bool__(self) -> bool:
        return bool(self.entries or self.repository)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.entries)

    @cached_property
    def diff(self) -> str:
        """Changes in the format of ``git apply``; for binary content or files above 1 MiB only the
        fact that they differ.
        """
        return "".join(diff_of(change.before, change.after) for change in self.entries)


def compare(before: Manifest, after: Manifest) -> Changes:
    """Return the changes from one manifest to another.

    A deleted file and a created one with the same content are one rename.
    """
    old, new = before.entries, after.entries
    gone = {path: entry for path, entry in old.items() if path not in new}
    came = {path: entry for path, entry in new.items() if path not in old}
    changes: list[Change] = []
    by_digest: dict[tuple[str, str], list[Entry]] = {}
    for entry in gone.values():
        by_digest.setdefault((entry.kind, entry.digest), []).append(entry)
    for path, entry in came.items():
        origins = by_digest.get((entry.kind, entry.digest))
        if entry.kind == "file" and entry.size and origins:
            origin = origins.pop(0)
            del gone[origin.path]
            changes.append(Change("renamed", path, origin, entry))
        else:
            changes.append(Change("added", path, None, entry))
    changes += [Change("deleted", path, entry, None) for path, entry in gone.items()]
    for path in old.keys() & new.keys():
        if old[path] != new[path]:
            changes.append(Change("changed", path, old[path], new[path]))
    touched = {
        path
        for path in before.repository.keys() | after.repository.keys()
        if before.repository.get(path) != after.repository.get(path)
    }
    changes.sort(key=lambda change: change.path)
    return Changes(tuple(changes), tuple(sorted(touched)))
