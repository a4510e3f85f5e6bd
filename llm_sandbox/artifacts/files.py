"""Files that a run created or changed, and their artifacts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from llm_sandbox.results.contents import Content

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["ChangeKind", "ChangedFile", "FileChanges", "artifacts_from_changes"]

ChangeKind = Literal["file", "link", "pipe", "socket", "device", "folder"]
"""Kind of a directory entry; ``folder`` is a directory that was not searched."""

_DEVICES = {
    "folder": "inode/directory",
    "link": "inode/symlink",
    "pipe": "inode/fifo",
    "socket": "inode/socket",
    "device": "inode/x-device",
}
"""MIME types of entries other than files."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Entry of the working directory that a run created or changed."""

    path: str
    """Path relative to the working directory; bytes that are not UTF-8 are surrogates."""
    change: Literal["created", "changed"]
    """Change that the run made."""
    kind: ChangeKind
    """Kind of the entry."""
    size: int = 0
    """Size of the transferred content in bytes; without content, as the sandbox lists it."""
    stored_bytes: int = 0
    """Allocated bytes, as the sandbox lists them; fewer than `size` in a sparse file."""
    target: str | None = None
    """Target of a link; None for anything else."""
    content: Content | None = None
    """Whole content; None when it was not transferred, and `note` says why."""
    head: bytes = b""
    """Beginning of a file whose content was not transferred; empty otherwise."""
    mtime_ns: int | None = None
    """Modification time of a file whose content was not transferred, as the sandbox lists it."""
    note: str = ""
    """Note for the user; empty when all is well."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Changes of a run to the working directory, as far as it was searched."""

    files: tuple[ChangedFile, ...] = ()
    """Created and changed entries, those nearest to the top first."""
    omitted: int = 0
    """Number of further entries that are not listed."""
    deleted: tuple[str, ...] = ()
    """Removed paths, the first 100."""
    deleted_count: int = 0
    """Number of removed paths."""
    notes: tuple[str, ...] = ()
    """Notes on all changes, a sentence each."""


def artifacts_from_changes(changes: FileChanges) -> "tuple[Artifact, ...]":
    """Return an artifact for each file, link and device, in the same order.

    Files are recognised by their bytes.
    """
    # Most runs change no file, and need nothing that tells what files are.
    return tuple(_artifacts(changes.files)) if changes.files else ()


def _artifacts(files: Iterable[ChangedFile]) -> "Iterator[Artifact]":
    for file in files:
        if file.kind != "file":
            yield _named_only(file)
        elif file.content is not None:
            yield _examined(file, file.content)
        else:
            yield _recognised(file)


def _named_only(file: ChangedFile) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.types import ArtifactType

    is_link = file.kind == "link"
    return Artifact(
        ArtifactType.LINK if is_link else ArtifactType.OTHER,
        _DEVICES[file.kind],
        paths=(file.path,),
        change=file.change,
        # trust: the text of a link; it is shown, and followed by nobody.
        summary=f"-> {file.target}" if is_link and file.target else "",
        note=file.note,
    )


def _examined(file: ChangedFile, content: Content) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.identify import examine

    # trust: bytes and a name from inside; the bytes decide, and nothing of them is executed.
    found = examine(content.bytes(), name=file.path)
    facts = found.dimensions
    return Artifact(
        found.identity.type,
        found.identity.mime,
        content,
        content.size,
        (file.path,),
        change=file.change,
        width=facts.width,
        height=facts.height,
        dpi=facts.dpi,
        pages=facts.pages,
        duration_s=facts.duration_s,
        note="; ".join(filter(None, (file.note, found.note))),
    )


def _recognised(file: ChangedFile) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.identify import identify
    from llm_sandbox.artifacts.types import ArtifactType

    if not file.head:
        return Artifact(
            ArtifactType.DATA,
            "application/octet-stream",
            size=file.size,
            paths=(file.path,),
            change=file.change,
            note=file.note,
        )
    found = identify(file.head, name=file.path)
    return Artifact(
        found.type,
        found.mime,
        size=file.size,
        paths=(file.path,),
        change=file.change,
        note="; ".join(filter(None, (file.note, found.note))),
    )
